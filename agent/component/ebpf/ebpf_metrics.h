/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of pyroscope.ebpf: the names that dashboards know, and the kernel half's own counters. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_EBPF_METRICS_H
#define XAGENT_AGENT_COMPONENT_EBPF_EBPF_METRICS_H

#include "agent/component/component.h"
#include "agent/profile/session.h"

struct ebpf_metrics;

int ebpf_metrics_new(const struct component *c, struct ebpf_metrics **ret_metrics);
void ebpf_metrics_free(struct ebpf_metrics *m);

/* The session whose counters are shown; those of the one before are kept in the sums. Borrowed: call with NULL before it is freed. */
void ebpf_metrics_attach(struct ebpf_metrics *m, struct session *session);

/* Of all sessions, the present one included. `ret_ends` has STOP_REASON_MAX items. */
void ebpf_metrics_sums(struct ebpf_metrics *m, struct wire_counters *ret_counters,
		       uint64_t *ret_missed, uint64_t *ret_ends);

/* Likewise, by kind of runtime: RUNTIME_KINDS items. */
void ebpf_metrics_runtimes(struct ebpf_metrics *m, struct wire_runtime_results *ret_results);

/* What /metrics calls it: the label `end` of user stacks. */
const char *ebpf_metrics_end_name(enum stop_reason end);

void ebpf_metrics_targets(struct ebpf_metrics *m, size_t n);
void ebpf_metrics_session(struct ebpf_metrics *m);
void ebpf_metrics_profile(struct ebpf_metrics *m, const struct profile *profile);

#endif
