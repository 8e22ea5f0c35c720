/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Page faults of processes: each is an event, by the stack that touches the page; in user code, or in a system call that writes to memory of the process.
 *
 * By the exceptions' tracepoints and not by the software event: programs of that one take bpf_prog_active, and a timer tick that comes meanwhile is
 * dropped. x86-64 has these tracepoints. Elsewhere faults are seen where handle_mm_fault() returns, which the kernel counts them by, too (mm_account_fault()).
 */
#ifndef XAGENT_BPF_EVENTS_FAULTS_BPF_H
#define XAGENT_BPF_EVENTS_FAULTS_BPF_H

#include "bpf/capture.bpf.h"

/* The program, and bpf_trace_run3(). */
#define FAULTS_OWN_FRAMES 2

/* Of AArch64: the trampoline has a frame of its own below handle_mm_fault(). */
#define FAULTS_HANDLED_OWN_FRAMES 3

/* FAULT_FLAG_USER and VM_FAULT_RETRY, include/linux/mm_types.h */
#define FAULTS_FLAG_USER 0x40
#define FAULTS_RETRY 0x400

/* In user code its own frames are none: there are no frames of the kernel. */
static __always_inline int fault_tell(void *ctx, __u32 n_own_frames, bool is_of_user)
{
	struct wire_counters *count = moment_count(EVENT_FAULTS);
	struct moment m = { .ctx = ctx,
			    .event = EVENT_FAULTS,
			    .source = EVENT_SOURCE_FAULTS,
			    .n_own_frames = n_own_frames,
			    .user_only = is_of_user,
			    .values = { 1 } };

	if (count)
		capture(&m, count);
	return 0;
}

SEC("?tp_btf/page_fault_user")
int fault_user(void *ctx)
{
	return fault_tell(ctx, 0, true);
}

/* Addresses of the kernel have the upper bit set. Where faults are disabled nobody brings the page: a read that may fail was tried, as our own are. */
static __always_inline bool fault_is_of_process(struct task_struct *task, __u64 address)
{
	return !(address >> 63) && !KERNEL_FIELD(task, pagefault_disabled, 1) &&
	       !(KERNEL_FIELD(task, flags, 0) & PF_KTHREAD);
}

SEC("?tp_btf/page_fault_kernel")
int fault_kernel(__u64 *ctx)
{
	return fault_is_of_process(bpf_get_current_task_btf(), ctx[0])
		       ? fault_tell(ctx, FAULTS_OWN_FRAMES, false)
		       : 0;
}

/* What is looked up for others, as by ptrace, has no registers. What is tried again is told then. */
SEC("?fexit/handle_mm_fault")
int fault_handled(__u64 *ctx)
{
	if (!moment_argument(&ctx[3]) || ctx[4] & FAULTS_RETRY)
		return 0;
	return fault_tell(ctx, FAULTS_HANDLED_OWN_FRAMES, ctx[2] & FAULTS_FLAG_USER);
}

#endif
