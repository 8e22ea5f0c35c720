/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of the host the agent cannot see, and what would show it.
 *
 *	facts (host_facts.h) → place and findings → words for a person
 *
 * A profiler in a container looks healthy and profiles next to nothing; so each reason has a name, a sentence on what is missing, and the
 * very line that cures it where the agent was started. Pure.
 */
#ifndef XAGENT_AGENT_PROCESS_HOST_VIEW_H
#define XAGENT_AGENT_PROCESS_HOST_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/host_facts.h"

/* X(FINDING, name, hides): what is found, its name in log and metrics, and whether part of this host is hidden by it. Those that hide
 * nothing tell where the agent is. In the order in which they matter. */
#define HOST_FINDINGS(X)                           \
	X(GVISOR, "gvisor", 1)                     \
	X(USER_NAMESPACE, "user_namespace", 1)     \
	X(FOREIGN_PROC, "foreign_proc", 1)         \
	X(PID_NAMESPACE, "pid_namespace", 1)       \
	X(HIDEPID, "hidepid", 1)                   \
	X(NO_CGROUP, "no_cgroup", 1)               \
	X(CGROUP_NAMESPACE, "cgroup_namespace", 1) \
	X(WSL2, "wsl2", 0)                         \
	X(DOCKER_DESKTOP, "docker_desktop", 0)     \
	X(ORBSTACK, "orbstack", 0)

enum host_finding {
#define HOST_FINDING_ENUM(finding, name, hides) HOST_##finding,
	HOST_FINDINGS(HOST_FINDING_ENUM)
#undef HOST_FINDING_ENUM
		HOST_FINDING_MAX
};

/* Who can change something, and how: X(PLACE, name). */
#define HOST_PLACES(X)                \
	X(MACHINE, "host")            \
	X(DOCKER, "docker")           \
	X(PODMAN, "podman")           \
	X(KUBERNETES, "kubernetes")   \
	X(NESTED_NODE, "nested_node") \
	X(WSL2, "wsl2")

enum host_place {
#define HOST_PLACE_ENUM(place, name) HOST_PLACE_##place,
	HOST_PLACES(HOST_PLACE_ENUM)
#undef HOST_PLACE_ENUM
		HOST_PLACE_MAX
};

struct host_view {
	struct host_facts facts;
	enum host_place place;
	bool found[HOST_FINDING_MAX];
};

/* From facts to the rest. */
void host_view_judge(const struct host_facts *f, struct host_view *ret_view);

/* The first finding that hides part of the host, HOST_FINDING_MAX: none does. */
enum host_finding host_view_worst(const struct host_view *v);

const char *host_finding_name(enum host_finding finding);
bool host_finding_hides(enum host_finding finding);
const char *host_place_name(enum host_place place);

/* What is missing and what follows; and what to write, where. Whole sentences without an end, never NULL. */
const char *host_view_missing(enum host_finding finding);
const char *host_view_fix(const struct host_view *v, enum host_finding finding);

#endif
