/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of events: what they cost; of wall-clock time its parts, and the sum that they have to have. */
#include "agent/component/ebpf/event_metrics.h"

#include "agent/util/macro.h"

#define COMPONENT_LABELS "component_path", "component_id"

static const struct metric_family wall_seconds = {
	"xagent_wall_seconds_total",
	"Wall-clock time in profiles, without kernel threads: cpu, ready (0 where reasons of waits "
	"are not told), waiting.",
	METRIC_SECONDS,
	{ COMPONENT_LABELS, "part" }
};
static const struct metric_family wall_threads = {
	"xagent_wall_thread_seconds_total",
	"For how long the threads of these processes were there, as /proc tells when an interval "
	"ends: what the parts of wall-clock time make together.",
	METRIC_SECONDS,
	{ COMPONENT_LABELS }
};

#define COST(variable, name, text)                                      \
	static const struct metric_family variable = {                  \
		name, text, METRIC_GAUGE, { COMPONENT_LABELS, "event" } \
	}
COST(event_cpu, "xagent_event_cpu_ratio",
     "What the event's programs cost, of one CPU: hits a second by seconds a hit, as measured "
     "last.");
COST(event_hit, "xagent_event_hit_seconds",
     "What a hit of the event costs on average, with what samples cost.");
COST(event_hits, "xagent_event_hits_per_second", "Runs of the event's programs, as measured last.");
COST(event_over, "xagent_event_over_limit",
     "1: with the fewest samples the event costs more than event_cpu_limit.");
#undef COST

static void show_cost(struct telemetry *t, const char *const labels[2], enum event event,
		      const struct sampler_event_cost *cost)
{
	const char *values[] = { labels[0], labels[1], event_type(event)->name };

	metric_set(telemetry_series(t, &event_cpu, values), cost->cpu_ratio);
	metric_set(telemetry_series(t, &event_hit, values), cost->run_ns / 1e9);
	metric_set(telemetry_series(t, &event_hits, values), cost->runs_hz);
	metric_set(telemetry_series(t, &event_over, values), cost->is_over);
}

/* One that is not sampled any more costs nothing. */
static void show_costs(struct event_metrics *m, struct telemetry *t, const char *const labels[2],
		       struct session *session)
{
	for (enum event e = 0; e < EVENT_MAX; e++) {
		struct sampler_event_cost cost = { 0 };

		if (session && sampler_event_cost(session_sampler(session), e, &cost))
			m->has_cost[e] = true;
		if (m->has_cost[e])
			show_cost(t, labels, e, &cost);
	}
}

/* At the end of an interval ticks may turn out to have told too much. */
static void take(struct session_wall_sums *shown, const struct session_wall_sums *now)
{
	shown->cpu_ns = MAX_OF(shown->cpu_ns, now->cpu_ns);
	shown->ready_ns = MAX_OF(shown->ready_ns, now->ready_ns);
	shown->waiting_ns = MAX_OF(shown->waiting_ns, now->waiting_ns);
	shown->threads_ns = MAX_OF(shown->threads_ns, now->threads_ns);
}

static void show_part(struct telemetry *t, const char *const labels[2], const char *part,
		      uint64_t ns)
{
	const char *values[] = { labels[0], labels[1], part };

	metric_set(telemetry_series(t, &wall_seconds, values), (double)ns / 1e9);
}

void event_metrics_show(struct event_metrics *m, struct telemetry *t, const char *const labels[2],
			struct session *session)
{
	const char *values[] = { labels[0], labels[1] };
	struct session_wall_sums now;

	show_costs(m, t, labels, session);
	if (session && session_wall_sums(session, &now)) {
		m->has_wall = true;
		take(&m->shown, &now);
	}
	if (!m->has_wall)
		return;
	show_part(t, labels, "cpu", m->before.cpu_ns + m->shown.cpu_ns);
	show_part(t, labels, "ready", m->before.ready_ns + m->shown.ready_ns);
	show_part(t, labels, "waiting", m->before.waiting_ns + m->shown.waiting_ns);
	metric_set(telemetry_series(t, &wall_threads, values),
		   (double)(m->before.threads_ns + m->shown.threads_ns) / 1e9);
}

void event_metrics_end(struct event_metrics *m)
{
	m->before.cpu_ns += m->shown.cpu_ns;
	m->before.ready_ns += m->shown.ready_ns;
	m->before.waiting_ns += m->shown.waiting_ns;
	m->before.threads_ns += m->shown.threads_ns;
	m->shown = (struct session_wall_sums){ 0 };
}
