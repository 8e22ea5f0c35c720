/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * System calls, by the stack that makes them: when one is over, how long it took, which it was and how it ended.
 *
 *	sys_enter: since = now ──► … ──► sys_exit: d = now − since ──► taken? ──► stack, record
 *
 * Which are samples is decided by how long they took (bpf/weigh.h). A call that does not return (exit), or not yet, is not seen.
 */
#ifndef XAGENT_BPF_EVENTS_SYSCALLS_BPF_H
#define XAGENT_BPF_EVENTS_SYSCALLS_BPF_H

#include "bpf/call.bpf.h"
#include "bpf/duration.bpf.h"

/* The mean of weigh.h. */
#define SYSCALLS_MEAN_NS 10000

struct syscall_task {
	__u64 since_ns; /* 0: it is in no call */
	__u64 call;	/* WIRE_CALL_UNKNOWN: its number is another machine's */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct syscall_task);
} syscall_tasks SEC(".maps");

static __always_inline struct syscall_task *syscall_task(__u64 flags)
{
	return bpf_task_storage_get(&syscall_tasks, bpf_get_current_task_btf(), NULL, flags);
}

SEC("?tp_btf/sys_enter")
int syscall_begin(__u64 *ctx)
{
	struct syscall_task *t = syscall_task(BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t) {
		duration_lose(EVENT_SYSCALLS);
		return 0;
	}
	t->call = ctx[1] < WIRE_MAX_CALLS && !call_is_compat((void *)ctx[0]) ? ctx[1]
									     : WIRE_CALL_UNKNOWN;
	t->since_ns = bpf_ktime_get_ns();
	return 0;
}

/* What it returned as an error, or 0. The end of a signal handler returns what the interrupted code had in the register. */
static __always_inline __u32 syscall_error(__u64 call, long returned)
{
	return call != CALL_SIGRETURN && returned < 0 && returned >= -CALL_MAX_ERROR ? -returned
										     : 0;
}

SEC("?tp_btf/sys_exit")
int syscall_end(__u64 *ctx)
{
	struct moment m = { .ctx = ctx,
			    .event = EVENT_SYSCALLS,
			    .source = EVENT_SOURCE_SYSCALLS,
			    .user_only = true };
	struct syscall_task *t = syscall_task(0);
	__u64 since_ns;

	if (!t || !t->since_ns)
		return 0;
	since_ns = t->since_ns;
	t->since_ns = 0;
	m.reason = WIRE_CALL(t->call, syscall_error(t->call, (long)ctx[1]));
	duration_end(m, bpf_ktime_get_ns() - since_ns, SYSCALLS_MEAN_NS);
	return 0;
}

#endif
