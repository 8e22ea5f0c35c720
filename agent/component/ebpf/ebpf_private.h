/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of pyroscope.ebpf share: pyroscope_ebpf.c (life), ebpf_hooks.c (what its session asks), ebpf_series.c (series and their cap),
 * ebpf_health.c (how it goes), ebpf_status.c (what others ask).
 */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_EBPF_PRIVATE_H
#define XAGENT_AGENT_COMPONENT_EBPF_EBPF_PRIVATE_H

#include "agent/component/component.h"
#include "agent/component/ebpf/ebpf_args.h"
#include "agent/component/ebpf/ebpf_metrics.h"
#include "agent/component/receiver.h"
#include "agent/process/host_view.h"
#include "agent/process/process.h"
#include "agent/profile/series_cap.h"
#include "agent/profile/session.h"
#include "agent/sample/event.h"
#include "agent/target/container_age.h"
#include "agent/target/container_metadata.h"
#include "agent/target/label.h"
#include "agent/target/label_sanitizer_notes.h"
#include "agent/target/target.h"
#include "agent/util/buf.h"
#include "agent/util/clock.h"
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

/*
 * ebpf_health.c. Whether there are samples, and whether they find their targets: a profiler that sees every tick and profiles nothing looks
 * healthy, and is what people complain of first. Pure.
 */

/* Intervals in a row in which everything that was seen was nobody's: a service that starts, or a discovery that answers late, takes less. */
#define EBPF_FLOW_INTERVALS 3

struct ebpf_flow {
	uint64_t n_seen_before; /* of a sum that only grows */
	uint64_t n_unmatched;	/* in the intervals below */
	unsigned int n_intervals;
	char example[160]; /* one that matched nothing; "": none yet */
	uint64_t n_ticks_before;
	uint64_t ticked_ns; /* when there were new ones; 0: not looked at yet */
	uint64_t looked_ns;
};

/* What an interval brought. */
struct ebpf_flow_counts {
	uint64_t n_matched;	   /* samples in it that found a series */
	uint64_t n_unmatched_ever; /* all that found none, since the beginning, as … */
	uint64_t n_ticks_ever;	   /* … timer ticks */
	uint64_t now_ns;
};

/* True when what is to be told has changed. */
bool ebpf_flow_interval(struct ebpf_flow *f, const struct ebpf_flow_counts *counts);

/* Targets are others now: somebody else may be the example. */
void ebpf_flow_retarget(struct ebpf_flow *f);

bool ebpf_flow_nothing_matches(const struct ebpf_flow *f);
/* Timers tick on idle CPUs, too. At the least rate, once a second, none for so long means that they have stopped. */
#define EBPF_FLOW_SILENCE_NS (10 * NS_PER_S)
bool ebpf_flow_stands_still(const struct ebpf_flow *f);

/* Somebody who matches nothing; the first since the last change of targets or interval with a match is remembered. */
bool ebpf_flow_wants_example(const struct ebpf_flow *f);
void ebpf_flow_example(struct ebpf_flow *f, uint32_t pid, const struct process_identity *id);

/* Appends what is wrong and what to look at. */
void ebpf_flow_explain(const struct ebpf_flow *f, size_t n_targets, struct buf *out);

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

/* ebpf_hooks.c. The session's hooks; data is the component. */
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

/*
 * ebpf_status.c. Debug information: the targets, and what the session holds.
 *
 *	targets = [{ … }]	as they are given
 *	session = { arch, kernel, memory = { … }, processes, sample_rate, samples_waiting, unwind = { … } }
 *	host = { place, findings = [{ finding, missing, fix }] }	what of it is not seen
 *
 * `session` NULL: none runs, its facts and the host's are left out. 0 or -ENOMEM.
 */
int ebpf_debug_info(struct river_arena *arena, const struct ebpf_args *args,
		    struct session *session, const struct host_view *view,
		    const struct river_value **ret_info);

#endif
