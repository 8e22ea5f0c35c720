/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits that are not over: what of them lies before now becomes a sample, and the rest begins now.
 *
 *	off_cpu_sum: how long all open waits are together ──► the agent chooses the step ──► off_cpu_open: sample, or not; since = now
 *
 * Two iterators over all tasks, which a thread of the agent runs. The task does not run: its registers lie where it entered the kernel, its stack is read
 * through its memory map, which may sleep, and the agent walks the copy. If it has woken up meanwhile, `since` is not what it was: the program at its
 * return has the whole wait, and nothing is emitted here. So no nanosecond is counted twice.
 */
#ifndef XAGENT_BPF_EVENTS_OFF_CPU_OPEN_BPF_H
#define XAGENT_BPF_EVENTS_OFF_CPU_OPEN_BPF_H

#include "bpf/events/off_cpu.bpf.h"

/* The number of the directory in the map `wanted_cgroup`. */
const volatile __u64 wanted_cgroup_id = 0;
/* Processes lie some ten levels deep in a pod that runs containers of its own. */
#define OPEN_CGROUP_LEVELS 32

/* Set by the agent before each run. Waits that are as long are all taken, as are all where it is 0. */
__u64 off_cpu_open_step_ns = 0;
/* Before each run a random number; of it, a part of WEIGH_ONE counts. */
__u32 off_cpu_open_at = 0;
/* By off_cpu_sum, from 0 on. */
__u64 off_cpu_open_sum_ns = 0;
__u64 off_cpu_open_n = 0;
/* Of these, of processes with a runtime. */
__u64 off_cpu_open_n_runtime = 0;

/* Steps in a wait, less than one, in parts of WEIGH_ONE; or that. */
static __always_inline __u32 open_threshold(__u64 duration_ns)
{
	__u64 step_ns = off_cpu_open_step_ns, threshold;

	if (duration_ns >= step_ns)
		return WEIGH_ONE;
	threshold = (duration_ns << WEIGH_BITS) / step_ns;
	return threshold ? threshold : 1;
}

/*
 * Waits are laid end to end, and the one at each step is taken: it has its chance whatever the others are, as the first step is anywhere. The sum over those
 * that lie beside each other, as threads of a process do, is off by a step at most.
 */
static __always_inline bool open_is_taken(__u32 threshold)
{
	if (threshold == WEIGH_ONE)
		return true;
	off_cpu_open_at = (off_cpu_open_at & (WEIGH_ONE - 1)) + threshold;
	return off_cpu_open_at >= WEIGH_ONE;
}

/* The programs of switches may interrupt this one, and count by the same words. */
static __always_inline void open_count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/* 0: the task runs, is gone, or is nobody's to look at. */
static __always_inline __u64 open_since(struct task_struct *task)
{
	struct off_cpu_task *t;

	if (!task || KERNEL_FIELD(task, flags, 0) & PF_KTHREAD || KERNEL_FIELD(task, exit_state, 1))
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	return t ? t->since_ns : 0;
}

/* Of a process that matches a target, as far as is known, and that was asked for. */
static __always_inline bool open_is_wanted(__u32 pid, __u32 tid, __u64 cgroup_id)
{
	struct wire_process *process = bpf_map_lookup_elem(&processes, &pid);

	if (filter_pids && !bpf_map_lookup_elem(&wanted_pids, &pid))
		return false;
	if (filter_tids && !bpf_map_lookup_elem(&wanted_tids, &tid))
		return false;
	return !process || process->generation || process->refused_cgroup != (__u32)cgroup_id;
}

/* Its control group of the unified hierarchy; 0 where the kernel does not say so. */
static __always_inline __u64 open_cgroup(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->cgroups) ||
	    !bpf_core_field_exists(struct css_set, dfl_cgrp) ||
	    !bpf_core_field_exists(struct cgroup, kn) ||
	    !bpf_core_field_exists(struct kernfs_node, id))
		return 0;
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* As bpf_current_task_under_cgroup(), which is about the current task. Where the kernel does not say so, its wait counts when it is over. */
static __always_inline bool open_is_in_cgroup(struct task_struct *task)
{
	struct cgroup *group;

	if (!open_cgroup(task) || !bpf_core_field_exists(struct cgroup, self) ||
	    !bpf_core_field_exists(struct cgroup_subsys_state, cgroup) ||
	    !bpf_core_field_exists(struct cgroup_subsys_state, parent))
		return false;
	group = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	for (int i = 0; i < OPEN_CGROUP_LEVELS && group; i++) {
		if (BPF_CORE_READ(group, kn, id) == wanted_cgroup_id)
			return true;
		group = BPF_CORE_READ(group, self.parent, cgroup);
	}
	return false;
}

