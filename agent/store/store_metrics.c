/* SPDX-License-Identifier: Apache-2.0 */
/* The store's numbers. */
#include "agent/store/store_metrics.h"

/* X(name, type, sentence) */
#define STORE_NUMBERS(X)                                                                          \
	X(bytes, METRIC_GAUGE, "Bytes of memory that the store takes.")                           \
	X(max_bytes, METRIC_GAUGE, "Bytes of memory that the store may take.")                    \
	X(segments, METRIC_GAUGE, "Closed segments in the store.")                                \
	X(series, METRIC_GAUGE, "Series in the segment that still grows.")                        \
	X(profiles, METRIC_GAUGE, "Profiles in the store.")                                       \
	X(samples, METRIC_GAUGE, "Stacks with their values in the store.")                        \
	X(received_profiles_total, METRIC_COUNTER, "Profiles that came to the store.")            \
	X(received_bytes_total, METRIC_COUNTER,                                                   \
	  "Bytes of these, as they came; of the agent's own before compression.")                 \
	X(repeated_profiles_total, METRIC_COUNTER,                                                \
	  "Profiles that the store had already: their series has one of the same millisecond.")   \
	X(disk_bytes, METRIC_GAUGE, "Bytes of the store's files.")                                \
	X(disk_files, METRIC_GAUGE, "Files of the store.")                                        \
	X(disk_written_bytes_total, METRIC_COUNTER, "Bytes that the store wrote to files.")       \
	X(disk_errors_total, METRIC_COUNTER, "Files that could not be written, read or removed.") \
	X(disk_damaged_files_total, METRIC_COUNTER, "Files that were damaged and set aside.")

#define STORE_LABELS                                   \
	{                                              \
		"component_path", "component_id", NULL \
	}
#define STORE_FAMILY(n, t, h)                                                                 \
	static const struct metric_family store_##n = {                                       \
		.name = "xagent_store_" #n, .help = h, .type = t, .label_names = STORE_LABELS \
	};
STORE_NUMBERS(STORE_FAMILY)
#undef STORE_FAMILY

static const struct metric_family store_refused = {
	.name = "xagent_store_refused_profiles_total",
	.help = "Profiles that the store refused, by reason.",
	.type = METRIC_COUNTER,
	.label_names = { "reason", "component_path", "component_id", NULL },
};

static const struct metric_family store_refused_requests = {
	.name = "xagent_store_refused_requests_total",
	.help = "Requests to the store that were refused because they would cost too much, by "
		"reason.",
	.type = METRIC_COUNTER,
	.label_names = { "reason", "component_path", "component_id", NULL },
};

static const struct metric_family store_evicted = {
	.name = "xagent_store_evicted_profiles_total",
	.help = "Profiles that left the store, by reason.",
	.type = METRIC_COUNTER,
	.label_names = { "reason", "component_path", "component_id", NULL },
};

static const char *const refused_names[] = {
#define STORE_REFUSED_NAME(name, text) [INGEST_REFUSED_##name] = text,
	INGEST_REFUSALS(STORE_REFUSED_NAME)
#undef STORE_REFUSED_NAME
};

static const char *const request_names[] = {
#define STORE_REQUEST_NAME(name, text) [STORE_REQUEST_##name] = text,
	STORE_REQUEST_REFUSALS(STORE_REQUEST_NAME)
#undef STORE_REQUEST_NAME
};

static const char *const evicted_names[] = {
#define STORE_EVICTED_NAME(name, text) [STORE_EVICTED_##name] = text,
	STORE_EVICTIONS(STORE_EVICTED_NAME)
#undef STORE_EVICTED_NAME
};

static void init_reasons(struct store_metrics *m, struct telemetry *t, const char *path,
			 const char *id)
{
	for (int i = INGEST_OPENED + 1; i < INGEST_MAX; i++)
		m->refused[i] = telemetry_series(
			t, &store_refused, (const char *const[]){ refused_names[i], path, id });
	for (int i = STORE_REQUEST_TAKEN + 1; i < STORE_REQUEST_MAX; i++)
		m->refused_requests[i] =
			telemetry_series(t, &store_refused_requests,
					 (const char *const[]){ request_names[i], path, id });
	for (int i = 0; i < STORE_EVICTION_MAX; i++)
		m->evicted[i] = telemetry_series(
			t, &store_evicted, (const char *const[]){ evicted_names[i], path, id });
}

void store_metrics_init(struct store_metrics *m, struct telemetry *t, const char *component_path,
			const char *component_id)
{
	const char *const values[] = { component_path, component_id };

	m->bytes = telemetry_series(t, &store_bytes, values);
	m->max_bytes = telemetry_series(t, &store_max_bytes, values);
	m->segments = telemetry_series(t, &store_segments, values);
	m->series = telemetry_series(t, &store_series, values);
	m->profiles = telemetry_series(t, &store_profiles, values);
	m->samples = telemetry_series(t, &store_samples, values);
	m->received_profiles = telemetry_series(t, &store_received_profiles_total, values);
	m->received_bytes = telemetry_series(t, &store_received_bytes_total, values);
	m->repeated = telemetry_series(t, &store_repeated_profiles_total, values);
	m->disk_bytes = telemetry_series(t, &store_disk_bytes, values);
	m->disk_files = telemetry_series(t, &store_disk_files, values);
	m->disk_written_bytes = telemetry_series(t, &store_disk_written_bytes_total, values);
	m->disk_errors = telemetry_series(t, &store_disk_errors_total, values);
	m->disk_damaged_files = telemetry_series(t, &store_disk_damaged_files_total, values);
	init_reasons(m, t, component_path, component_id);
}
