/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Off-CPU time where no program runs when a task is back: on AArch64 before 6.4 none can be attached to schedule(), and sched_exit_tp is younger.
 *
 *	sched_switch, of who leaves: length predicted ──► taken? ──► stack, record (WIRE_HELD)
 *	              of who comes: d = now − since, what is known of the place; taken ──► end: d/q
 *
 * The stack is taken when the task leaves, while it is still the present one. What is a sample is drawn with a probability q that is known then
 * (bpf/predict.h). A wait that goes on for long although a short one was predicted is found by the look at open waits (bpf/events/off_cpu_look.bpf.h).
 *
 * Who leaves may be looked at on another CPU while it comes back: whoever has set DECIDED_BUSY tells the end.
 */
#ifndef XAGENT_BPF_EVENTS_OFF_CPU_PREDICTED_BPF_H
#define XAGENT_BPF_EVENTS_OFF_CPU_PREDICTED_BPF_H

#include "bpf/events/off_cpu.bpf.h"
#include "bpf/events/predicted.bpf.h"
#include "bpf/predict.h"

/* What was decided of a wait: the probability, up to WEIGH_ONE; 0: none yet. */
#define DECIDED_THRESHOLD (2ULL * WEIGH_ONE - 1)
#define DECIDED_TAKEN (1ULL << 25)
#define DECIDED_BUSY (1ULL << 26)   /* the look reads its stack */
#define DECIDED_LOOKED (1ULL << 27) /* since it was told last */
#define DECIDED_OPEN (1ULL << 28)
#define DECIDED_OUTSIDE (1ULL << 29) /* the look has taken its stack */
/* Which wait it is. */
#define DECIDED_OF(left_ns) ((left_ns) << 32 | DECIDED_OPEN)

struct off_cpu_prediction {
	__u64 decided;	/* DECIDED_*; 0: it runs */
	__u64 id;	/* of its sample */
	__u64 left_ns;	/* when it left its CPU */
	__u64 since_ns; /* up to then it has been told */
	__u64 back_ns;	/* when it was back last */
	struct prediction waits;
	__u32 place;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct off_cpu_prediction);
} off_cpu_predictions SEC(".maps");

/*
 * From what was told last up to `until_ns`; with DECIDED_BUSY it goes on, and is counted when it is over. A static function: the verifier knows what the pointers
 * are.
 */
static __noinline int off_cpu_tell(struct task_struct *task, const struct off_cpu_task *t,
				   const struct off_cpu_prediction *p, __u64 decided,
				   __u64 until_ns)
{
	struct wire_end end = predicted_end(EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, p->id);
	__u64 since_ns = p->since_ns;

	if (until_ns < since_ns)
		until_ns = since_ns;
	if (decided & DECIDED_TAKEN)
		off_cpu_weigh(until_ns - since_ns, off_cpu_ready_ns(t, since_ns, until_ns),
			      decided & DECIDED_THRESHOLD, end.values);
	if (decided & DECIDED_BUSY) {
		end.goes_on = 1;
		end.values[1] = 0;
	} else if (off_cpu_wakers && t->state && t->woken_ns) {
		end.values[WIRE_VALUE_WAKER] =
			t->wake & OFF_CPU_TOLD ? off_cpu_waker_id(t, task) : WIRE_WAKER_UNTOLD;
	}
	end_emit(&end);
	return 0;
}

/* Of who comes. */
static __noinline int off_cpu_back(struct task_struct *task)
{
	struct off_cpu_prediction *p;
	struct off_cpu_task *t;
	__u64 now_ns, decided;

	if (KERNEL_FIELD(task, flags, 0) & PF_KTHREAD)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	p = bpf_task_storage_get(&off_cpu_predictions, task, NULL, 0);
	if (!t || !p || !t->since_ns)
		return 0;
	now_ns = bpf_ktime_get_ns();
	predict_learn(&p->waits, p->place, now_ns - p->left_ns);
	p->back_ns = now_ns;
	t->since_ns = 0;
	decided = __sync_lock_test_and_set(&p->decided, 0);
	if (decided & DECIDED_TAKEN && !(decided & DECIDED_BUSY))
		off_cpu_tell(task, t, p, decided, now_ns);
	return 0;
}

/* The threshold of a wait that begins now, with what else is known of it. */
static __noinline __u32 off_cpu_predict(struct off_cpu_prediction *p, __u32 place, __u64 now_ns)
{
	p->place = place;
	p->left_ns = p->since_ns = now_ns;
	return duration_threshold(EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU,
				  predict_ns(&p->waits, place, off_cpu_mean_ns), off_cpu_mean_ns,
				  now_ns);
}

