/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of pyroscope.ebpf share: pyroscope_ebpf.c (life), ebpf_match.c (series of processes), ebpf_deliver.c (receivers), ebpf_health.c
 * (how it goes). */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_PRIVATE_H
#define XAGENT_AGENT_COMPONENT_EBPF_PRIVATE_H

#include "agent/component/component.h"
#include "agent/component/ebpf_args.h"
#include "agent/component/ebpf_cap.h"
#include "agent/component/ebpf_flow.h"
#include "agent/component/ebpf_metrics.h"
#include "agent/component/ebpf_series.h"
#include "agent/component/receiver.h"
#include "agent/process/host_view.h"
#include "agent/profile/session.h"
#include "agent/target/container_age.h"
#include "agent/target/container_metadata.h"
#include "agent/target/label_sanitizer_notes.h"
#include "agent/target/target.h"

struct ebpf {
	const struct ebpf_args *args;
	struct target_set *targets;
	struct session *session;
	struct ebpf_metrics *metrics;
	struct host_view view;
	struct ebpf_flow flow;
	struct ebpf_cap cap;
	struct ebpf_series series;
	uint64_t last_sent_profiles;
	uint64_t last_lost_profiles;
	uint64_t n_rejected; /* targets of the present set that select nothing */
	uint64_t n_rejected_said;
	bool nothing_said; /* that the present set can select nobody */
	bool kernel_hidden_said;
	struct container_ages ages;
	struct container_metadata *metadata;
	struct label_sanitizer_notes notes; /* what was done to labels, and is said once */
	bool closing; /* the session is asking us: it must not be changed now */
};

/* The session's hooks; data is the component. */
int ebpf_match(struct process_table *processes, struct process *p, void *data,
	       struct labels **ret_labels);
void ebpf_before_close(void *data);
void ebpf_on_settled(struct interval *interval, void *data);
unsigned int ebpf_wants(void *data);
void ebpf_on_interval(const struct interval *interval, struct build *build, void *data);
void ebpf_on_exit(uint32_t pid, void *data);

struct receiver_stats ebpf_sum_receivers(const struct ebpf *e);

/* Targets are others now; an interval has had so many samples that found theirs. */
void ebpf_tell_targets(struct component *c);
void ebpf_tell_flow(struct component *c, uint64_t n_matched);

#endif
