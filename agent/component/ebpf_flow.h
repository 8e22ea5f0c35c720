/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether samples find their targets: a profiler that sees every tick and profiles nothing looks healthy, and is what people complain of
 * first. Pure.
 */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_FLOW_H
#define XAGENT_AGENT_COMPONENT_EBPF_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/util/buf.h"

/* Intervals in a row in which everything that was seen was nobody's: a service that starts, or a discovery that answers late, takes less. */
#define EBPF_FLOW_INTERVALS 3

struct ebpf_flow {
	uint64_t n_seen_before; /* of a sum that only grows */
	uint64_t n_unmatched;	/* in the intervals below */
	unsigned int n_intervals;
	char example[256]; /* one that matched nothing; "": none yet */
};

/* One interval: samples that found a series, and all that have found none since the beginning. True when what is to be told has changed. */
bool ebpf_flow_interval(struct ebpf_flow *f, uint64_t n_matched, uint64_t n_unmatched_ever);

/* Targets are others now. */
void ebpf_flow_reset(struct ebpf_flow *f);

bool ebpf_flow_nothing_matches(const struct ebpf_flow *f);

/* Somebody who matches nothing; the first since the last reset or interval with a match is remembered. */
bool ebpf_flow_wants_example(const struct ebpf_flow *f);
void ebpf_flow_example(struct ebpf_flow *f, uint32_t pid, const struct process_identity *id);

/* Appends what is wrong and what to look at. */
void ebpf_flow_explain(const struct ebpf_flow *f, size_t n_targets, struct buf *out);

#endif
