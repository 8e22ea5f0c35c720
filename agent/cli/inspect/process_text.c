/* SPDX-License-Identifier: Apache-2.0 */
/* How what is known of a process is shown to people. */
#include "agent/cli/inspect/process_text.h"

#include <inttypes.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Columns of the table: 2 + 40 (a SHA-1) + 2 + 34 + 2 + 20 = 100. */
#define BUILD_ID_WIDTH 40
#define UNWOUND_WIDTH 34
/* "service_name_source" */
#define SERIES_WIDTH 19

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

/* "ID, docker" */
static void put_container_id(struct buf *out, const struct cgroup_facts *c)
{
	if (c->container_id[0])
		(void)buf_printf(out, "  %-12s  %s%s%s\n", "container", c->container_id,
				 c->runtime[0] ? ", " : "", c->runtime);
}

/* What the runtime has written down. */
static void put_container_facts(struct buf *out, const struct container_facts *c)
{
	if (!c)
		return;
	put_line(out, "named", c->name);
	put_line(out, "image", c->image);
}

/* "GROUP/MEMBER", or what is known of it. */
static void put_pair(struct buf *out, const char *what, const char *group, const char *member)
{
	if (group[0] || member[0])
		(void)buf_printf(out, "  %-12s  %s%s%s\n", what, group,
				 group[0] && member[0] ? "/" : "", member);
}

static void put_place(struct buf *out, const struct process_text *t)
{
	const struct cgroup_facts *c = &t->identity->cgroup;

	put_container_id(out, c);
	if (t->series) {
		const struct process_place *place = &t->series->place;

		put_container_facts(out, t->series->container);
		put_line(out, "namespace", place->namespace);
		put_pair(out, "pod", place->pod, place->container);
		put_pair(out, "Compose", place->compose_project, place->compose_service);
		put_line(out, "Swarm", place->swarm_service);
		put_pair(out, "Nomad", place->nomad_job, place->nomad_task);
	}
	put_line(out, "pod uid", c->pod_uid);
	put_line(out, "machine", c->machine);
	put_line(out, "unit", c->unit);
	put_line(out, "user unit", c->user_unit);
	if (c->private_namespace)
		put_line(out, "", "(a cgroup namespace hides the rest of the path)");
}

/* What the environment says; the first line has the word in front. */
static void put_environment(struct buf *out, const struct environ_facts *env)
{
	const struct {
		const char *name, *value;
	} facts[] = {
		{ "OTEL_SERVICE_NAME", env->otel_service },
		{ "service.name", env->otel_attribute_service },
		{ "service.namespace", env->otel_service_namespace },
		{ "deployment.environment", env->otel_deployment },
	};
	const char *what = "environment";

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		if (!facts[i].value[0])
			continue;
		(void)buf_printf(out, "  %-12s  %s=%s\n", what, facts[i].name, facts[i].value);
		what = "";
	}
}

void process_text_identity(struct buf *out, const struct process_text *t)
{
	const struct process_identity *id = t->identity;

	(void)buf_printf(out, "process %" PRIu32 " (%s)\n\n", t->process->pid, id->comm);
	put_line(out, "executable", id->exe);
	put_line(out, "command line", id->cmdline);
	put_line(out, "script", id->script);
	put_line(out, "directory", id->cwd);
	put_started(out, t);
	if (t->process->parent_pid)
		put_number(out, "parent", t->process->parent_pid, t->parent_name);
	put_number(out, "user", id->uid, t->user);
	put_environment(out, &id->env);
	put_line(out, "cgroup", id->cgroup_path);
	put_place(out, t);
}

/* name="value", as in queries */
static void put_label(struct buf *out, const struct label *label)
{
	(void)buf_printf(out, "%s=\"", label->name);
	for (const char *c = label->value; *c; c++) {
		if (*c == '"' || *c == '\\')
			(void)buf_append_char(out, '\\');
		(void)buf_append_char(out, *c);
	}
	(void)buf_append_char(out, '"');
}

static void put_labels(struct buf *out, const struct labels *labels)
{
	(void)buf_printf(out, "  %-*s  {", SERIES_WIDTH, "labels");
	for (size_t i = 0; i < labels->n; i++) {
		(void)buf_append_str(out, i > 0 ? ", " : "");
		put_label(out, &labels->items[i]);
	}
	(void)buf_append_str(out, "}\n");
}

void process_text_series(struct buf *out, const struct process_series *series)
{
	(void)buf_printf(out, "\nin profiles, unless a configuration says otherwise\n\n");
	(void)buf_printf(out, "  %-*s  %s\n", SERIES_WIDTH, "service_name", series->name.text);
	(void)buf_printf(out, "  %-*s  %s\n", SERIES_WIDTH, "service_name_source",
			 service_name_source_word(series->name.source));
	if (series->labels)
		put_labels(out, series->labels);
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
	if (facts && facts->runtime[0])
		(void)buf_printf(out, "  %s\n", facts->runtime);
}
