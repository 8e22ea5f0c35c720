/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process's /proc/PID/cgroup says.
 *
 * Paths are read by shape, not by a list of layouts: a container id is a 64-digit token wherever it
 * stands, a unit is what systemd's own rule calls one (slices, then the first component with a
 * unit's suffix). The last container token of a path wins, because containers nest (kind, Docker in
 * Docker) and the innermost one is who the process is.
 */
#include "agent/process/cgroup.h"

#include "agent/util/macro.h"

#define CGROUP_HEX_ID 64
/* ECS: container runtime id = task id without dashes, '-', a decimal number. */
#define CGROUP_ECS_HEX 32
#define CGROUP_ECS_DIGITS 20
#define CGROUP_POD_UID 36
/* Static pods have the md5 of their manifest as their uid. */
#define CGROUP_POD_HASH 32

static bool is_lower_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t count_while(struct str s, bool (*is)(char))
{
	size_t n = 0;

	while (n < s.n && is(s.p[n]))
		n++;
	return n;
}

static struct str str_from_offset(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.n - at };
}

static bool all_lower_hex(struct str s)
{
	return count_while(s, is_lower_hex) == s.n;
}

/* Token = 64 lower-case hex digits with no letter or digit on either side; the last one of the
 * component. */
static bool find_hex_id(struct str component, struct str *ret_prefix, struct str *ret_id)
{
	bool found = false;

	for (size_t at = 0; at < component.n;) {
		struct str run = { component.p + at,
				   count_while(str_from_offset(component, at), is_alnum) };

		if (run.n == CGROUP_HEX_ID && all_lower_hex(run)) {
			*ret_prefix = (struct str){ component.p, at };
			*ret_id = run;
			found = true;
		}
		at += run.n + 1;
	}
	return found;
}

/* EcsId = 32 hex digits "-" 1…20 digits, a component of its own. */
static bool is_ecs_id(struct str c)
{
	if (c.n < CGROUP_ECS_HEX + 2 || c.n > CGROUP_ECS_HEX + 1 + CGROUP_ECS_DIGITS)
		return false;
	struct str digits = str_from_offset(c, CGROUP_ECS_HEX + 1);

	return all_lower_hex((struct str){ c.p, CGROUP_ECS_HEX }) && c.p[CGROUP_ECS_HEX] == '-' &&
	       count_while(digits, is_digit) == digits.n;
}

static struct str strip_suffix(struct str s, struct str suffix)
{
	if (str_ends_with(s, suffix))
		s.n -= suffix.n;
	return s;
}

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
};

/* Monitors share their container's id in their name, but live outside of it. */
static bool is_monitor_prefix(struct str prefix)
{
	return str_ends_with(prefix, STR_LIT("conmon-"));
}

/* "…slice:cri-containerd:" → containerd, "docker-" → docker, "" → by the parent. */
static const char *runtime_of(struct str prefix, struct str parent, bool below_ecs)
{
	struct str word = prefix;

	if (word.n > 0)
		word.n--;
	const char *colon = word.n ? memrchr(word.p, ':', word.n) : NULL;
	if (colon)
		word = str_from_offset(word, (size_t)(colon + 1 - word.p));
	for (size_t i = 0; i < ARRAY_SIZE(runtime_words); i++)
		if (str_eq(word, runtime_words[i].word))
			return runtime_words[i].runtime;
	if (prefix.n == 0 && (str_eq(parent, STR_LIT("docker")) || below_ecs))
		return "docker";
	if (prefix.n == 0 && str_eq(parent, STR_LIT("k8s.io")))
		return "containerd";
	return "";
}

static bool is_uid_shape(struct str s)
{
	if (s.n == CGROUP_POD_HASH)
		return all_lower_hex(s);
	if (s.n != CGROUP_POD_UID)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool separator = i == 8 || i == 13 || i == 18 || i == 23;

		if (separator ? s.p[i] != '-' && s.p[i] != '_' : !is_lower_hex(s.p[i]))
			return false;
	}
	return true;
}

/* Pod = [ anything "-" ] "pod" uid [ ".slice" anything ], dashes of the uid perhaps written as
 * underscores. */
static bool find_pod_uid(struct str component, struct str *ret_uid)
{
	for (size_t at = 0; at + 3 + CGROUP_POD_HASH <= component.n; at++) {
		struct str rest = str_from_offset(component, at);

		if (!str_starts_with(rest, STR_LIT("pod")) ||
		    (at > 0 && component.p[at - 1] != '-'))
			continue;
		struct str uid = str_from_offset(rest, 3);
		const char *dot = memchr(uid.p, '.', uid.n);
		if (dot)
			uid.n = (size_t)(dot - uid.p);
		if (!is_uid_shape(uid))
			continue;
		*ret_uid = uid;
		return true;
	}
	return false;
}

static int hex_value(char c)
{
	return is_digit(c) ? c - '0' : is_lower_hex(c) ? c - 'a' + 10 : -1;
}

