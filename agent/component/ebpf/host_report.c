/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the host the agent cannot see. */
#include "agent/component/ebpf/host_report.h"

#include <string.h>

#include "agent/util/log.h"
#include "agent/util/macro.h"

static const struct metric_family host_view_family = {
	"xagent_host_view",
	"1 where something hides part of the host from the agent, or tells what kind of host it "
	"is.",
	METRIC_GAUGE,
	{ "component_path", "component_id", "finding" }
};

void host_report_read(struct host_view *ret_view)
{
	struct host_facts facts;

	host_facts_read("", &facts);
	host_view_judge(&facts, ret_view);
}

static void log_finding(const struct host_view *v, enum host_finding finding,
			const char *component_id)
{
	if (host_finding_hides(finding))
		log_warn("part of this host is not seen", LOG_STR("component_id", component_id),
			 LOG_STR("finding", host_finding_name(finding)),
			 LOG_STR("missing", host_view_missing(finding)),
			 LOG_STR("fix", host_view_fix(v, finding)));
	else
		log_info("what kind of host this is", LOG_STR("component_id", component_id),
			 LOG_STR("finding", host_finding_name(finding)),
			 LOG_STR("missing", host_view_missing(finding)),
			 LOG_STR("fix", host_view_fix(v, finding)));
}

void host_report_log(const struct host_view *v, const char *component_id)
{
	for (int i = 0; i < HOST_FINDING_MAX; i++)
		if (v->found[i])
			log_finding(v, (enum host_finding)i, component_id);
}

/* Of what hides something, from `first` on: "BEFORE name, name AFTER", nothing where there is none. */
static void put_names(const struct host_view *v, int first, const char *before, const char *after,
		      struct buf *out)
{
	const char *next = before;

	for (int i = first; i < HOST_FINDING_MAX; i++) {
		if (!v->found[i] || !host_finding_hides((enum host_finding)i))
			continue;
		(void)buf_printf(out, "%s%s", next, host_finding_name((enum host_finding)i));
		next = ", ";
	}
	if (next != before)
		(void)buf_append_str(out, after);
}

void host_report_health(const struct host_view *v, bool in_full, struct buf *out)
{
	enum host_finding worst = host_view_worst(v);

	if (worst == HOST_FINDING_MAX)
		return;
	if (!in_full) {
		put_names(v, 0, "part of this host is not seen: ", "", out);
		return;
	}
	(void)buf_printf(out, "part of this host is not seen: %s; to see it: %s",
			 host_view_missing(worst), host_view_fix(v, worst));
	put_names(v, (int)worst + 1, " (also: ", ")", out);
}

void host_report_metrics(const struct host_view *v, struct telemetry *t, const char *component_path,
			 const char *component_id)
{
	for (int i = 0; i < HOST_FINDING_MAX; i++) {
		const char *values[] = { component_path, component_id,
					 host_finding_name((enum host_finding)i) };

		metric_set(telemetry_series(t, &host_view_family, values), v->found[i]);
	}
}

static const struct river_value *text(struct river_arena *arena, const char *s)
{
	return river_value_string(arena, s, strlen(s));
}

static const struct river_value *object(struct river_arena *arena, const struct river_member *m,
					size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!m[i].value)
			return NULL;
	return river_value_object(arena, m, n);
}

static const struct river_value *finding_value(const struct host_view *v, enum host_finding finding,
					       struct river_arena *arena)
{
	const struct river_member members[] = {
		{ "finding", text(arena, host_finding_name(finding)) },
		{ "missing", text(arena, host_view_missing(finding)) },
		{ "fix", text(arena, host_view_fix(v, finding)) },
	};

	return object(arena, members, ARRAY_SIZE(members));
}

const struct river_value *host_report_value(const struct host_view *v, struct river_arena *arena)
{
	const struct river_value **found =
		river_arena_alloc(arena, HOST_FINDING_MAX * sizeof(*found));
	size_t n = 0;

	for (int i = 0; found && i < HOST_FINDING_MAX; i++) {
		if (!v->found[i])
			continue;
		found[n] = finding_value(v, (enum host_finding)i, arena);
		if (!found[n++])
			return NULL;
	}
	const struct river_member members[] = {
		{ "place", text(arena, host_place_name(v->place)) },
		{ "findings", found ? river_value_array(arena, found, n) : NULL },
	};
	return object(arena, members, ARRAY_SIZE(members));
}

void host_report_text(const struct host_view *v, struct buf *out)
{
	for (int i = 0; i < HOST_FINDING_MAX; i++)
		if (v->found[i])
			(void)buf_printf(out, "%s: %s; %s\n",
					 host_finding_name((enum host_finding)i),
					 host_view_missing((enum host_finding)i),
					 host_view_fix(v, (enum host_finding)i));
}
