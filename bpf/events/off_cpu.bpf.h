/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Off-CPU time: how long threads do not run, for whatever reason, by the stack with which they left their CPU.
 *
 *	sched_switch: since = now ──► … ──► back on a CPU, in the thread's own context: d = now − since ──► taken? ──► stack, record
 *
 * The decision is made when the duration is known (bpf/weigh.h). Both programs are tp_btf or fexit: these do not take the CPU's bpf_prog_active,
 * so no timer tick is dropped for them.
 *
 * The time lives in the task's storage: it goes where the task goes, goes away with it, and is found without a lock. Storage is never made
 * where the run queue is locked, for an allocation might wake kswapd: it is made at fork, for tasks that are there already by an iterator.
 * Kernel threads are left out: they wait for work all the time.
 */
#ifndef XAGENT_BPF_EVENTS_OFF_CPU_BPF_H
#define XAGENT_BPF_EVENTS_OFF_CPU_BPF_H

#include "bpf/duration.bpf.h"
#include "bpf/events/off_cpu_reason.bpf.h"

/* The mean of weigh.h, as the agent wants it; it is raised where there are too many samples (bpf/duration.bpf.h). */
const volatile __u64 off_cpu_mean_ns = 1000000;
/* What was waited for is wanted. */
const volatile bool off_cpu_reasons = false;
/* Samples are taken when a wait begins (bpf/events/off_cpu_predicted.bpf.h). */
const volatile bool off_cpu_predicts = false;
/* Who has woken it up, too (bpf/events/off_cpu_waker.bpf.h). */
const volatile bool off_cpu_wakers = false;

/* TASK_DEAD, include/linux/sched.h: it never comes back. */
#define OFF_CPU_TASK_DEAD 0x80

/* The program, and bpf_trace_run1() or the trampoline. */
#define OFF_CPU_OWN_FRAMES 2

struct off_cpu_task {
	__u64 since_ns; /* 0: it runs */
	__u64 woken_ns; /* since then it could run; 0: it was not woken up, or that is not wanted */
	__u32 state;	/* that it left with; 0: it could run, and has been preempted */
	__u32 wake; /* OFF_CPU_*: what was decided when it was woken up; 0: nothing */
};

/* Behind the draw of weigh_is_taken(), which has WEIGH_BITS. */
#define OFF_CPU_DRAWN (1u << 24)
#define OFF_CPU_TOLD (1u << 25) /* its waker's stack */
#define OFF_CPU_UNWANTED (1u << 26) /* nobody wanted the last sample: it is not looked for a waker */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct off_cpu_task);
} off_cpu_tasks SEC(".maps");

/* The task that an iterator is at. */
struct bpf_iter__task {
	__u64 meta;
	struct task_struct *task;
};

/* In the context of the task that leaves; the run queue is locked. */
SEC("?tp_btf/sched_switch")
int off_cpu_out(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct off_cpu_task *t;

	if (KERNEL_FIELD(prev, flags, 0) & PF_KTHREAD ||
	    KERNEL_FIELD(prev, __state, 0) & OFF_CPU_TASK_DEAD)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, prev, NULL, 0);
	/* It was preempted within the kernel, came back by another way than schedule() (6.1, 6.12), and leaves again. */
	if (!t || t->since_ns)
		duration_lose(EVENT_OFF_CPU);
	if (!t)
		return 0;
	t->woken_ns = 0;
	t->wake &= OFF_CPU_UNWANTED;
	t->state = ctx[0] & 1 ? 0 : KERNEL_FIELD(prev, __state, 0);
	t->since_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * On the CPU that wakes it up, the run queue is not locked yet. Only of a task that has left its CPU: where it is just about to, what it waits for and
 * that it waits for a CPU are not told apart this time.
 */
SEC("?tp_btf/sched_waking")
int off_cpu_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct off_cpu_task *t;

	if (KERNEL_FIELD(task, flags, 0) & PF_KTHREAD)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	if (t && t->since_ns && !t->woken_ns)
		t->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* Of a wait up to now, for how long it could have run after it was woken up. One decision is for both parts, each is worth its own. */
static __always_inline __u64 off_cpu_ready_ns(const struct off_cpu_task *t, __u64 since_ns,
					      __u64 now_ns)
{
	__u64 woken_ns = off_cpu_reasons && t->state ? t->woken_ns : 0;

	if (!woken_ns || woken_ns >= now_ns)
		return 0;
	return now_ns - (woken_ns > since_ns ? woken_ns : since_ns);
}

