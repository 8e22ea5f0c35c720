/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of events: what they cost, and the sums of wall-clock time. Loop thread only. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_EVENT_METRICS_H
#define XAGENT_AGENT_COMPONENT_EBPF_EVENT_METRICS_H

#include "agent/profile/session.h"
#include "agent/telemetry/telemetry.h"

/* Counters only grow: what ended sessions counted, and what the present one has been seen to count. Zeroed at first. */
struct event_metrics {
	bool has_cost[EVENT_MAX];
	bool has_wall; /* a session had it */
	struct session_wall_sums before;
	struct session_wall_sums shown;
};

/* `labels`: component_path, component_id. NULL: no session. What no session has had yet is not shown. */
void event_metrics_show(struct event_metrics *m, struct telemetry *t, const char *const labels[2],
			struct session *session);
/* The next session counts from 0 on. */
void event_metrics_end(struct event_metrics *m);

#endif
