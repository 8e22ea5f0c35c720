/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the agent, as JSON. */
#include "agent/cli/web/status_json.h"

#include <inttypes.h>
#include <string.h>

#include "agent/cli/run/agent.h"
#include "agent/component/ebpf/ebpf_metrics.h"
#include "agent/runtimes/runtime.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/version.h"

#define SENTENCE_MAX_BYTES ((size_t)16 << 10)

static json_t *store_json(const struct status_facts *f)
{
	const struct store_status *s = &f->store;

	if (!f->store_id)
		return json_null();
	return json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "id", f->store_id, "bytes",
		(json_int_t)s->stats.bytes, "max_bytes", (json_int_t)s->stats.max_bytes,
		"max_age_s", (json_int_t)(s->max_age_ns / NS_PER_S), "oldest_ms",
		(json_int_t)s->stats.oldest_ms, "newest_ms", (json_int_t)s->stats.newest_ms,
		"profiles", (json_int_t)s->stats.n_profiles, "samples",
		(json_int_t)s->stats.n_samples, "series", (json_int_t)s->stats.n_series);
}

static json_t *components_array(const struct status_facts *f)
{
	json_t *array = json_array();

	for (size_t i = 0; i < f->n_rows; i++) {
		const struct status_row *row = &f->rows[i];

		(void)json_array_append_new(array,
					    json_pack("{s:s, s:s, s:s}", "id", row->id, "state",
						      health_state_text(row->health.state),
						      "message", row->health.message));
	}
	return array;
}

static void put_outcome(json_t *array, const char *name, uint64_t value, const char *text)
{
	(void)json_array_append_new(array, json_pack("{s:s, s:I, s:s}", "name", name, "value",
						     (json_int_t)value, "text", text));
}

/* What becomes of a tick, from the timer to the profile. */
static json_t *outcomes_array(const struct status_facts *f)
{
	const struct status_sums *s = &f->sums;
	const struct wire_counters *c = &s->counters;
	json_t *array = json_array();

	put_outcome(array, "in_profiles", f->counters[TELEMETRY_samples_in_profiles],
		    "samples that are in a profile");
	put_outcome(array, "waiting", s->n_waiting, "samples of the interval that is under way");
	put_outcome(array, "idle", c->idle, "ticks at which a CPU had nothing to do");
	put_outcome(array, "refused", c->refused, "ticks of processes that no target selects");
	put_outcome(array, "filtered", c->filtered - MIN_OF(c->refused, c->filtered),
		    "ticks of processes that are not wanted");
	put_outcome(array, "lost", c->lost,
		    "samples lost because the agent did not come to read them");
	put_outcome(array, "dropped_no_target", f->counters[TELEMETRY_samples_dropped_no_target],
		    "samples of processes that turned out to match no target");
	put_outcome(array, "dropped_memory", f->counters[TELEMETRY_samples_dropped_memory],
		    "samples for which there was no memory");
	put_outcome(array, "dropped_encode", f->counters[TELEMETRY_samples_dropped_encode],
		    "samples whose profile could not be written");
	put_outcome(array, "dropped_malformed", f->counters[TELEMETRY_samples_dropped_malformed],
		    "samples that were not understood");
	return array;
}

static json_t *samples_json(const struct status_facts *f)
{
	return json_pack("{s:I, s:I, s:I, s:o}", "ticks", (json_int_t)f->sums.counters.ticks,
			 "missed", (json_int_t)f->sums.n_missed, "received",
			 (json_int_t)f->counters[TELEMETRY_samples_received], "outcomes",
			 outcomes_array(f));
}

static void put_end(json_t *array, const char *name, uint64_t value, const char *text)
{
	(void)json_array_append_new(array, json_pack("{s:s, s:I, s:s}", "end", name, "value",
						     (json_int_t)value, "text", text));
}

