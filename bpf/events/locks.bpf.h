/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits for locks, by the stack that waits: when they are over, for how long.
 *
 *	user code:	sys_enter(futex, a wait) ──► sys_exit		an uncontended lock makes no system call
 *	the kernel's:	contention_begin ──► contention_end		mutexes, semaphores, those of PREEMPT_RT
 *
 * Spin locks of the kernel are left out. Waiting for one is CPU time, which CPU profiles show; and contention_end comes with the lock held: that might be
 * the ring's own, and the program would wait for itself.
 *
 * The times live in the task's storage (bpf/events/off_cpu.bpf.h). All of these programs are in the context of the task that waits, and all are tp_btf: no
 * timer tick is dropped for them. A kernel lock that a futex call waits for is a part of that wait.
 */
#ifndef XAGENT_BPF_EVENTS_LOCKS_BPF_H
#define XAGENT_BPF_EVENTS_LOCKS_BPF_H

#include "bpf/call.bpf.h"
#include "bpf/duration.bpf.h"

/* The mean of weigh.h: waits that are longer by some are all samples. */
#define LOCKS_MEAN_NS 10000

/* include/uapi/linux/futex.h */
#define LOCKS_FUTEX_COMMAND 127
#define LOCKS_FUTEX_WAIT 0
#define LOCKS_FUTEX_LOCK_PI 6
#define LOCKS_FUTEX_WAIT_BITSET 9
#define LOCKS_FUTEX_WAIT_REQUEUE_PI 11
#define LOCKS_FUTEX_LOCK_PI2 13

/* LCB_F_SPIN, LCB_F_MUTEX: include/trace/events/lock.h. A mutex is spun for first. */
#define LOCKS_SPIN 1
#define LOCKS_MUTEX 32

/* The program, and bpf_trace_run2(). */
#define LOCKS_OWN_FRAMES 2

struct lock_task {
	__u64 futex_since_ns;  /* 0: it waits for no futex */
	__u64 kernel_since_ns; /* 0: for no lock of the kernel */
	__u64 kernel_lock;
	__u64 will_restart; /* a signal has interrupted a wait for a futex that goes on */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lock_task);
} lock_tasks SEC(".maps");

static __always_inline struct lock_task *lock_task(__u64 flags)
{
	return bpf_task_storage_get(&lock_tasks, bpf_get_current_task_btf(), NULL, flags);
}

static __always_inline bool lock_is_futex_wait(const struct pt_regs___kernel *regs, __u64 call)
{
	__u64 command = call_second_argument(regs) & LOCKS_FUTEX_COMMAND;

	if (call == CALL_FUTEX_WAIT || call == CALL_FUTEX_WAITV)
		return true;
	return call == CALL_FUTEX &&
	       (command == LOCKS_FUTEX_WAIT || command == LOCKS_FUTEX_WAIT_BITSET ||
		command == LOCKS_FUTEX_LOCK_PI || command == LOCKS_FUTEX_LOCK_PI2 ||
		command == LOCKS_FUTEX_WAIT_REQUEUE_PI);
}

static __always_inline bool lock_is_call(__u64 call)
{
	return call == CALL_FUTEX || call == CALL_FUTEX_WAIT || call == CALL_FUTEX_WAITV ||
	       call == CALL_RESTART;
}

SEC("?tp_btf/sys_enter")
int lock_futex_begin(__u64 *ctx)
{
	struct pt_regs___kernel *regs = (void *)ctx[0];
	__u64 call = ctx[1];
	struct lock_task *t;

	if (!lock_is_call(call) || call_is_compat(regs))
		return 0;
	if (call == CALL_RESTART) {
		t = lock_task(0);
		if (t && t->will_restart)
			t->futex_since_ns = bpf_ktime_get_ns();
		return 0;
	}
	if (!lock_is_futex_wait(regs, call))
		return 0;
	t = lock_task(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		t->futex_since_ns = bpf_ktime_get_ns();
	else
		duration_lose(EVENT_LOCKS);
	return 0;
}

SEC("?tp_btf/sys_exit")
int lock_futex_end(__u64 *ctx)
{
	struct pt_regs___kernel *regs = (void *)ctx[0];
	struct moment m = {
		.ctx = ctx, .event = EVENT_LOCKS, .source = EVENT_SOURCE_LOCKS, .user_only = true
	};
	struct lock_task *t;
	__u64 since_ns;

	if (!lock_is_call(regs_call(regs)))
		return 0;
	t = lock_task(0);
	if (!t || !t->futex_since_ns)
		return 0;
	since_ns = t->futex_since_ns;
	t->futex_since_ns = 0;
	t->will_restart = (long)ctx[1] == CALL_WILL_RESTART;
	duration_end(m, bpf_ktime_get_ns() - since_ns, LOCKS_MEAN_NS);
	return 0;
}

/* A mutex says it twice: when it spins for its owner, and when it begins to sleep. The wait begins with the first. */
SEC("?tp_btf/contention_begin")
int lock_kernel_begin(__u64 *ctx)
{
	__u64 lock = ctx[0];
	__u32 flags = (__u32)ctx[1];
	struct lock_task *t;

	if ((flags & (LOCKS_SPIN | LOCKS_MUTEX)) == LOCKS_SPIN)
		return 0;
	t = lock_task(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		duration_lose(EVENT_LOCKS);
		return 0;
	}
	if (t->futex_since_ns || (t->kernel_lock == lock && t->kernel_since_ns))
		return 0;
	t->kernel_lock = lock;
	t->kernel_since_ns = bpf_ktime_get_ns();
	return 0;
}

/* Of all locks, and in any context. */
SEC("?tp_btf/contention_end")
int lock_kernel_end(__u64 *ctx)
{
	struct moment m = { .ctx = ctx,
			    .event = EVENT_LOCKS,
			    .source = EVENT_SOURCE_LOCKS,
			    .n_own_frames = LOCKS_OWN_FRAMES };
	struct lock_task *t = lock_task(0);
	__u64 since_ns;

	if (!t || !t->kernel_since_ns || t->kernel_lock != ctx[0])
		return 0;
	since_ns = t->kernel_since_ns;
	t->kernel_since_ns = 0;
	duration_end(m, bpf_ktime_get_ns() - since_ns, LOCKS_MEAN_NS);
	return 0;
}

#endif
