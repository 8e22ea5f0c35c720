/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the host the agent cannot see. */
#include "agent/process/host_view.h"

#include <string.h>

#include "agent/util/macro.h"

static bool contains(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

static bool is_wsl(const struct host_facts *f)
{
	return f->wsl_interop || contains(f->kernel_release, "microsoft");
}

static bool in_container(const struct host_facts *f)
{
	return f->dockerenv || f->containerenv || f->kubernetes || f->own_container;
}

/* Whether pid 1 runs more than our container. Others' containers may be where it is, too (a pod's "pause", --pid=container:NAME), and what is called
 * "init" in a container may be its own. */
static bool init_is_a_node(const struct host_facts *f)
{
	static const char *const names[] = { "systemd", "openrc-init", "runit", "k3s" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(f->init_comm, names[i]) == 0)
			return true;
	return f->kind ||
	       (strcmp(f->init_comm, "init") == 0 && (f->init_elsewhere || !in_container(f)));
}

static bool in_pid_namespace(const struct host_facts *f)
{
	return f->pid_namespace && f->pid_namespace != HOST_INITIAL_PID_NAMESPACE;
}

static enum host_place place_of(const struct host_facts *f)
{
	if (is_wsl(f) && !in_container(f))
		return HOST_PLACE_WSL2;
	if (in_pid_namespace(f) && init_is_a_node(f))
		return HOST_PLACE_NESTED_NODE;
	if (f->kubernetes)
		return HOST_PLACE_KUBERNETES;
	if (f->containerenv)
		return HOST_PLACE_PODMAN;
	return f->dockerenv || f->own_container ? HOST_PLACE_DOCKER : HOST_PLACE_MACHINE;
}

/* A container of its own cgroup namespace sees the hierarchy from there on. */
static bool behind_namespace(const struct host_facts *f)
{
	return f->cgroup2 == HOST_CGROUP2_PART && f->cgroup_namespace &&
	       f->cgroup_namespace != HOST_INITIAL_CGROUP_NAMESPACE;
}

void host_view_judge(const struct host_facts *f, struct host_view *ret_view)
{
	*ret_view = (struct host_view){
		.facts = *f,
		.place = place_of(f),
		.found = {
			[HOST_GVISOR] = f->gvisor,
			[HOST_USER_NAMESPACE] = f->part_of_uids,
			[HOST_FOREIGN_PROC] = f->proc_pid != f->own_pid || f->pid_levels > 1,
			[HOST_PID_NAMESPACE] = in_pid_namespace(f),
			[HOST_HIDEPID] = f->hidepid && f->init_hidden,
			[HOST_NO_CGROUP] = f->cgroup2 != HOST_CGROUP2_HOST && !behind_namespace(f),
			[HOST_CGROUP_NAMESPACE] = behind_namespace(f),
			[HOST_WSL2] = is_wsl(f),
			[HOST_DOCKER_DESKTOP] = contains(f->kernel_release, "linuxkit"),
			[HOST_ORBSTACK] = contains(f->kernel_release, "orbstack"),
		},
	};
}

enum host_finding host_view_worst(const struct host_view *v)
{
	for (int i = 0; i < HOST_FINDING_MAX; i++)
		if (v->found[i] && host_finding_hides((enum host_finding)i))
			return (enum host_finding)i;
	return HOST_FINDING_MAX;
}

const char *host_finding_name(enum host_finding finding)
{
	static const char *const names[] = {
#define HOST_FINDING_NAME(id, name, hides) name,
		HOST_FINDINGS(HOST_FINDING_NAME)
#undef HOST_FINDING_NAME
	};

	return names[finding];
}

bool host_finding_hides(enum host_finding finding)
{
	static const bool hides_it[] = {
#define HOST_FINDING_HIDES(id, name, hides) hides,
		HOST_FINDINGS(HOST_FINDING_HIDES)
#undef HOST_FINDING_HIDES
	};

	return hides_it[finding];
}

const char *host_place_name(enum host_place place)
{
	static const char *const names[] = {
#define HOST_PLACE_NAME(id, name) name,
		HOST_PLACES(HOST_PLACE_NAME)
#undef HOST_PLACE_NAME
	};

	return names[place];
}
