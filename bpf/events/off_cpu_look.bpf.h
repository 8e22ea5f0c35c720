/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Open waits where samples are taken when a wait begins (bpf/events/off_cpu_predicted.bpf.h).
 *
 *	some times a second:	waits that are long by now and were not taken ──► stack, record (WIRE_HELD); q' = q + (1 − q)·π
 *	when an interval ends:	all, with a step as in bpf/events/off_cpu_open.bpf.h ──► what lies before now is told; the rest has the step's probability
 *
 * A wait that was found when it had lasted for long is nearly always a sample from then on, and so is worth what it lasts: the prediction matters to those alone
 * that were over before. When it is looked at does not depend on what was drawn for it; so the probability that it was taken by one or the other is q', whoever it was.
 *
 * While its stack is read a wait is marked (DECIDED_BUSY). If it is over afterwards, its end is told here.
 */
#ifndef XAGENT_BPF_EVENTS_OFF_CPU_LOOK_BPF_H
#define XAGENT_BPF_EVENTS_OFF_CPU_LOOK_BPF_H

#include "bpf/events/off_cpu_open.bpf.h"
#include "bpf/events/off_cpu_predicted.bpf.h"

/* Set by the agent before each run. An interval ends: waits are told. Else those are looked at that are as old as this. */
__u64 off_cpu_look_is_end = 0;
__u64 off_cpu_look_age_ns = 0;
/* Of those found all are taken up to so many, then fewer and fewer. */
__u64 off_cpu_look_samples = 0;
/* Waits that this look has found, from 0 on. */
__u64 off_cpu_look_n = 0;

/* The wait that it is at. There is one look at a time, and no room for this on the stack, which is that of a walk. */
__u64 look_before = 0; /* what was decided */
__u64 look_after = 0;  /* and is now */
__u64 look_now_ns = 0;
__u64 look_id = 0; /* as the other programs have it, … */
__u64 look_left_ns = 0; /* … when it began … */
__u64 look_since_ns = 0; /* … and up to when it was told */
__u64 look_is_told = 0; /* up to now */
__u64 look_pid = 0;
__u64 look_tid = 0;
__u64 look_cgroup_id = 0;

/* π, by how many came before: by nothing that was drawn. */
static __always_inline __u32 look_threshold(void)
{
	__u64 n = ++off_cpu_look_n;

	return n <= off_cpu_look_samples ? WEIGH_ONE : off_cpu_look_samples * WEIGH_ONE / n;
}

/* False: there is nothing to be decided. */
static __always_inline bool look_decide_some(void)
{
	__u64 q = look_before & DECIDED_THRESHOLD, pi;

	if (look_before & DECIDED_LOOKED || q == WEIGH_ONE ||
	    look_now_ns - look_left_ns < off_cpu_look_age_ns)
		return false;
	pi = look_threshold();
	look_after = (look_before & ~DECIDED_THRESHOLD) | DECIDED_LOOKED;
	if (weigh_is_taken(pi, bpf_get_prandom_u32()))
		look_after |= DECIDED_TAKEN;
	q += (WEIGH_ONE - q) * pi >> WEIGH_BITS;
	look_after |= q ? q : 1;
	return true;
}

static __always_inline void look_decide_all(__u64 since_ns)
{
	__u32 threshold = open_threshold(look_now_ns - since_ns);

	look_after = (look_before & ~(DECIDED_THRESHOLD | DECIDED_TAKEN | DECIDED_LOOKED)) | threshold;
	if (open_is_taken(threshold))
		look_after |= DECIDED_TAKEN;
}

/* Whose wait it is, and what becomes of it. False: nothing is to be done. */
static __noinline bool look_decide(struct task_struct *task, const struct off_cpu_task *t,
				   const struct off_cpu_prediction *p)
{
	__u32 pid, tid;
	__u64 cgroup_id;

	if (!open_whose(task, &pid, &tid, &cgroup_id))
		return false;
	look_before = p->decided;
	look_now_ns = bpf_ktime_get_ns();
	look_id = p->id;
	look_left_ns = p->left_ns;
	look_since_ns = t->since_ns;
	look_is_told = off_cpu_look_is_end;
	look_pid = pid;
	look_tid = tid;
	look_cgroup_id = cgroup_id;
	if (!look_before || look_before & DECIDED_BUSY || !look_since_ns ||
	    p->since_ns >= look_now_ns)
		return false;
	if (!off_cpu_look_is_end)
		return look_decide_some();
	look_decide_all(p->since_ns);
	return true;
}

