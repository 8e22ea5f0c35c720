/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether there are samples, and whether they find their targets: a profiler that sees every tick and profiles nothing looks healthy, and
 * is what people complain of first. Pure.
 */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_FLOW_H
#define XAGENT_AGENT_COMPONENT_EBPF_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/util/buf.h"
#include "agent/util/clock.h"

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

#endif