static __always_inline void off_cpu_weigh(__u64 duration_ns, __u64 ready_ns, __u32 threshold,
					  __u64 values[EVENT_MAX_VALUES])
{
	if (off_cpu_reasons)
		values[WIRE_VALUE_READY] = weigh_value(ready_ns, threshold, bpf_get_prandom_u32());
	values[0] = values[WIRE_VALUE_READY] +
		    weigh_value(duration_ns - ready_ns, threshold, bpf_get_prandom_u32());
	values[1] = weigh_value(1, threshold, bpf_get_prandom_u32());
}

/* What the waker's sample and this one are known by: a task is not woken up twice at a time, and not two on a CPU. */
static __always_inline __u64 off_cpu_waker_id(const struct off_cpu_task *t,
					      struct task_struct *task)
{
	return t->woken_ns ^ (__u64)(__u32)KERNEL_FIELD(task, pid, 0) << 42;
}

/* Of the present task. Functions of their own for their stack, which is not to lie below that of the walk. */
__noinline __u64 off_cpu_waker(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct off_cpu_task *t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);

	if (!t || !t->state || !t->woken_ns)
		return WIRE_WAKER_NONE;
	return t->wake & OFF_CPU_TOLD ? off_cpu_waker_id(t, task) : WIRE_WAKER_UNTOLD;
}

/* Whether its next waits are looked for a waker. */
__noinline int off_cpu_want(__u32 is_wanted)
{
	struct off_cpu_task *t =
		bpf_task_storage_get(&off_cpu_tasks, bpf_get_current_task_btf(), NULL, 0);

	if (t)
		t->wake = is_wanted ? 0 : OFF_CPU_UNWANTED;
	return 0;
}

/* One draw for a wait: where its waker's stack was taken the wait is a sample, too, unless it is less likely by now. */
static __always_inline __u32 off_cpu_draw(const struct off_cpu_task *t)
{
	return off_cpu_wakers && t->wake & OFF_CPU_DRAWN ? t->wake : bpf_get_prandom_u32();
}

/* In the context of the task that is back; the agent says where that is. Also where a task has not left its CPU. */
SEC("?tp_btf/sched_exit_tp")
int off_cpu_in(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct moment m = { .ctx = ctx,
			    .event = EVENT_OFF_CPU,
			    .source = EVENT_SOURCE_OFF_CPU,
			    .n_own_frames = OFF_CPU_OWN_FRAMES };
	struct wire_counters *count;
	struct off_cpu_task *t;
	__u64 since_ns, now_ns, n_filtered;
	__u32 threshold;

	if (KERNEL_FIELD(task, flags, 0) & PF_KTHREAD)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || !t->since_ns)
		return 0;
	since_ns = __sync_lock_test_and_set(&t->since_ns, 0);
	now_ns = bpf_ktime_get_ns();
	count = since_ns ? moment_count(EVENT_OFF_CPU) : NULL;
	if (!count)
		return 0;
	threshold = duration_threshold(EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, now_ns - since_ns,
				       off_cpu_mean_ns, now_ns);
	if (!weigh_is_taken(threshold, off_cpu_draw(t))) {
		count->filtered++;
		count->thinned++;
		return 0;
	}
	off_cpu_weigh(now_ns - since_ns, off_cpu_ready_ns(t, since_ns, now_ns), threshold, m.values);
	if (off_cpu_reasons)
		m.reason = wait_reason_now(t->state);
	if (off_cpu_wakers)
		m.values[WIRE_VALUE_WAKER] = off_cpu_waker();
	n_filtered = count->filtered;
	capture(&m, count);
	if (count->filtered == n_filtered)
		duration_keep(EVENT_SOURCE_OFF_CPU);
	if (off_cpu_wakers)
		off_cpu_want(count->filtered == n_filtered);
	return 0;
}

/* Of a new task, before it runs. */
SEC("?tp_btf/sched_process_fork")
int off_cpu_fork(__u64 *ctx)
{
	struct task_struct *child = (void *)ctx[1];

	if (!(KERNEL_FIELD(child, flags, 0) & PF_KTHREAD))
		bpf_task_storage_get(&off_cpu_tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* Of each task that was there before: what it waits for now has begun now, as far as this profile goes. */
SEC("?iter/task")
int off_cpu_begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct off_cpu_task *t;

	if (!task || KERNEL_FIELD(task, flags, 0) & PF_KTHREAD)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || KERNEL_FIELD(task, on_cpu, 1) || KERNEL_FIELD(task, exit_state, 0))
		return 0;
	t->state = KERNEL_FIELD(task, __state, 0);
	__sync_val_compare_and_swap(&t->since_ns, 0, bpf_ktime_get_ns());
	return 0;
}

#endif
