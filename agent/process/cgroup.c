/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process's /proc/PID/cgroup says.
 *
 * Paths are read by shape, not by a list of layouts: a container id is a 64-digit token wherever it
 * stands, a unit is what systemd's own rule calls one (slices, then the first component with a
 * unit's suffix). The last container token of a path wins, because containers nest (kind, Docker in
 * Docker) and the innermost one is who the process is. A machine (LXC, nspawn) starts a tree of units
 * of its own.
 */
#include "agent/process/cgroup.h"

#include "agent/process/cgroup_shape.h"
#include "agent/util/macro.h"

/* What a runtime's cgroup driver writes before the id, without the separator. */
static const struct {
	struct str word;
	const char *runtime;
} runtime_words[] = {
	{ { "docker", 6 }, "docker" },
	{ { "cri-containerd", 14 }, "containerd" },
	{ { "containerd", 10 }, "containerd" },
	{ { "nerdctl", 7 }, "containerd" },
	{ { "crio", 4 }, "cri-o" },
	{ { "libpod", 6 }, "podman" },
	{ { "libpod-payload", 14 }, "podman" },
	{ { "buildkit", 8 }, "buildkit" },
};

/* What stands above containers whose component is nothing but the id. */
static const struct {
	struct str parent;
	const char *runtime;
} runtime_parents[] = {
	{ { "docker", 6 }, "docker" },
	{ { "k8s.io", 6 }, "containerd" },
	{ { "libpod_parent", 13 }, "podman" },
	{ { "buildkit", 8 }, "buildkit" },
};

/* Where the walk over a path's components stands with respect to systemd's hierarchy. */
enum unit_state {
	UNIT_SYSTEM, /* in slices of the system manager */
	UNIT_USER,   /* below user@UID.service: in slices of a user manager */
	UNIT_DONE,   /* below a unit, a container, or outside of systemd's tree */
};

struct path_walk {
	struct cgroup_facts f;
	enum unit_state state;
	struct str parent; /* the component before */
	bool below_ecs;
};

/* Monitors share their container's id in their name, but live outside of it; a pod is no container. */
static bool is_no_container(struct str prefix)
{
	return str_ends_with(prefix, STR_LIT("conmon-")) ||
	       str_ends_with(prefix, STR_LIT("libpod_pod_"));
}

static const char *runtime_of_parent(struct str parent, bool below_ecs)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtime_parents); i++)
		if (str_eq(parent, runtime_parents[i].parent))
			return runtime_parents[i].runtime;
	return below_ecs ? "docker" : "";
}

/* "…slice:cri-containerd:" → containerd, "docker-" → docker, "" → by the parent. */
static const char *runtime_of(struct str prefix, const struct path_walk *w)
{
	struct str word = prefix;

	if (prefix.n == 0)
		return runtime_of_parent(w->parent, w->below_ecs);
	word.n--;
	const char *colon = word.n ? memrchr(word.p, ':', word.n) : NULL;
	if (colon)
		word = shape_from(word, (size_t)(colon + 1 - word.p));
	for (size_t i = 0; i < ARRAY_SIZE(runtime_words); i++)
		if (str_eq(word, runtime_words[i].word))
			return runtime_words[i].runtime;
	return "";
}

static void scan_unit(struct path_walk *w, struct str c)
{
	struct cgroup_facts *f = &w->f;
	bool system = w->state == UNIT_SYSTEM;

	if (w->state == UNIT_DONE || str_eq(c, STR_LIT("..")))
		return;
	if (shape_is_slice(c)) {
		if (system)
			shape_copy_unescaped(f->slice, sizeof(f->slice), c);
		return;
	}
	w->state = UNIT_DONE;
	if (!shape_is_unit(c))
		return;
	shape_copy_unescaped(system ? f->unit : f->user_unit, CGROUP_NAME_MAX, c);
	if (system && str_starts_with(c, STR_LIT("user@")))
		w->state = UNIT_USER;
}

static bool set_container(struct path_walk *w, struct str id, const char *runtime)
{
	str_copy_utf8(w->f.container_id, sizeof(w->f.container_id), id);
	str_copy_utf8(w->f.runtime, sizeof(w->f.runtime), str_from(runtime));
	return true;
}

/* Build = ( "docker-" | "buildkit-" ) BuildId ".scope", or BuildId below "buildkit" or "docker". Each
 * step of a build has another id. */
static bool is_build(struct str c, struct str parent)
{
	struct str id = c;

	if (shape_cut_suffix(&id, STR_LIT(".scope")))
		return (shape_cut_prefix(&id, STR_LIT("docker-")) ||
			shape_cut_prefix(&id, STR_LIT("buildkit-"))) &&
		       shape_is_build_id(id);
	return shape_is_build_id(id) &&
	       (str_eq(parent, STR_LIT("buildkit")) || str_eq(parent, STR_LIT("docker")));
}

/* True when the component names a container or its monitor: nothing from here on is a unit of the
 * host. */
