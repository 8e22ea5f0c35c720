/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who wakes up a thread that waits: the stack of whoever runs then, for waits that will be samples.
 *
 *	sched_waking: draw; taken, for twice as long as it has waited so far? ──► stack, record, number ──► … ──► back: the same draw, for the whole wait; number
 *
 * The wait's own sample is decided when it is back, by the same draw. So nearly every sample has its waker, the cost follows the time that was waited and not how
 * often somebody is woken up, and no sum is another one for it: the draw is as random as one made later. A wait that is taken after all for the time that it could have run
 * has no waker; a waker whose wait is none is of no use to the agent, and goes. Where samples are taken when a wait begins it is known whether it is one.
 *
 * An interrupt runs on top of whatever task there is. The kernel's frames tell, by their names: the agent looks for an entry among them. Only a task in a system call has a
 * stack of its own to be walked: else it was interrupted, or is the kernel's.
 */
#ifndef XAGENT_BPF_EVENTS_OFF_CPU_WAKER_BPF_H
#define XAGENT_BPF_EVENTS_OFF_CPU_WAKER_BPF_H

#include "bpf/events/off_cpu.bpf.h"
#include "bpf/events/off_cpu_predicted.bpf.h"

/* The time that it will wait for a CPU is not known yet: twice as long covers as much again. */
#define WAKER_FORESIGHT 2

/* Whether a wait of that duration would be a sample with the draw, as far as this CPU knows. A function of its own for its stack. */
__noinline int waker_is_taken(__u64 duration_ns, __u32 draw)
{
	__u32 source = EVENT_SOURCE_OFF_CPU;
	const struct wire_thinning *limit = bpf_map_lookup_elem(&thinnings, &source);

	return limit &&
	       weigh_is_taken(
		       weigh_threshold(duration_ns, duration_present_mean(limit, off_cpu_mean_ns)),
		       draw);
}

/* Likewise, of a wait that it was decided of when it began. */
static __always_inline bool waker_is_of_sample(struct task_struct *task)
{
	const struct off_cpu_prediction *p =
		bpf_task_storage_get(&off_cpu_predictions, task, NULL, 0);

	return p && p->decided & DECIDED_TAKEN;
}

/* Of a wait up to now, whether it will be a sample. */
static __always_inline bool waker_is_wanted(struct task_struct *task, struct off_cpu_task *t,
					    __u64 now_ns)
{
	if (off_cpu_predicts)
		return waker_is_of_sample(task);
	t->wake |= (bpf_get_prandom_u32() & (WEIGH_ONE - 1)) | OFF_CPU_DRAWN;
	return !(t->wake & OFF_CPU_UNWANTED) &&
	       waker_is_taken(WAKER_FORESIGHT * (now_ns - t->since_ns), t->wake);
}

/* Both halves. True when the agent has to finish the user's. */
static __always_inline bool waker_stacks(const struct moment *m, struct task_struct *task,
					 struct scratch *s, const struct wire_process *process,
					 struct wire_counters *count)
{
	const struct pt_regs___kernel *saved = (void *)bpf_task_pt_regs(task);

	if (!KERNEL_FIELD(task, pid, 1))
		s->record.head.flags |= WIRE_IDLE;
	/* Also where nobody wants to see them: they tell whether it is an interrupt. */
	kernel_half(m, s, count);
	if (KERNEL_FIELD(task, flags, 0) & PF_KTHREAD) {
		s->record.head.flags |= WIRE_KTHREAD;
		return false;
	}
	if (!want_user || regs_call(saved) == REGS_NO_CALL)
		return false;
	return user_half(m, task, s, process, count);
}

/* Whoever the waker is: filters are of those that wait. False: it was lost. */
static __always_inline bool waker_tell(void *ctx, __u64 id)
{
	struct moment m = { .ctx = ctx,
			    .event = EVENT_OFF_CPU,
			    .source = EVENT_SOURCE_OFF_CPU,
			    .n_own_frames = OFF_CPU_OWN_FRAMES };
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 event = EVENT_OFF_CPU;
	struct wire_counters *count = bpf_map_lookup_elem(&counters, &event);
	__u64 ids = task_ids();
	__u32 pid = ids >> 32;
	const struct wire_process *process = bpf_map_lookup_elem(&processes, &pid);
	struct scratch *s = count ? scratch_claim() : NULL;
	bool user_unwound;
	long r;

	if (!s)
		return false;
	begin_record(s, &m, task, pid, (__u32)ids);
	s->record.head.record.type = WIRE_WAKER;
	s->record.head.values[WIRE_VALUE_WAKER] = id;
	user_unwound = waker_stacks(&m, task, s, process, count);
	if (user_unwound && !pid) {
		s->record.head.end = STOP_REASON_OUTSIDE_PID_NAMESPACE;
		user_unwound = false;
	}
	r = emit_any(s, task, user_unwound, count);
	scratch_release(s);
	return !r;
}

/* On the CPU that wakes it up. The task cannot run before this is over. */
SEC("?tp_btf/sched_waking")
int off_cpu_woken(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct off_cpu_task *t;
	__u64 now_ns;

	if (KERNEL_FIELD(task, flags, 0) & PF_KTHREAD)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	now_ns = bpf_ktime_get_ns();
	if (!t || !t->since_ns || t->since_ns > now_ns || t->woken_ns)
		return 0;
	t->woken_ns = now_ns;
	if (t->state && waker_is_wanted(task, t, now_ns) &&
	    waker_tell(ctx, off_cpu_waker_id(t, task)))
		t->wake |= OFF_CPU_TOLD;
	return 0;
}

#endif