/* Whose wait it is. False: nobody wants to see it. */
static __always_inline bool open_whose(struct task_struct *task, __u32 *pid, __u32 *tid,
				       __u64 *cgroup_id)
{
	__u64 ids = task_ids_of(task, (__u64)(__u32)KERNEL_FIELD(task, tgid, 0) << 32 |
					      (__u32)KERNEL_FIELD(task, pid, 0));

	*pid = ids >> 32;
	*tid = (__u32)ids;
	*cgroup_id = open_cgroup(task);
	return (!filter_cgroup || open_is_in_cgroup(task)) &&
	       open_is_wanted(*pid, *tid, *cgroup_id);
}

SEC("?iter/task")
int off_cpu_sum(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 since_ns = open_since(task), now_ns = bpf_ktime_get_ns(), cgroup_id;
	const struct wire_process *process;
	__u32 pid, tid;

	if (!task || !since_ns || since_ns >= now_ns || !open_whose(task, &pid, &tid, &cgroup_id))
		return 0;
	off_cpu_open_sum_ns += now_ns - since_ns;
	off_cpu_open_n++;
	process = bpf_map_lookup_elem(&processes, &pid);
	off_cpu_open_n_runtime += process && process->runtime;
	return 0;
}

/* As deep as it is, up to WIRE_COPY_BYTES, page by page: behind the stack's end there is nothing. Bytes that were copied. */
static __always_inline __u32 open_copy(struct scratch *s, struct task_struct *task, __u32 to)
{
	__u64 from = copy_from(s), depth = stack_depth(task, from);
	__u32 done = 0;

	if (bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >= user_unwound_bytes)
		return 0;
	for (int page = 0; page < WIRE_COPY_BYTES / WIRE_PAGE_BYTES; page++) {
		__u32 n = WIRE_PAGE_BYTES - (from & (WIRE_PAGE_BYTES - 1));
		__u32 at = to + done;

		barrier_var(at);
		if (at > sizeof(s->record.words) - WIRE_PAGE_BYTES || done >= depth ||
		    bpf_copy_from_user_task((char *)s->record.words + at,
					    n & (2 * WIRE_PAGE_BYTES - 1), (void *)from, task, 0))
			break;
		done += n;
		from += n;
	}
	return done & ~7u;
}

#ifdef WALKS_ANOTHER_TASK
int another_waits(void)
{
	struct task_struct *task = bpf_task_from_pid((__s32)another_ids);
	struct off_cpu_task *t;
	bool waits;

	if (!task)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	waits = t && t->since_ns == another_since_ns;
	bpf_task_release(task);
	return waits;
}

/* Of a process with a runtime: what its frames are can be told here only. True when the agent has to finish it. */
static __always_inline bool open_walk(struct scratch *s, struct task_struct *task,
				      struct wire_counters *count)
{
	struct wire_process *process = bpf_map_lookup_elem(&processes, &s->record.head.pid);
	const struct moment m = { .event = EVENT_OFF_CPU };

	return !process || !process->runtime || user_half(&m, task, s, process, count);
}
#else
static __always_inline bool open_walk(struct scratch *s, struct task_struct *task,
				      struct wire_counters *count)
{
	(void)s, (void)task, (void)count;
	return true;
}
#endif

/* What the agent walks, behind the frames. Bytes of the record. A function of its own: in a large one the verifier of 6.1 loses sight of the limit. */
static __noinline __u32 open_append_copy(struct scratch *s, struct task_struct *task,
					 struct wire_counters *count)
{
	__u32 at = s->record.head.n_kernel + s->record.head.n_user, done;

	if (at > WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)
		return 0;
	struct wire_user_unwound *user_unwound = (void *)&s->record.words[at];
	begin_copy(s, task, user_unwound);
	__builtin_memset(user_unwound->words, 0, sizeof(user_unwound->words));
	done = open_copy(s, task, at * 8 + sizeof(*user_unwound));
	open_count(&count->cold);
	if (!done)
		open_count(&count->cold_copy_errors);
	s->record.head.stack_words = done / 8;
	return sizeof(struct wire_sample) + at * 8 + sizeof(*user_unwound) + done;
}

