/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits whose stack is taken when they begin: what events have in common that are decided by a prediction (bpf/predict.h).
 */
#ifndef XAGENT_BPF_EVENTS_PREDICTED_BPF_H
#define XAGENT_BPF_EVENTS_PREDICTED_BPF_H

#include "bpf/capture.bpf.h"
#include "bpf/duration.bpf.h"
#include "bpf/predict.h"

/* Where the task waits. */
static __always_inline __u32 predicted_place(struct task_struct *task)
{
	const struct pt_regs___kernel *saved = (void *)bpf_task_pt_regs(task);

	return predict_place(regs_pc(saved), KERNEL_FIELD(saved, sp, 0));
}

/* What the sample of a wait is known by. A thread that execs may take over the number of another one: it is made once. */
static __always_inline __u64 predicted_id(struct task_struct *task, __u64 since_ns)
{
	return WIRE_HELD_ID(KERNEL_FIELD(task, pid, 0), since_ns);
}

/* Without values: over, and nothing is to be had of it. */
static __always_inline struct wire_end predicted_end(__u8 event, __u16 source, __u64 id)
{
	return (struct wire_end){
		.record = { .n_bytes = sizeof(struct wire_end),
			    .type = WIRE_END,
			    .event = event,
			    .source = source },
		.id = id,
	};
}

#endif
