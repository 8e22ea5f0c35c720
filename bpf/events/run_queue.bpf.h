/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Run-queue latency: how long threads that could run do not, by the stack that goes on afterwards.
 *
 *	sched_waking, or sched_switch of a task that was preempted: ready = now ──► … ──► back on a CPU, in its own context: d = now − ready
 *
 * The part of off-CPU time (bpf/events/off_cpu.bpf.h) that other threads are the reason of, with a mean of its own, for these waits are short. Where storage is
 * made, and why the end is where it is, is said there. A task that waits for the first time since it was made comes back by no way that is seen.
 */
#ifndef XAGENT_BPF_EVENTS_RUN_QUEUE_BPF_H
#define XAGENT_BPF_EVENTS_RUN_QUEUE_BPF_H

#include "bpf/duration.bpf.h"
#include "bpf/events/off_cpu.bpf.h"
#include "bpf/predict.h"

/* The mean of weigh.h. */
#define RUN_QUEUE_MEAN_NS 100000

struct run_queue_task {
	__u64 ready_ns; /* since then it could run, and does not; 0: it runs, or waits for something else */
	__u64 is_out; /* it has left its CPU */
	/* Where samples are taken when a wait begins (bpf/events/run_queue_predicted.bpf.h). */
	__u64 id; /* of its sample */
	__u32 threshold; /* 0: it is no sample */
	__u32 place;
	struct prediction waits;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct run_queue_task);
} run_queue_tasks SEC(".maps");

static __always_inline struct run_queue_task *run_queue_task(struct task_struct *task, __u64 flags)
{
	if (KERNEL_FIELD(task, flags, 0) & PF_KTHREAD)
		return NULL;
	return bpf_task_storage_get(&run_queue_tasks, task, NULL, flags);
}

/* In the context of the task that leaves; the run queue is locked. */
SEC("?tp_btf/sched_switch")
int run_queue_out(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct run_queue_task *t = run_queue_task(prev, 0);
	bool could_run = ctx[0] & 1 || !KERNEL_FIELD(prev, __state, 0);

	if (!t)
		return 0;
	/* It came back by another way than schedule(): it was preempted within the kernel (6.1, 6.12). */
	if (t->ready_ns)
		duration_lose(EVENT_RUN_QUEUE);
	t->ready_ns = could_run ? bpf_ktime_get_ns() : 0;
	t->is_out = 1;
	return 0;
}

/* On the CPU that wakes it up. Of a task that is just about to leave its CPU the wake-up is not told from one that it did not need. */
SEC("?tp_btf/sched_waking")
int run_queue_waking(__u64 *ctx)
{
	struct run_queue_task *t = run_queue_task((void *)ctx[0], 0);

	if (t && t->is_out && !t->ready_ns)
		t->ready_ns = bpf_ktime_get_ns();
	return 0;
}

/* In the context of the task that is back; the agent says where that is. Also where a task has not left its CPU. */
SEC("?tp_btf/sched_exit_tp")
int run_queue_in(void *ctx)
{
	struct moment m = { .ctx = ctx,
			    .event = EVENT_RUN_QUEUE,
			    .source = EVENT_SOURCE_RUN_QUEUE,
			    .n_own_frames = OFF_CPU_OWN_FRAMES };
	struct run_queue_task *t = run_queue_task(bpf_get_current_task_btf(), 0);
	__u64 ready_ns, now_ns;

	if (!t || !t->is_out)
		return 0;
	ready_ns = t->ready_ns;
	t->ready_ns = 0;
	t->is_out = 0;
	now_ns = bpf_ktime_get_ns();
	if (ready_ns && now_ns > ready_ns)
		duration_end(m, now_ns - ready_ns, RUN_QUEUE_MEAN_NS);
	return 0;
}

/* Of a new task, before it runs. */
SEC("?tp_btf/sched_process_fork")
int run_queue_fork(__u64 *ctx)
{
	run_queue_task((void *)ctx[1], BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* Of each task that was there before: one that waits for a CPU has begun to now, as far as this profile goes. */
SEC("?iter/task")
int run_queue_begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct run_queue_task *t;

	if (!task)
		return 0;
	t = run_queue_task(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || KERNEL_FIELD(task, on_cpu, 1) || KERNEL_FIELD(task, exit_state, 0))
		return 0;
	if (!KERNEL_FIELD(task, __state, 1))
		t->ready_ns = bpf_ktime_get_ns();
	t->is_out = 1;
	return 0;
}

#endif