/* Undoes cg_escape() (a leading '_') and unit_name_escape() ("\x2d") of systemd. */
static void copy_unescaped(char *dst, struct str name)
{
	char plain[CGROUP_NAME_MAX];
	size_t n = 0;

	if (name.n > 0 && name.p[0] == '_')
		name = str_from_offset(name, 1);
	for (size_t i = 0; i < name.n && n < sizeof(plain); n++) {
		bool escape = i + 3 < name.n && name.p[i] == '\\' && name.p[i + 1] == 'x' &&
			      hex_value(name.p[i + 2]) >= 0 && hex_value(name.p[i + 3]) >= 0;

		plain[n] = escape ? (char)(hex_value(name.p[i + 2]) << 4 | hex_value(name.p[i + 3]))
				  : name.p[i];
		i += escape ? 4 : 1;
	}
	str_copy_utf8(dst, CGROUP_NAME_MAX, (struct str){ plain, n });
}

/* The unit types that hold processes; slices hold other units. */
static bool is_unit(struct str c)
{
	static const struct str suffixes[] = { { ".service", 8 },
					       { ".scope", 6 },
					       { ".socket", 7 },
					       { ".mount", 6 },
					       { ".swap", 5 } };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (c.n > suffixes[i].n && str_ends_with(c, suffixes[i]))
			return true;
	return false;
}

static bool is_slice(struct str c)
{
	return c.n > 6 && str_ends_with(c, STR_LIT(".slice"));
}

/* Where the walk over a path's components stands with respect to systemd's hierarchy. */
enum unit_state {
	UNIT_SYSTEM, /* in slices of the system manager */
	UNIT_USER,   /* below user@UID.service: in slices of a user manager */
	UNIT_DONE,   /* below a unit, a container, or outside of systemd's tree */
};

static void scan_unit(struct str c, enum unit_state *state, struct cgroup_facts *f)
{
	if (*state == UNIT_DONE || str_eq(c, STR_LIT("..")))
		return;
	if (is_slice(c)) {
		if (*state == UNIT_SYSTEM)
			copy_unescaped(f->slice, c);
		return;
	}
	if (!is_unit(c)) {
		*state = UNIT_DONE;
		return;
	}
	copy_unescaped(*state == UNIT_SYSTEM ? f->unit : f->user_unit, c);
	*state = *state == UNIT_SYSTEM && str_starts_with(c, STR_LIT("user@")) ? UNIT_USER
									       : UNIT_DONE;
}

static void set_container(struct cgroup_facts *f, struct str id, const char *runtime)
{
	str_copy_utf8(f->container_id, sizeof(f->container_id), id);
	str_copy_utf8(f->runtime, sizeof(f->runtime), str_from(runtime));
}

/* True when the component names a container or its monitor: nothing from here on is a unit of the
 * host. */
static bool scan_container(struct str c, struct str parent, bool below_ecs, struct cgroup_facts *f)
{
	struct str prefix;
	struct str id;

	if (find_hex_id(c, &prefix, &id)) {
		if (!is_monitor_prefix(prefix))
			set_container(f, id, runtime_of(prefix, parent, below_ecs));
		return true;
	}
	id = strip_suffix(c, STR_LIT(".scope"));
	if (!is_ecs_id(id))
		return false;
	set_container(f, id, "ecs");
	return true;
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
	if (!f->container_id[0] || strcmp(f->runtime, "podman") == 0)
		return;
	f->unit[0] = '\0';
	f->user_unit[0] = '\0';
}

/* Path = { "/" component } */
static void parse_path(struct str path, struct cgroup_facts *ret_facts)
{
	struct cgroup_facts f = { 0 };
	enum unit_state state = UNIT_SYSTEM;
	struct str parent = { "", 0 };
	bool below_ecs = false;
	struct str c;

	while (str_split(&path, '/', &c)) {
		struct str uid;

		if (c.n == 0)
			continue;
		if (scan_container(c, parent, below_ecs, &f))
			state = UNIT_DONE;
		if (find_pod_uid(c, &uid))
			set_pod_uid(&f, uid);
		scan_unit(c, &state, &f);
		below_ecs = below_ecs || str_eq(c, STR_LIT("ecs"));
		parent = c;
	}
	drop_daemon_unit(&f);
	*ret_facts = f;
}

/* Line = number ":" [ controllers ] ":" "/" path [ " (deleted)" ] */
static bool parse_line(struct str line, struct str *ret_controllers, struct str *ret_path)
{
	uint64_t hierarchy;

	if (str_scan_u64(&line, 10, INT32_MAX, &hierarchy) < 0)
		return false;
	if (line.n == 0 || line.p[0] != ':')
		return false;
	line = str_from_offset(line, 1);
	if (!str_split(&line, ':', ret_controllers) || !line.p || line.n == 0 || line.p[0] != '/')
		return false;
	*ret_path = strip_suffix(line, STR_LIT(" (deleted)"));
	return true;
}

/* A container outweighs a unit, a unit a slice. Among equals systemd's own hierarchy, then the
 * unified one, then the first line. */
static unsigned int line_weight(struct str controllers, const struct cgroup_facts *f)
{
	unsigned int weight = 0;

	weight += f->container_id[0] ? 32 : 0;
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
