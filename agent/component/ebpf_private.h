/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of pyroscope.ebpf share: pyroscope_ebpf.c (life), ebpf_match.c (series of processes), ebpf_deliver.c (receivers), ebpf_health.c
 * (how it goes). */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_PRIVATE_H
#define XAGENT_AGENT_COMPONENT_EBPF_PRIVATE_H

#include "agent/component/component.h"
#include "agent/component/ebpf_args.h"
#include "agent/component/ebpf_flow.h"
#include "agent/component/ebpf_metrics.h"
#include "agent/component/receiver.h"
#include "agent/process/host_view.h"
#include "agent/profile/series_cap.h"
#include "agent/profile/session.h"
#include "agent/sample/event.h"
#include "agent/target/container_age.h"
#include "agent/target/container_metadata.h"
#include "agent/target/label.h"
#include "agent/target/label_sanitizer_notes.h"
#include "agent/target/target.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

/*
 * ebpf_series.c. Samples of each series since the series came to be known, for the page and debug information. It is shown as its profiles are
 * delivered, with their name; a label set has one of each event. Those that have had none for the longest time are forgotten first.
 */

/* Twice max_series of a host that keeps to the default, and then some; 200 bytes each, and the label set. */
#define EBPF_SERIES_MAX 2048

struct ebpf_series_entry {
	struct hash_node node; /* by series->hash */
	struct list age;
	struct labels *series; /* a reference: as the interval has it */
	struct labels *labels; /* a reference: as delivered */
	bool is_cpu; /* or of another event, whose series have no names of targets (profile_name.h) */
	uint64_t n_samples;
	uint64_t n_processes; /* as counted last: whoever counts sets it to 0 first */
};

struct ebpf_series {
	struct hash_table table;
	struct list ages; /* struct ebpf_series_entry, longest without samples first */
	size_t n;
};

void ebpf_series_init(struct ebpf_series *s);
void ebpf_series_fini(struct ebpf_series *s);

/* Without memory it is not counted. */
void ebpf_series_add(struct ebpf_series *s, struct labels *series, enum event event,
		     struct labels *labels, uint64_t n_samples);
/* One process more in all that are of these labels, which are its target's. */
void ebpf_series_count_process(struct ebpf_series *s, struct labels *labels);

/* The cap on series (agent/profile/series_cap.h): counted, shown, and said where somebody reads it. */

/* Zeroed: empty. It outlives sessions and target sets: what was sent before a reload counts. */
struct ebpf_cap {
	struct series_cap *cap;
	bool said;
	uint64_t said_ns;
};

void ebpf_cap_fini(struct ebpf_cap *c);

/* Once an interval, before it is built. `other`, borrowed, is what the rest goes into. */
void ebpf_cap_apply(struct ebpf_cap *c, const struct component *component, size_t max,
		    struct labels *other, struct interval *i, uint64_t now_mono_ns);

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
