/* SPDX-License-Identifier: Apache-2.0 */
/* How what is known of a process is shown to people. */
#include "agent/cli/process_text.h"

#include <inttypes.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/str.h"

/* Columns of the table: 2 + 40 (a SHA-1) + 2 + 34 + 2 + 20 = 100. */
#define BUILD_ID_WIDTH 40
#define UNWOUND_WIDTH 34

#define SECONDS_A_MINUTE 60
#define SECONDS_AN_HOUR 3600
#define SECONDS_A_DAY 86400

static void put_line(struct buf *out, const char *what, const char *text)
{
	if (text[0])
		(void)buf_printf(out, "  %-12s  %s\n", what, text);
}

static void put_age(struct buf *out, uint64_t n, const char *unit, uint64_t n_small,
		    const char *small)
{
	(void)buf_printf(out, "%" PRIu64 " %s", n, unit);
	if (small)
		(void)buf_printf(out, " %" PRIu64 " %s", n_small, small);
}

void process_text_age(struct buf *out, uint64_t age_ns)
{
	uint64_t s = age_ns / NS_PER_S;

	if (s >= SECONDS_A_DAY)
		put_age(out, s / SECONDS_A_DAY, s < 2 * SECONDS_A_DAY ? "day" : "days",
			s % SECONDS_A_DAY / SECONDS_AN_HOUR, "h");
	else if (s >= SECONDS_AN_HOUR)
		put_age(out, s / SECONDS_AN_HOUR, "h", s % SECONDS_AN_HOUR / SECONDS_A_MINUTE,
			"min");
	else if (s >= SECONDS_A_MINUTE)
		put_age(out, s / SECONDS_A_MINUTE, "min", s % SECONDS_A_MINUTE, "s");
	else
		put_age(out, s, "s", 0, NULL);
}

static void put_started(struct buf *out, const struct process_text *t)
{
	if (!t->started[0])
		return;
	(void)buf_printf(out, "  %-12s  %s, ", "started", t->started);
	process_text_age(out, t->age_ns);
	(void)buf_append_str(out, " ago\n");
}

/* A number and, where it is known, its name. */
static void put_number(struct buf *out, const char *what, uint32_t number, const char *name)
{
	(void)buf_printf(out, "  %-12s  %" PRIu32, what, number);
	if (name[0])
		(void)buf_printf(out, " (%s)", name);
	(void)buf_append_char(out, '\n');
}

static void put_container(struct buf *out, const struct cgroup_facts *c)
{
	if (c->container_id[0])
		(void)buf_printf(out, "  %-12s  %s%s%s\n", "container", c->container_id,
				 c->runtime[0] ? ", " : "", c->runtime);
	put_line(out, "pod", c->pod_uid);
	put_line(out, "unit", c->unit);
	put_line(out, "user unit", c->user_unit);
	if (c->private_namespace)
		put_line(out, "", "(a cgroup namespace hides the rest of the path)");
}

void process_text_identity(struct buf *out, const struct process_text *t)
{
	const struct process_identity *id = t->identity;

	(void)buf_printf(out, "process %" PRIu32 " (%s)\n\n", t->process->pid, id->comm);
	put_line(out, "executable", id->exe);
	put_line(out, "command line", id->cmdline);
	put_line(out, "directory", id->cwd);
	put_started(out, t);
	if (t->process->parent_pid)
		put_number(out, "parent", t->process->parent_pid, t->parent_name);
	put_number(out, "user", id->uid, t->user);
	put_line(out, "cgroup", id->cgroup_path);
	put_container(out, &id->cgroup);
}

void process_text_mappings_head(struct buf *out, uint32_t n_mappings, uint32_t n_files)
{
	(void)buf_printf(out, "\n%" PRIu32 " executable mapping%s, %" PRIu32 " file%s\n\n",
			 n_mappings, n_mappings == 1 ? "" : "s", n_files, n_files == 1 ? "" : "s");
	(void)buf_printf(out, "ADDRESSES                  OBJECT\n  %-*s  %-*s  %s\n",
			 BUILD_ID_WIDTH, "BUILD ID", UNWOUND_WIDTH, "UNWOUND BY", "NAMED BY");
}

static void put_object(struct buf *out, const struct mapping *m)
{
	char path[MAPPING_PATH_MAX];

	if (!m->file) {
		(void)buf_append_str(out, "[anon]\n");
		return;
	}
	str_copy_utf8(path, sizeof(path), str_from(m->file->path));
	(void)buf_printf(out, "%s%s\n", path[0] ? path : "[no path]",
			 m->file->deleted ? " (deleted)" : "");
}

void process_text_mapping(struct buf *out, const struct mapping *m,
			  const struct mapping_facts *facts)
{
	(void)buf_printf(out, "%012" PRIx64 "-%012" PRIx64 "  ", m->begin, m->end);
	put_object(out, m);
	if (facts)
		(void)buf_printf(out, "  %-*s  %-*s  %s\n", BUILD_ID_WIDTH,
				 facts->build_id[0] ? facts->build_id : "-", UNWOUND_WIDTH,
				 facts->unwound, facts->named);
}
