/* SPDX-License-Identifier: Apache-2.0 */
/* The store's numbers in /metrics; store.h lists them. Inside of agent/store. */
#ifndef XAGENT_AGENT_STORE_STORE_METRICS_H
#define XAGENT_AGENT_STORE_STORE_METRICS_H

#include "agent/store/ingest/ingest.h"
#include "agent/telemetry/telemetry.h"

#define STORE_EVICTIONS(X)                            \
	X(BYTES, "bytes") /* max_bytes was reached */ \
	X(AGE, "age")	  /* older than max_age */

enum store_eviction {
#define STORE_EVICTION_ENUM(name, text) STORE_EVICTED_##name,
	STORE_EVICTIONS(STORE_EVICTION_ENUM)
#undef STORE_EVICTION_ENUM
		STORE_EVICTION_MAX
};

/* All borrowed from the telemetry. */
struct store_metrics {
	struct metric *bytes, *max_bytes, *segments, *series, *profiles, *samples;
	struct metric *received_profiles, *received_bytes, *repeated;
	struct metric *refused[INGEST_MAX];		    /* none for INGEST_OPENED */
	struct metric *refused_requests[STORE_REQUEST_MAX]; /* none for STORE_REQUEST_TAKEN */
	struct metric *evicted[STORE_EVICTION_MAX];
	struct metric *disk_bytes, *disk_files, *disk_written_bytes, *disk_errors,
		*disk_damaged_files;
};

void store_metrics_init(struct store_metrics *m, struct telemetry *t, const char *component_path,
			const char *component_id);

#endif