static bool scan_container(struct path_walk *w, struct str c)
{
	struct str prefix;
	struct str id;

	if (shape_is_slice(c))
		return false;
	if (shape_find_hex_id(c, &prefix, &id))
		return is_no_container(prefix) || set_container(w, id, runtime_of(prefix, w));
	id = c;
	(void)shape_cut_suffix(&id, STR_LIT(".scope"));
	if (shape_is_ecs_id(id))
		return set_container(w, id, "ecs");
	if (!is_build(c, w->parent))
		return false;
	if (!w->f.container_id[0])
		str_copy_utf8(w->f.runtime, sizeof(w->f.runtime), STR_LIT("buildkit"));
	return true;
}

/* True when the component was one of a machine's own, and no unit. */
static bool scan_machine(struct path_walk *w, struct str c)
{
	enum machine_part part = machine_scan(c, w->parent, &w->f);

	switch (part) {
	case MACHINE_NONE:
		return false;
	case MACHINE_PAYLOAD:
	case MACHINE_FRAME:
	case MACHINE_INSIDE:
		w->state = UNIT_SYSTEM;
		break;
	case MACHINE_WHOLE:
	case MACHINE_MONITOR:
		w->state = UNIT_DONE;
		break;
	}
	if (part != MACHINE_MONITOR)
		w->f.unit[0] = w->f.user_unit[0] = '\0';
	return part != MACHINE_INSIDE;
}

static void set_pod_uid(struct cgroup_facts *f, struct str uid)
{
	str_copy_utf8(f->pod_uid, sizeof(f->pod_uid), uid);
	for (char *p = f->pod_uid; *p; p++)
		if (*p == '_')
			*p = '-';
}

/* A container is a unit only where Podman puts it below its service (--cgroups=split, Quadlet);
 * elsewhere the unit above it is the runtime's own daemon. */
static void drop_daemon_unit(struct cgroup_facts *f)
{
	bool build = strcmp(f->runtime, "buildkit") == 0;

	if ((!f->container_id[0] && !build) || strcmp(f->runtime, "podman") == 0)
		return;
	f->unit[0] = '\0';
	f->user_unit[0] = '\0';
}

/* Path = { "/" component } */
static void parse_path(struct str path, struct cgroup_facts *ret_facts)
{
	struct path_walk w = { .state = UNIT_SYSTEM, .parent = { "", 0 } };
	struct str c, uid;

	while (str_split(&path, '/', &c)) {
		if (c.n == 0)
			continue;
		if (scan_container(&w, c))
			w.state = UNIT_DONE;
		else if (!scan_machine(&w, c))
			scan_unit(&w, c);
		if (shape_find_pod_uid(c, &uid))
			set_pod_uid(&w.f, uid);
		w.below_ecs = w.below_ecs || str_eq(c, STR_LIT("ecs"));
		w.parent = c;
	}
	drop_daemon_unit(&w.f);
	*ret_facts = w.f;
}

/* Line = number ":" [ controllers ] ":" "/" path [ " (deleted)" ] */
static bool parse_line(struct str line, struct str *ret_controllers, struct str *ret_path)
{
	uint64_t hierarchy;

	if (str_scan_u64(&line, 10, INT32_MAX, &hierarchy) < 0)
		return false;
	if (line.n == 0 || line.p[0] != ':')
		return false;
	line = shape_from(line, 1);
	if (!str_split(&line, ':', ret_controllers) || !line.p || line.n == 0 || line.p[0] != '/')
		return false;
	*ret_path = line;
	(void)shape_cut_suffix(ret_path, STR_LIT(" (deleted)"));
	return true;
}

/* A container outweighs a machine, a machine a unit, a unit a slice. Among equals systemd's own hierarchy, then the
 * unified one, then the first line. */
static unsigned int line_weight(struct str controllers, const struct cgroup_facts *f)
{
	unsigned int weight = 0;

	weight += f->container_id[0] ? 64 : 0;
	weight += f->machine[0] || f->alloc_id[0] || f->runtime[0] ? 32 : 0;
	weight += f->pod_uid[0] ? 16 : 0;
	weight += f->unit[0] || f->user_unit[0] ? 8 : 0;
	weight += f->slice[0] ? 4 : 0;
	weight += str_eq(controllers, STR_LIT("name=systemd")) ? 2 : 0;
	weight += controllers.n == 0 ? 1 : 0;
	return weight;
}

void cgroup_parse(struct str text, struct cgroup_facts *ret_facts)
{
	struct cgroup_facts best = { 0 };
	unsigned int best_weight = 0;
	bool only_root = true;
	size_t n_lines = 0;
	struct str line;

	while (str_split(&text, '\n', &line)) {
		struct cgroup_facts f;
		struct str controllers;
		struct str path;

		if (!parse_line(line, &controllers, &path))
			continue;
		n_lines++;
		only_root = only_root && path.n == 1;
		parse_path(path, &f);
		unsigned int weight = line_weight(controllers, &f);
		if (weight > best_weight) {
			best = f;
			best_weight = weight;
		}
	}
	best.private_namespace = n_lines > 0 && only_root;
	*ret_facts = best;
}

void cgroup_path(struct str text, struct buf *out)
{
	struct str line;
	bool first = true;

	while (str_split(&text, '\n', &line)) {
		struct str controllers;
		struct str path;

		if (!parse_line(line, &controllers, &path))
			continue;
		if (!first)
			(void)buf_append_char(out, '|');
		(void)buf_append(out, path.p, path.n);
		first = false;
	}
}
