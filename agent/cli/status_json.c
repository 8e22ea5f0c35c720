/* SPDX-License-Identifier: Apache-2.0 */
/* The agent at one glance, as JSON. */
#include "agent/cli/status_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "agent/cli/agent.h"
#include "agent/component/pyroscope_ebpf.h"
#include "agent/component/pyroscope_store.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/version.h"

#define SENTENCE_MAX_BYTES ((size_t)16 << 10)
/* A name of enum wire_end. */
#define END_NAME_MAX 32

/* Sums over all pyroscope.ebpf. */
struct sums {
	struct wire_counters counters;
	uint64_t ends[WIRE_END_MAX];
	uint64_t n_waiting;
	bool kernel_hidden;
	const struct host_view *view; /* NULL: nothing is profiled */
};

static struct sums sum_up(const struct graph *g)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < graph_n(g); i++) {
		struct ebpf_status s;

		if (!pyroscope_ebpf_status(graph_component(g, i), &s))
			continue;
#define ADD(name, text) sums.counters.name += s.counters.name;
		WIRE_COUNTERS(ADD)
#undef ADD
		for (int k = 0; k < WIRE_END_MAX; k++)
			sums.ends[k] += s.ends[k];
		sums.n_waiting += s.n_waiting;
		sums.kernel_hidden |= s.kernel_hidden;
		sums.view = s.view;
	}
	return sums;
}

static json_t *store_of(const struct component *c)
{
	struct store_status s;

	if (!pyroscope_store_status(c, &s))
		return NULL;
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "id", c->id, "bytes",
			 (json_int_t)s.stats.bytes, "max_bytes", (json_int_t)s.stats.max_bytes,
			 "max_age_s", (json_int_t)(s.max_age_ns / NS_PER_S), "oldest_ms",
			 (json_int_t)s.stats.oldest_ms, "newest_ms", (json_int_t)s.stats.newest_ms,
			 "profiles", (json_int_t)s.stats.n_profiles, "samples",
			 (json_int_t)s.stats.n_samples, "series", (json_int_t)s.stats.n_series);
}

static json_t *store_json(const struct graph *g)
{
	json_t *store = NULL;

	for (size_t i = 0; !store && i < graph_n(g); i++)
		store = store_of(graph_component(g, i));
	return store ? store : json_null();
}

static json_t *components_array(const struct graph *g)
{
	json_t *array = json_array();

	for (size_t i = 0; i < graph_n(g); i++) {
		const struct component *c = graph_component(g, i);

		(void)json_array_append_new(array,
					    json_pack("{s:s, s:s, s:s}", "id", c->id, "state",
						      health_state_text(c->health.state), "message",
						      c->health.message));
	}
	return array;
}

static void put_outcome(json_t *array, const char *name, uint64_t value, const char *text)
{
	(void)json_array_append_new(array, json_pack("{s:s, s:I, s:s}", "name", name, "value",
						     (json_int_t)value, "text", text));
}

/* What becomes of a tick, from the timer to the profile. */
static json_t *outcomes_array(const struct sums *s, const struct telemetry *t)
{
	const struct wire_counters *c = &s->counters;
	json_t *array = json_array();

	put_outcome(array, "in_profiles", telemetry_get(t, TELEMETRY_samples_in_profiles),
		    "samples that are in a profile");
	put_outcome(array, "waiting", s->n_waiting, "samples of the interval that is under way");
	put_outcome(array, "idle", c->idle, "ticks at which a CPU had nothing to do");
	put_outcome(array, "refused", c->refused, "ticks of processes that no target selects");
	put_outcome(array, "filtered", c->filtered - MIN_OF(c->refused, c->filtered),
		    "ticks of processes that are not wanted");
	put_outcome(array, "lost", c->lost,
		    "samples lost because the agent did not come to read them");
	put_outcome(array, "dropped_no_target",
		    telemetry_get(t, TELEMETRY_samples_dropped_no_target),
		    "samples of processes that turned out to match no target");
	put_outcome(array, "dropped_memory", telemetry_get(t, TELEMETRY_samples_dropped_memory),
		    "samples for which there was no memory");
	put_outcome(array, "dropped_encode", telemetry_get(t, TELEMETRY_samples_dropped_encode),
		    "samples whose profile could not be written");
	put_outcome(array, "dropped_malformed",
		    telemetry_get(t, TELEMETRY_samples_dropped_malformed),
		    "samples that were not understood");
	return array;
}