/* A record of the wait, as a sample that began when it has left its CPU: which scratch it is in; or below 0. */
static __noinline int look_begin(struct task_struct *task, const struct off_cpu_task *t)
{
	struct moment m = { .event = EVENT_OFF_CPU,
			    .source = EVENT_SOURCE_OFF_CPU,
			    .is_held = true };
	struct scratch *s = scratch_claim();

	if (!s)
		return -1;
	m.values[WIRE_VALUE_ID] = look_id;
	if (off_cpu_reasons)
		m.reason = wait_reason(task, t->state);
	begin_record(s, &m, task, look_pid, look_tid);
	s->record.head.cgroup_id = look_cgroup_id;
	another_is(task, look_since_ns);
	return s->level;
}

/* Whether the wait goes on: what was read of the task since it was marked holds. */
static __always_inline bool look_goes_on(const struct off_cpu_prediction *p)
{
	return *(volatile const __u64 *)&p->decided == (look_before | DECIDED_BUSY);
}

/* False: there is none. */
static __always_inline bool look_take(struct task_struct *task, const struct off_cpu_task *t,
				      const struct off_cpu_prediction *p)
{
	int level = look_begin(task, t);
	__u32 event = EVENT_OFF_CPU;
	struct wire_counters *count = bpf_map_lookup_elem(&counters, &event);
	struct scratch *s = level >= 0 ? bpf_map_lookup_elem(&scratch, &level) : NULL;
	bool is_emitted = false;
	__u32 bytes;

	if (!s)
		return false;
	bytes = count ? open_stacks(s, task, count) : 0;
	if (count && look_goes_on(p))
		is_emitted = open_put(s, bytes, count);
	else
		duration_lose(EVENT_OFF_CPU);
	scratch_release(s);
	return is_emitted;
}

/* What a look has taken is taken anew with each interval: the runtime of its process may be known by now, as it is where waits that go on are samples of their own. */
static __always_inline bool look_needs_stack(void)
{
	if (!(look_after & DECIDED_TAKEN))
		return false;
	return !(look_before & DECIDED_TAKEN) ||
	       (look_is_told && look_before & DECIDED_OUTSIDE);
}

/* What lies before now. */
static __noinline int look_tell(struct task_struct *task, struct off_cpu_task *t,
				struct off_cpu_prediction *p)
{
	/* It has left again meanwhile: all that is kept is of another wait. */
	if (p->left_ns != look_left_ns) {
		duration_lose(EVENT_OFF_CPU);
		return 0;
	}
	if (look_after & DECIDED_TAKEN)
		off_cpu_tell(task, t, p, look_after | DECIDED_BUSY, look_now_ns);
	else if (look_before & DECIDED_TAKEN)
		off_cpu_tell(task, t, p, look_after, 0);
	p->since_ns = look_now_ns;
	__sync_val_compare_and_swap(&t->since_ns, look_since_ns, look_now_ns);
	return 0;
}

/* The wait goes on, or its end is told here. */
static __noinline int look_end(struct task_struct *task, const struct off_cpu_task *t,
			       struct off_cpu_prediction *p)
{
	__u64 busy = look_before | DECIDED_BUSY;

	if (__sync_val_compare_and_swap(&p->decided, busy, look_after) == busy ||
	    !(look_after & DECIDED_TAKEN))
		return 0;
	/* Where it has left again meanwhile, it is not known any more when it was back. */
	if (p->left_ns == look_left_ns)
		off_cpu_tell(task, t, p, look_after, p->back_ns);
	else
		duration_lose(EVENT_OFF_CPU);
	return 0;
}

SEC("?iter.s/task")
int off_cpu_look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct off_cpu_prediction *p;
	struct off_cpu_task *t;

	if (!task || !open_since(task) || KERNEL_FIELD(task, on_cpu, 1))
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	p = bpf_task_storage_get(&off_cpu_predictions, task, NULL, 0);
	if (!t || !p || !look_decide(task, t, p))
		return 0;
	if (__sync_val_compare_and_swap(&p->decided, look_before, look_before | DECIDED_BUSY) !=
	    look_before)
		return 0;
	/* Marked: nobody else tells anything of it. */
	if (look_needs_stack()) {
		look_after |= DECIDED_OUTSIDE;
		/* One that was taken before keeps the stack that it has. */
		if (!look_take(task, t, p) && !(look_before & DECIDED_TAKEN))
			look_after &= ~DECIDED_TAKEN;
	}
	if (look_is_told)
		look_tell(task, t, p);
	look_end(task, t, p);
	return 0;
}

#endif
