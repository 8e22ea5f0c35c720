/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether the idle task was interrupted while it served a softirq.
 *
 * A CPU without a task to run still serves interrupts: most of their work (packets, block requests, timers, RCU) is done in softirqs, on
 * behalf of the idle task, with interrupts on. A tick that hits them has hit work. Handlers themselves run with interrupts off, so no tick
 * ever hits one; with PREEMPT_RT softirqs are tasks.
 */
#ifndef XAGENT_BPF_IDLE_BPF_H
#define XAGENT_BPF_IDLE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel.h"

#if defined(__TARGET_ARCH_x86)

/* Softirqs run on the CPU's interrupt stack (do_softirq_own_stack, arch/x86/include/asm/irq_stack.h), the idle loop on that of its task, which ends
 * at the task's saved registers. */
static __always_inline bool idle_is_at_work(const struct bpf_perf_event_data *ctx,
					    struct task_struct *task)
{
	__u64 sp = ctx->regs.rsp;

	return sp < (__u64)KERNEL_READ(task, stack, NULL) || sp >= (__u64)bpf_task_pt_regs(task);
}

#elif defined(__TARGET_ARCH_arm64)

/* SOFTIRQ_OFFSET, include/linux/preempt.h: a softirq is being served. */
#define IDLE_SERVING_SOFTIRQ (1u << 8)

static __always_inline bool idle_is_at_work(const struct bpf_perf_event_data *ctx,
					    struct task_struct *task)
{
	(void)ctx;
	return KERNEL_READ(task, thread_info.preempt_count, 0) & IDLE_SERVING_SOFTIRQ;
}

#endif

#endif
