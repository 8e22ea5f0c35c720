/* SPDX-License-Identifier: Apache-2.0 */
/* What others may see of a pyroscope.ebpf: its counters, its series, and what it makes of a process. Loop thread. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_PYROSCOPE_EBPF_H
#define XAGENT_AGENT_COMPONENT_EBPF_PYROSCOPE_EBPF_H

#include <stdbool.h>

#include "agent/component/component.h"
#include "agent/process/host_view.h"
#include "agent/target/label.h"
#include "bpf/wire.h"

struct ebpf_status {
	struct wire_counters counters; /* since the start of the agent, as all that follow */
	uint64_t n_missed;	       /* ticks that were due and never came */
	uint64_t ends[STOP_REASON_MAX];
	struct wire_runtime_results runtimes[RUNTIME_KINDS];
	uint64_t n_waiting;	      /* samples in intervals that are not built yet */
	uint64_t interval_ns;	      /* of its profiles */
	bool kernel_hidden;	      /* kernel functions have no names here */
	const struct host_view *view; /* borrowed */
};

/* False: it is no pyroscope.ebpf, or does not run. */
bool pyroscope_ebpf_status(const struct component *c, struct ebpf_status *ret_status);

/* Processes that live and have been sampled, by series: first none, then those of `pids`, in pieces of what a turn of the loop may take. */
void pyroscope_ebpf_count_none(const struct component *c);
void pyroscope_ebpf_count(const struct component *c, const uint32_t *pids, size_t n);

struct ebpf_target {
	struct labels *labels; /* a reference */
	uint64_t n_processes;  /* as counted last */
	uint64_t n_samples;
};

/* Its series, those with the most samples first, `max` at most. 0 or -ENOMEM; of one that does not run: none. */
int pyroscope_ebpf_targets(const struct component *c, size_t max, struct ebpf_target **ret_targets,
			   size_t *ret_n);
void pyroscope_ebpf_targets_free(struct ebpf_target *targets, size_t n);

/* What a process is called that has been sampled; NULL: it has not, or has no series. Borrowed. */
const char *pyroscope_ebpf_service_of(const struct component *c, uint32_t pid);

enum ebpf_verdict {
	EBPF_PROFILED,	/* it has a series */
	EBPF_UNDECIDED, /* it waits for what others tell of its container */
	EBPF_UNTARGETED,
};

struct ebpf_judgement {
	enum ebpf_verdict verdict;
	struct labels *labels; /* a reference: of the series; NULL: none, or not known yet */
	bool by_target;	       /* one names it, or its container; else everybody is profiled */
	uint64_t n_samples;    /* of it; 0: none yet */
	uint64_t sampled_ns;   /* CLOCK_MONOTONIC, of the last one */
	bool kernel_left_out;  /* kernel stacks are not wanted */
};

void ebpf_judgement_fini(struct ebpf_judgement *j);
#define _cleanup_judgement_ _cleanup_(ebpf_judgement_fini)

/* What becomes of a process. Whom it has not sampled it would judge like this: `p` is of `processes`, any table. 0 or -errno (-ENOENT: it does
 * not run). */
int pyroscope_ebpf_judge(const struct component *c, struct process_table *processes,
			 struct process *p, struct ebpf_judgement *ret_judgement);

#endif