/* Of who leaves, the present task. False: its wait is no sample. */
static __noinline bool off_cpu_leave(struct task_struct *task, __u32 is_preempted)
{
	struct wire_counters *count;
	struct off_cpu_prediction *p;
	struct off_cpu_task *t;
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 threshold;

	if (KERNEL_FIELD(task, flags, 0) & PF_KTHREAD ||
	    KERNEL_FIELD(task, __state, 0) & OFF_CPU_TASK_DEAD)
		return false;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	p = bpf_task_storage_get(&off_cpu_predictions, task, NULL, 0);
	count = t && p ? moment_count(EVENT_OFF_CPU) : NULL;
	if (!count) {
		duration_lose(EVENT_OFF_CPU);
		return false;
	}
	/* Its return was not seen. */
	if (t->since_ns)
		duration_lose(EVENT_OFF_CPU);
	p->id = predicted_id(task, now_ns);
	threshold = off_cpu_predict(p, is_preempted ? PREDICT_PREEMPTED : predicted_place(task),
				    now_ns);
	t->woken_ns = 0;
	t->wake = 0;
	t->state = is_preempted ? 0 : KERNEL_FIELD(task, __state, 0);
	p->decided = DECIDED_OF(now_ns) | threshold;
	t->since_ns = now_ns;
	if (weigh_is_taken(threshold, bpf_get_prandom_u32()))
		return true;
	count->filtered++;
	count->thinned++;
	return false;
}

/* Of the present task: its stack was taken. Until it has left its CPU nobody looks at it. */
__noinline int off_cpu_take(void)
{
	struct off_cpu_prediction *p =
		bpf_task_storage_get(&off_cpu_predictions, bpf_get_current_task_btf(), NULL, 0);

	if (p)
		p->decided |= DECIDED_TAKEN;
	duration_keep(EVENT_SOURCE_OFF_CPU);
	return 0;
}

/* What the sample of its wait is known by, and what it waits for. */
__noinline __u64 off_cpu_held_id(void)
{
	const struct off_cpu_prediction *p =
		bpf_task_storage_get(&off_cpu_predictions, bpf_get_current_task_btf(), NULL, 0);

	return p ? p->id : 0;
}

__noinline int off_cpu_waits_for(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct off_cpu_task *t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);

	return t ? wait_reason(task, t->state) : WAIT_UNKNOWN;
}

SEC("?tp_btf/sched_switch")
int off_cpu_switch(__u64 *ctx)
{
	struct moment m = { .ctx = ctx,
			    .event = EVENT_OFF_CPU,
			    .source = EVENT_SOURCE_OFF_CPU,
			    .n_own_frames = OFF_CPU_OWN_FRAMES,
			    .is_held = true };
	struct wire_counters *count;

	off_cpu_back((void *)ctx[2]);
	if (!off_cpu_leave((void *)ctx[1], ctx[0] & 1))
		return 0;
	__u32 event = EVENT_OFF_CPU;
	count = bpf_map_lookup_elem(&counters, &event);
	if (!count)
		return 0;
	m.values[WIRE_VALUE_ID] = off_cpu_held_id();
	if (off_cpu_reasons)
		m.reason = off_cpu_waits_for();
	if (capture(&m, count))
		off_cpu_take();
	return 0;
}

/* Storage is made where it may be: see off_cpu_fork() and off_cpu_begin(). */
static __always_inline void off_cpu_prediction_make(struct task_struct *task, __u64 now_ns)
{
	struct off_cpu_prediction *p = bpf_task_storage_get(&off_cpu_predictions, task, NULL,
							    BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!p || !now_ns || p->decided)
		return;
	p->id = predicted_id(task, now_ns);
	p->left_ns = p->since_ns = now_ns;
	p->decided = DECIDED_OF(now_ns);
}

SEC("?tp_btf/sched_process_fork")
int off_cpu_predicted_fork(__u64 *ctx)
{
	struct task_struct *child = (void *)ctx[1];

	if (KERNEL_FIELD(child, flags, 0) & PF_KTHREAD)
		return 0;
	off_cpu_prediction_make(child, 0);
	bpf_task_storage_get(&off_cpu_tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

SEC("?iter/task")
int off_cpu_predicted_begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct off_cpu_task *t;
	__u64 now_ns = bpf_ktime_get_ns();

	if (!task || KERNEL_FIELD(task, flags, 0) & PF_KTHREAD)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || KERNEL_FIELD(task, on_cpu, 1) || KERNEL_FIELD(task, exit_state, 0)) {
		off_cpu_prediction_make(task, 0);
		return 0;
	}
	t->state = KERNEL_FIELD(task, __state, 0);
	off_cpu_prediction_make(task, now_ns);
	__sync_val_compare_and_swap(&t->since_ns, 0, now_ns);
	return 0;
}

#endif
