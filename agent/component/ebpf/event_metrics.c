/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of wall-clock time: its parts, and the sum that they have to have. */
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
			const struct session *session)
{
	const char *values[] = { labels[0], labels[1] };
	struct session_wall_sums now;

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