static json_t *stacks_array(const struct status_sums *s)
{
	json_t *array = json_array();

#define PUT_END(name, complete, frame, text)                         \
	put_end(array,                                               \
		STOP_REASON_##name == STOP_REASON_ROOT               \
			? "complete"                                 \
			: ebpf_metrics_end_name(STOP_REASON_##name), \
		s->ends[STOP_REASON_##name], text);
	STOP_REASONS(PUT_END)
#undef PUT_END
	return array;
}

static void put_result(json_t *array, uint32_t kind, const char *result, uint64_t value,
		       const char *text)
{
	if (value)
		(void)json_array_append_new(array,
					    json_pack("{s:s, s:s, s:I, s:s}", "runtime",
						      runtime_of(kind)->name, "result", result,
						      "value", (json_int_t)value, "text", text));
}

/* What was found of the functions of interpreters, of those that there are. */
static json_t *interpreters_array(const struct status_sums *s)
{
	json_t *array = json_array();

#define PUT_RESULT(NAME, name, text) \
	put_result(array, kind, name, s->runtimes[kind].n[RUNTIME_RESULT_##NAME], text);
	for (uint32_t kind = RUNTIME_NONE + 1; runtime_of(kind); kind++) {
		WIRE_RUNTIME_RESULTS(PUT_RESULT)
	}
#undef PUT_RESULT
	return array;
}

static json_t *labels_json(const struct labels *l)
{
	json_t *object = json_object();

	for (size_t i = 0; i < l->n; i++)
		(void)json_object_set_new(object, l->items[i].name, json_string(l->items[i].value));
	return object;
}

static void put_targets(json_t *array, const struct status_group *g)
{
	for (size_t i = 0; i < g->n && json_array_size(array) < STATUS_TARGETS_MAX; i++) {
		const struct ebpf_target *t = &g->items[i];
		const char *service = labels_get(t->labels, "service_name");

		(void)json_array_append_new(array,
					    json_pack("{s:s, s:s, s:o, s:I, s:I}", "component",
						      g->id, "service_name", service ? service : "",
						      "labels", labels_json(t->labels), "processes",
						      (json_int_t)t->n_processes, "samples",
						      (json_int_t)t->n_samples));
	}
}

static json_t *targets_array(const struct status_facts *f)
{
	json_t *array = json_array();

	for (size_t i = 0; i < f->n_groups; i++)
		put_targets(array, &f->groups[i]);
	return array;
}

static void put_note(json_t *array, const char *text)
{
	(void)json_array_append_new(array, json_string(text));
}

static void put_findings(json_t *array, const struct host_view *view)
{
	for (int i = 0; i < HOST_FINDING_MAX; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(SENTENCE_MAX_BYTES);

		if (!view->found[i] || !host_finding_hides((enum host_finding)i))
			continue;
		(void)buf_printf(&text, "Part of this host is not seen: %s; to see it: %s.",
				 host_view_missing((enum host_finding)i),
				 host_view_fix(view, (enum host_finding)i));
		put_note(array, buf_str(&text));
	}
}

static void put_lost(json_t *array, const struct wire_counters *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SENTENCE_MAX_BYTES);

	(void)buf_printf(&text,
			 "%" PRIu64 " samples were lost because the agent did not come to read "
			 "them: give it more CPU, or lower sample_rate.",
			 (uint64_t)c->lost);
	put_note(array, buf_str(&text));
}

static json_t *notes_array(const struct status_facts *f)
{
	const struct status_sums *s = &f->sums;
	json_t *array = json_array();

	if (!s->profiles)
		put_note(array, "Nothing is profiled here: no pyroscope.ebpf runs.");
	if (!f->store_id)
		put_note(array, "No flame graphs are kept here: there is no pyroscope.store in "
				"the configuration.");
	if (s->profiles)
		put_findings(array, &s->view);
	if (s->kernel_hidden)
		put_note(array, "Kernel functions have no names: grant CAP_SYSLOG, or set "
				"kernel.kptr_restrict to 0 or 1.");
	if (s->counters.lost > 0)
		put_lost(array, &s->counters);
	if (f->is_open)
		put_note(array, "Everybody who reaches this address may use it: there is no auth "
				"in an http block.");
	return array;
}

json_t *status_json(const struct agent *a, const struct status_facts *f)
{
	return json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version",
		XAGENT_VERSION, "hostname", a->hostname, "listen", a->options.listen, "started_ms",
		(json_int_t)(a->started_real_ns / NS_PER_MS), "now_ms", (json_int_t)f->now_ms,
		"collect_interval_ms", (json_int_t)(f->sums.interval_ns / NS_PER_MS), "store",
		store_json(f), "components", components_array(f), "samples", samples_json(f),
		"stacks", stacks_array(&f->sums), "interpreters", interpreters_array(&f->sums),
		"targets", targets_array(f), "notes", notes_array(f));
}