/* The user half, walked or for the agent to walk. Bytes of the record. */
static __always_inline __u32 open_user_half(struct scratch *s, struct task_struct *task,
					    struct wire_counters *count)
{
	struct pt_regs___kernel *saved = (void *)bpf_task_pt_regs(task);
	__u32 at = s->record.head.n_kernel;

	if (!want_user || !regs_saved(saved, &s->regs) || !s->regs.reg[WIRE_ABI_SP])
		return sizeof(struct wire_sample) + at * 8;
	if (!open_walk(s, task, count))
		return sizeof(struct wire_sample) + (at + s->record.head.n_user) * 8;
	if (!s->record.head.n_user) {
		if (regs_call(saved) != REGS_NO_CALL)
			s->record.head.flags |= WIRE_IN_SYSCALL;
		walk_begin(s, NULL);
		leave_to_agent(s);
		s->image = s->library_image = s->library.text = 0;
	}
	return open_append_copy(s, task, count);
}

/* Both halves. Bytes of the record, or 0. */
static __always_inline __u32 open_stacks(struct scratch *s, struct task_struct *task,
					 struct wire_counters *count)
{
	long kernel = want_kernel ? bpf_get_task_stack(task, s->record.words,
						       WIRE_MAX_KERNEL_FRAMES * 8, 0)
				  : 0;

	if (kernel < 0)
		open_count(&count->kernel_stack_errors);
	else
		s->record.head.n_kernel = (__u64)kernel / 8;
	return open_user_half(s, task, count);
}

/* False: it is lost. */
static __always_inline bool open_put(struct scratch *s, __u32 bytes, struct wire_counters *count)
{
	bool is_emitted = bytes && !emit_record(s, bytes, BPF_RB_NO_WAKEUP);

	open_count(&count->ticks);
	open_count(is_emitted ? &count->emitted : &count->lost);
	return is_emitted;
}

/* Whose memory is read. */
static __always_inline void another_is(struct task_struct *task, __u64 since_ns)
{
	another_at = (__u64)task;
	another_ids =
		(__u64)(__u32)KERNEL_FIELD(task, tgid, 0) << 32 | (__u32)KERNEL_FIELD(task, pid, 0);
	another_since_ns = since_ns;
}

SEC("?iter.s/task")
int off_cpu_open(struct bpf_iter__task *ctx)
{
	struct moment m = { .event = EVENT_OFF_CPU, .source = EVENT_SOURCE_OFF_CPU };
	struct task_struct *task = ctx->task;
	__u64 since_ns = open_since(task), now_ns = bpf_ktime_get_ns(), ready_ns, cgroup_id;
	__u32 threshold, pid, tid, bytes, event = EVENT_OFF_CPU;
	struct wire_counters *count;
	struct off_cpu_task *t;
	struct scratch *s;

	if (!task || !since_ns || since_ns >= now_ns)
		return 0;
	t = bpf_task_storage_get(&off_cpu_tasks, task, NULL, 0);
	count = bpf_map_lookup_elem(&counters, &event);
	if (!t || !count)
		return 0;
	if (!open_whose(task, &pid, &tid, &cgroup_id))
		return 0;
	threshold = open_threshold(now_ns - since_ns);
	if (!open_is_taken(threshold)) {
		if (__sync_val_compare_and_swap(&t->since_ns, since_ns, now_ns) == since_ns) {
			open_count(&count->ticks);
			open_count(&count->filtered);
			open_count(&count->thinned);
		}
		return 0;
	}
	s = scratch_claim();
	if (!s)
		return 0;
	ready_ns = off_cpu_ready_ns(t, since_ns, now_ns);
	m.values[WIRE_VALUE_READY] = weigh_value(ready_ns, threshold, bpf_get_prandom_u32());
	m.values[0] = m.values[WIRE_VALUE_READY] +
		      weigh_value(now_ns - since_ns - ready_ns, threshold, bpf_get_prandom_u32());
	if (off_cpu_reasons)
		m.reason = wait_reason(task, t->state);
	begin_record(s, &m, task, pid, tid);
	s->record.head.cgroup_id = cgroup_id;
	another_is(task, since_ns);
	bytes = open_stacks(s, task, count);
	/* Else the wait was over before all was read, and is somebody else's. */
	if (__sync_val_compare_and_swap(&t->since_ns, since_ns, now_ns) == since_ns)
		open_put(s, bytes, count);
	scratch_release(s);
	return 0;
}

#endif