static json_t *samples_json(const struct sums *s, const struct telemetry *t)
{
	return json_pack("{s:I, s:I, s:o}", "ticks", (json_int_t)s->counters.ticks, "received",
			 (json_int_t)telemetry_get(t, TELEMETRY_samples_received), "outcomes",
			 outcomes_array(s, t));
}

static void put_end(json_t *array, const char *name, uint64_t value, const char *text)
{
	char lower[END_NAME_MAX] = "";

	for (size_t i = 0; name[i] && i + 1 < sizeof(lower); i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	(void)json_array_append_new(array, json_pack("{s:s, s:I, s:s}", "end", lower, "value",
						     (json_int_t)value, "text", text));
}

static json_t *stacks_array(const struct sums *s)
{
	json_t *array = json_array();

#define PUT_END(name, complete, frame, text)                                  \
	put_end(array, WIRE_END_##name == WIRE_END_ROOT ? "complete" : #name, \
		s->ends[WIRE_END_##name], text);
	WIRE_ENDS(PUT_END)
#undef PUT_END
	return array;
}

static json_t *labels_json(const struct labels *l)
{
	json_t *object = json_object();

	for (size_t i = 0; i < l->n; i++)
		(void)json_object_set_new(object, l->items[i].name, json_string(l->items[i].value));
	return object;
}

static void put_targets(json_t *array, const struct component *c)
{
	_cleanup_free_ struct ebpf_target *targets = NULL;
	size_t n = 0;

	if (pyroscope_ebpf_targets(c, STATUS_TARGETS_MAX, &targets, &n) < 0)
		return;
	for (size_t i = 0; i < n && json_array_size(array) < STATUS_TARGETS_MAX; i++) {
		const char *service = labels_get(targets[i].labels, "service_name");

		(void)json_array_append_new(
			array,
			json_pack("{s:s, s:s, s:o, s:I, s:I}", "component", c->id, "service_name",
				  service ? service : "", "labels", labels_json(targets[i].labels),
				  "processes", (json_int_t)targets[i].n_processes, "samples",
				  (json_int_t)targets[i].n_samples));
	}
}

static json_t *targets_array(const struct graph *g)
{
	json_t *array = json_array();

	for (size_t i = 0; i < graph_n(g); i++)
		put_targets(array, graph_component(g, i));
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

static json_t *notes_array(const struct agent *a, const struct sums *s, bool has_store)
{
	json_t *array = json_array();

	if (!s->view)
		put_note(array, "Nothing is profiled here: no pyroscope.ebpf runs.");
	if (!has_store)
		put_note(array, "No flame graphs are kept here: there is no pyroscope.store in "
				"the configuration.");
	if (s->view)
		put_findings(array, s->view);
	if (s->kernel_hidden)
		put_note(array, "Kernel functions have no names: grant CAP_SYSLOG, or set "
				"kernel.kptr_restrict to 0 or 1.");
	if (s->counters.lost > 0)
		put_lost(array, &s->counters);
	if (http_server_is_open(a->server))
		put_note(array, "Everybody who reaches this address may use it: there is no auth "
				"in an http block.");
	return array;
}

json_t *status_json(struct agent *a)
{
	graph_check(a->graph);
	const struct sums sums = sum_up(a->graph);
	json_t *store = store_json(a->graph);
	bool has_store = !json_is_null(store);

	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "version",
			 XAGENT_VERSION, "hostname", a->hostname, "listen", a->options.listen,
			 "started_ms", (json_int_t)(a->started_real_ns / NS_PER_MS), "now_ms",
			 (json_int_t)(clock_real_ns() / NS_PER_MS), "store", store, "components",
			 components_array(a->graph), "samples", samples_json(&sums, a->telemetry),
			 "stacks", stacks_array(&sums), "targets", targets_array(a->graph), "notes",
			 notes_array(a, &sums, has_store));
}
