/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Run-queue latency where no program runs when a task is back: the stack is taken when it leaves its CPU, as for off-CPU time
 * (bpf/events/off_cpu_predicted.bpf.h). How long it will be ready and not run is predicted; of a wait for something else by how long it was after those
 * before.
 */
#ifndef XAGENT_BPF_EVENTS_RUN_QUEUE_PREDICTED_BPF_H
#define XAGENT_BPF_EVENTS_RUN_QUEUE_PREDICTED_BPF_H

#include "bpf/events/predicted.bpf.h"
#include "bpf/events/run_queue.bpf.h"

/* One that did not have to wait for a CPU ends without values. */
static __noinline int run_queue_tell(const struct run_queue_task *t, __u64 duration_ns)
{
	struct wire_end end = predicted_end(EVENT_RUN_QUEUE, EVENT_SOURCE_RUN_QUEUE, t->id);

	if (duration_ns) {
		end.values[0] = weigh_value(duration_ns, t->threshold, bpf_get_prandom_u32());
		end.values[1] = weigh_value(1, t->threshold, bpf_get_prandom_u32());
	}
	end_emit(&end);
	return 0;
}

/* Of who comes. */
static __noinline int run_queue_back(struct task_struct *task)
{
	struct run_queue_task *t = run_queue_task(task, 0);
	__u64 now_ns = bpf_ktime_get_ns(), duration_ns;

	if (!t || !t->is_out)
		return 0;
	duration_ns = t->ready_ns && now_ns > t->ready_ns ? now_ns - t->ready_ns : 0;
	predict_learn(&t->waits, t->place, duration_ns);
	if (t->threshold)
		run_queue_tell(t, duration_ns);
	t->threshold = 0;
	t->ready_ns = 0;
	t->is_out = 0;
	return 0;
}

static __noinline __u32 run_queue_predict(struct run_queue_task *t, __u64 now_ns)
{
	return duration_threshold(EVENT_RUN_QUEUE, EVENT_SOURCE_RUN_QUEUE,
				  predict_ns(&t->waits, t->place, RUN_QUEUE_MEAN_NS),
				  RUN_QUEUE_MEAN_NS, now_ns);
}

/* Of who leaves, the present task: the threshold of its wait; 0: it is no sample. */
static __noinline __u32 run_queue_leave(struct task_struct *task, __u32 is_preempted)
{
	bool could_run = is_preempted || !KERNEL_FIELD(task, __state, 0);
	struct run_queue_task *t = run_queue_task(task, 0);
	struct wire_counters *count;
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 threshold;

	if (!t || KERNEL_FIELD(task, __state, 0) & OFF_CPU_TASK_DEAD)
		return 0;
	count = moment_count(EVENT_RUN_QUEUE);
	if (!count)
		return 0;
	if (t->is_out)
		duration_lose(EVENT_RUN_QUEUE);
	t->place = could_run ? PREDICT_PREEMPTED : predicted_place(task);
	t->id = predicted_id(task, now_ns);
	t->ready_ns = could_run ? now_ns : 0;
	t->is_out = 1;
	threshold = run_queue_predict(t, now_ns);
	if (weigh_is_taken(threshold, bpf_get_prandom_u32()))
		return threshold;
	count->filtered++;
	count->thinned++;
	return 0;
}

/* Of the present task: its stack was taken. */
__noinline int run_queue_take(__u32 threshold)
{
	struct run_queue_task *t = run_queue_task(bpf_get_current_task_btf(), 0);

	if (t)
		t->threshold = threshold;
	duration_keep(EVENT_SOURCE_RUN_QUEUE);
	return 0;
}

__noinline __u64 run_queue_held_id(void)
{
	const struct run_queue_task *t = run_queue_task(bpf_get_current_task_btf(), 0);

	return t ? t->id : 0;
}

SEC("?tp_btf/sched_switch")
int run_queue_switch(__u64 *ctx)
{
	struct moment m = { .ctx = ctx,
			    .event = EVENT_RUN_QUEUE,
			    .source = EVENT_SOURCE_RUN_QUEUE,
			    .n_own_frames = OFF_CPU_OWN_FRAMES,
			    .is_held = true };
	struct wire_counters *count;
	__u32 threshold, event = EVENT_RUN_QUEUE;

	run_queue_back((void *)ctx[2]);
	threshold = run_queue_leave((void *)ctx[1], ctx[0] & 1);
	count = threshold ? bpf_map_lookup_elem(&counters, &event) : NULL;
	if (!count)
		return 0;
	m.values[WIRE_VALUE_ID] = run_queue_held_id();
	if (capture(&m, count))
		run_queue_take(threshold);
	return 0;
}

#endif
