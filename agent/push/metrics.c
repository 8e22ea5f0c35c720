/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of one endpoint. */
#include "agent/push/metrics.h"

#define PUSH_LABELS                                                \
	{                                                          \
		"endpoint", "component_path", "component_id", NULL \
	}
#define PUSH_FAMILY(n, t, h)                                                                    \
	static const struct metric_family push_##n = {                                          \
		.name = "pyroscope_write_" #n, .help = h, .type = t, .label_names = PUSH_LABELS \
	}

PUSH_FAMILY(sent_bytes_total, METRIC_COUNTER, "Bytes of the profiles that the server took.");
PUSH_FAMILY(sent_profiles_total, METRIC_COUNTER, "Profiles that the server took.");
PUSH_FAMILY(dropped_bytes_total, METRIC_COUNTER, "Bytes of the profiles that were given up.");
PUSH_FAMILY(dropped_profiles_total, METRIC_COUNTER, "Profiles that were given up.");
PUSH_FAMILY(retries_total, METRIC_COUNTER, "Attempts that failed and are repeated.");
PUSH_FAMILY(queue_bytes, METRIC_GAUGE, "Bytes of profiles and labels that wait or are in flight.");
PUSH_FAMILY(queue_profiles, METRIC_GAUGE, "Profiles that wait or are in flight.");

/* What no other agent has. */
#define PUSH_OWN_FAMILY(n, t, h)                                                            \
	static const struct metric_family push_##n = {                                      \
		.name = "xagent_push_" #n, .help = h, .type = t, .label_names = PUSH_LABELS \
	}

PUSH_OWN_FAMILY(sent_samples_total, METRIC_COUNTER,
		"Samples in the profiles that the server took.");
PUSH_OWN_FAMILY(request_bytes_total, METRIC_COUNTER,
		"Bytes of the bodies of all requests, of those that were repeated as well.");
PUSH_OWN_FAMILY(oldest_seconds, METRIC_GAUGE,
		"Since the oldest profile that waits, in memory or on disk, came.");
PUSH_OWN_FAMILY(spool_bytes, METRIC_GAUGE, "Bytes of profiles that wait on disk.");
PUSH_OWN_FAMILY(spool_profiles, METRIC_GAUGE, "Profiles that wait on disk.");
PUSH_OWN_FAMILY(spool_found_profiles_total, METRIC_COUNTER,
		"Profiles that an earlier run had left on disk.");
PUSH_OWN_FAMILY(spool_failing, METRIC_GAUGE,
		"1 while the spool cannot be used and profiles wait in memory alone.");

static const struct metric_family push_latency = {
	.name = "pyroscope_write_latency",
	.help = "Seconds: push_total until all endpoints were done with a profile, push_endpoint "
		"until one was, "
		"push_downstream of one request.",
	.type = METRIC_HISTOGRAM,
	.label_names = { "endpoint", "type", "component_path", "component_id", NULL },
};

static const struct metric_family push_causes = {
	.name = "xagent_push_dropped_profiles_total",
	.help = "Profiles that were given up, by cause.",
	.type = METRIC_COUNTER,
	.label_names = { "endpoint", "cause", "component_path", "component_id", NULL },
};

static const char *const push_cause_names[] = {
#define PUSH_DROP_NAME(name, text) [PUSH_DROP_##name] = text,
	PUSH_DROP_CAUSES(PUSH_DROP_NAME)
#undef PUSH_DROP_NAME
};

static struct metric *push_latency_series(struct telemetry *t, const char *endpoint,
					  const char *type, const char *path, const char *id)
{
	return telemetry_series(t, &push_latency,
				(const char *const[]){ endpoint, type, path, id });
}

void push_metrics_init(struct push_metrics *m, struct telemetry *t, const char *endpoint,
		       const char *component_path, const char *component_id)
{
	const char *const values[] = { endpoint, component_path, component_id };

	m->sent_bytes = telemetry_series(t, &push_sent_bytes_total, values);
	m->sent_profiles = telemetry_series(t, &push_sent_profiles_total, values);
	m->dropped_bytes = telemetry_series(t, &push_dropped_bytes_total, values);
	m->dropped_profiles = telemetry_series(t, &push_dropped_profiles_total, values);
	m->retries = telemetry_series(t, &push_retries_total, values);
	m->queue_bytes = telemetry_series(t, &push_queue_bytes, values);
	m->queue_profiles = telemetry_series(t, &push_queue_profiles, values);
	m->sent_samples = telemetry_series(t, &push_sent_samples_total, values);
	m->request_bytes = telemetry_series(t, &push_request_bytes_total, values);
	m->oldest = telemetry_series(t, &push_oldest_seconds, values);
	m->spool_bytes = telemetry_series(t, &push_spool_bytes, values);
	m->spool_profiles = telemetry_series(t, &push_spool_profiles, values);
	m->spool_found = telemetry_series(t, &push_spool_found_profiles_total, values);
	m->spool_failing = telemetry_series(t, &push_spool_failing, values);
	m->latency_attempt =
		push_latency_series(t, endpoint, "push_downstream", component_path, component_id);
	m->latency_endpoint =
		push_latency_series(t, endpoint, "push_endpoint", component_path, component_id);
	for (int i = 0; i < PUSH_DROP_MAX; i++)
		m->causes[i] =
			telemetry_series(t, &push_causes,
					 (const char *const[]){ endpoint, push_cause_names[i],
								component_path, component_id });
}

struct metric *push_metrics_total(struct telemetry *t, const char *component_path,
				  const char *component_id)
{
	return push_latency_series(t, "-", "push_total", component_path, component_id);
}
