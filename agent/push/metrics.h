/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of one endpoint, under the names that dashboards for pyroscope.write know. Inside of
 * agent/push. */
#ifndef XAGENT_AGENT_PUSH_METRICS_H
#define XAGENT_AGENT_PUSH_METRICS_H

#include "agent/telemetry/telemetry.h"

/* X(name, label value): why a profile was given up. */
#define PUSH_DROP_CAUSES(X)                                                                     \
	X(ENCODE, "encode")	/* too large, or no memory for the request */                   \
	X(FORM, "not_encoded")	/* its interval was closed before anybody wanted these bytes */ \
	X(FULL, "queue_full")	/* the queue was full; the oldest goes */                       \
	X(AGE, "too_old")	/* its deadline passed while it waited */                       \
	X(REFUSED, "refused")	/* the server refused it */                                     \
	X(ATTEMPTS, "attempts") /* max_backoff_retries */                                       \
	X(SPOOL_FULL, "spool_full")	  /* max_bytes of the spool; the oldest go */           \
	X(SPOOL_DAMAGED, "spool_damaged") /* its file was changed or removed */                 \
	X(SHUTDOWN, "shutdown")		  /* not sent before the deadline of the flush */

enum push_drop_cause {
#define PUSH_DROP_ENUM(name, text) PUSH_DROP_##name,
	PUSH_DROP_CAUSES(PUSH_DROP_ENUM)
#undef PUSH_DROP_ENUM
		PUSH_DROP_MAX
};

/* All borrowed from the telemetry. */
struct push_metrics {
	struct metric *sent_bytes, *sent_profiles;
	struct metric *dropped_bytes, *dropped_profiles;
	struct metric *retries;
	struct metric *latency_attempt;	 /* type="push_downstream" */
	struct metric *latency_endpoint; /* type="push_endpoint" */
	struct metric *causes[PUSH_DROP_MAX];
	struct metric *queue_bytes, *queue_profiles;
	struct metric *sent_samples;
	struct metric *request_bytes;
	struct metric *oldest; /* seconds */
	struct metric *spool_bytes, *spool_profiles, *spool_found, *spool_failing;
};

void push_metrics_init(struct push_metrics *m, struct telemetry *t, const char *endpoint,
		       const char *component_path, const char *component_id);

/* type="push_total", endpoint="-" */
struct metric *push_metrics_total(struct telemetry *t, const char *component_path,
				  const char *component_id);

#endif
