/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The common end of every event's program: the process, its stack, the record.
 *
 *	event → counted → wanted? → kernel stack → user registers → walk → record → ring
 *
 * Every event ends in exactly one of the counters emitted, idle, filtered, lost.
 */
#ifndef XAGENT_BPF_CAPTURE_BPF_H
#define XAGENT_BPF_CAPTURE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/connection.bpf.h"
#include "bpf/copy.bpf.h"
#include "bpf/kernel.h"
#include "bpf/regs.bpf.h"
#include "bpf/runtime.bpf.h"
#include "bpf/thin.bpf.h"
#include "bpf/thread_name.bpf.h"
#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

/* Knobs, set between open and load; the verifier removes what they switch off. */
const volatile bool want_kernel = true;
const volatile bool want_user = true;
const volatile bool filter_pids = false;
const volatile bool filter_tids = false;
const volatile bool filter_cgroup = false;
/* 0: the agent is in the initial pid namespace; else the inode of its own. */
const volatile __u32 pid_namespace = 0;
/* Bytes waiting in the ring from which on the agent is woken; below it polls. */
const volatile __u64 wake_bytes = 1 << 16;

/* Nesting limit of pid namespaces (MAX_PID_NS_LEVEL, include/linux/pid_namespace.h). */
#define PID_NS_LEVELS 33

/* The agent is woken after two or three samples of processes that it does not know: they come until it has looked, and a process that lives for
 * milliseconds can be looked at for as long. */
#define USER_UNWOUND_WAKE_BYTES 8192

/* What a program knows of the moment that it was called at. */
struct moment {
	void *ctx; /* of the program, for bpf_get_stack() */
	const struct bpf_perf_event_data
		*interrupted; /* registers; NULL: those with which the task entered the kernel */
	__u64 values[EVENT_MAX_VALUES];
	__u8 event;
	__u16 source;
	__u32 reason;	   /* as of struct wire_sample */
	__u8 n_own_frames; /* of the kernel stack: those that called the program */
	bool user_only;	   /* the kernel's frames say nothing: they are those of the entry code */
	bool is_held;	   /* ends tell its values (WIRE_HELD) */
	__u64 socket; /* whose ends the record has in place of kernel frames; 0: none */
	__u64 asked;  /* where the program has written the peer that it wants; 0: nowhere */
	__u64 bytes;  /* of block I/O */
};

/* An argument of the tracepoint. To the verifier a pointer is no number, as it has to be for a function of its own: so it is read. */
static __always_inline __u64 moment_argument(const __u64 *at)
{
	__u64 argument = 0;

	bpf_probe_read_kernel(&argument, sizeof(argument), at);
	return argument;
}

/* The event is counted: from here on it has to end in one of the others. NULL: never. */
static __always_inline struct wire_counters *moment_count(__u32 event)
{
	struct wire_counters *count = bpf_map_lookup_elem(&counters, &event);

	if (count)
		count->ticks++;
	return count;
}

/*
 * Room to walk, on this CPU the caller's alone until it is released. Programs on a CPU lie within each other, when a tick interrupts one, or
 * alternate, when one is preempted (probes run in a task's context): so each takes what is free, by one instruction.
 */
static __always_inline struct scratch *scratch_claim(void)
{
	for (__u32 i = 0; i < SCRATCH_MAX_LEVELS; i++) {
		__u32 level = i;
		struct scratch *s = bpf_map_lookup_elem(&scratch, &level);

		if (!s)
			return NULL;
		if (__sync_val_compare_and_swap(&s->is_claimed, 0, 1))
			continue;
		s->level = i;
		return s;
	}
	return NULL;
}

static __always_inline void scratch_release(struct scratch *s)
{
	*(volatile __u32 *)&s->is_claimed = 0;
}

static __always_inline bool pids_can_be_translated(void)
{
	return bpf_core_field_exists(struct task_struct, group_leader) &&
	       bpf_core_field_exists(struct task_struct, thread_pid) &&
	       bpf_core_field_exists(struct pid, level) &&
	       bpf_core_field_exists(struct pid, numbers) &&
	       bpf_core_field_exists(struct upid, nr) && bpf_core_field_exists(struct upid, ns) &&
	       bpf_core_field_exists(struct pid_namespace, ns.inum);
}

/* The number that the namespace of the agent gives to `pid`; 0 when it is not visible there. */
static __always_inline __u32 pid_translate(struct pid *pid)
{
	__u32 level = BPF_CORE_READ(pid, level);
	__u32 numbers = bpf_core_field_offset(struct pid, numbers);
	__u32 stride = bpf_core_type_size(struct upid);

	for (__u32 i = 0; i < PID_NS_LEVELS; i++) {
		struct upid *u = (void *)pid + numbers + i * stride;

		if (i > level)
			break;
		if (BPF_CORE_READ(u, ns, ns.inum) == pid_namespace)
			return BPF_CORE_READ(u, nr);
	}
	return 0;
}

/* The process in the upper half, the thread in the lower one. `of_host`: as the host numbers them. */
static __always_inline __u64 task_ids_of(struct task_struct *task, __u64 of_host)
{
	__u64 pid, tid;

	if (!pid_namespace)
		return of_host;
	if (!pids_can_be_translated())
		return 0;
	pid = pid_translate(BPF_CORE_READ(task, group_leader, thread_pid));
	tid = pid_translate(BPF_CORE_READ(task, thread_pid));
	return pid << 32 | tid;
}

/* Of the present task. A function of its own for its stack, which is not to lie below that of the walk. */
__noinline __u64 task_ids(void)
{
	return task_ids_of(bpf_get_current_task_btf(), bpf_get_current_pid_tgid());
}

static __always_inline bool wanted(__u32 pid, __u32 tid)
{
	if (filter_pids && !bpf_map_lookup_elem(&wanted_pids, &pid))
		return false;
	if (filter_tids && !bpf_map_lookup_elem(&wanted_tids, &tid))
		return false;
	if (filter_cgroup && bpf_current_task_under_cgroup(&wanted_cgroup, 0) != 1)
		return false;
	return true;
}

/* The registers with which user code was left; false for 32-bit processes. */
static __always_inline bool user_regs(const struct moment *m, struct task_struct *task,
				      struct scratch *s, bool *ret_is_fresh_clone)
{
	struct pt_regs___kernel *saved;
	__u64 call = REGS_NO_CALL;
	bool native;

	if (m->interrupted && s->record.head.flags & WIRE_USER_MODE) {
		native = regs_interrupted(m->interrupted, &s->regs);
	} else {
		saved = (void *)bpf_task_pt_regs(task);
		native = regs_saved(saved, &s->regs);
		call = regs_call(saved);
		if (regs_behind_call(saved))
			s->record.head.flags |= WIRE_IN_SYSCALL;
	}
	*ret_is_fresh_clone = regs_is_fresh_clone(&s->regs, call);
	return native;
}

/* The pc of a system call is behind the instruction, which may be the last of its function. */
static __always_inline void walk_begin(struct scratch *s, const struct wire_process *process)
{
	s->regs_flags = WIRE_USER_UNWOUND_EXACT;
	s->n_right = 0;
	unwind_begin(&s->walk, &s->regs, process, UNWIND_EXACT,
		     s->record.head.flags & WIRE_IN_SYSCALL);
	s->regs.pc = s->walk.pc;
	s->walk.end = STOP_REASON_DEPTH;
}

static __always_inline void walk(struct scratch *s, struct wire_counters *count)
{
	__u32 level = s->level;

	if (RUNTIME_ANY && s->runtime.of.kind != RUNTIME_NONE)
		bpf_loop(2 * WIRE_MAX_USER_FRAMES, runtime_step, &level, 0);
	else
		bpf_loop(WIRE_MAX_USER_FRAMES, walk_step, &level, 0);
	s->record.head.end = s->walk.end;
	count->cfi_frames += s->walk.n_cfi;
	count->fp_frames += s->walk.n_fp;
	count->signal_frames += s->walk.n_signal;
	count->raw_frames += s->walk.n_raw;
	count->window_fills += s->n_fills;
	count->mapping_searches += s->n_searches;
}

static __always_inline bool is_in_exec(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve);
}

/*
 * A process that exits, or that execs and is past the point of no return, has lost its memory: there is no user stack any more. What is there
 * instead may lie at the same addresses, but belongs to the next image, as registers do not yet: it has arguments and an environment when all
 * of it is mapped (create_elf_tables(), fs/binfmt_elf.c), right before they are set.
 */
static __always_inline bool lost_memory(struct task_struct *task, struct scratch *s)
{
	struct mm_struct *mm = KERNEL_FIELD(task, mm, NULL);

	if (is_in_exec(task) && mm && KERNEL_READ(mm, env_end, 1) == 0)
		return true;
	if (!walk_fill(s->level, s->regs.reg[WIRE_ABI_SP]))
		return false;
	return (bpf_core_field_exists(task->mm) && !mm) || is_in_exec(task);
}

/*
 * The walk stopped where only the agent knows more: it goes on from there, with the frames so far. Where a register is needed that lies
 * saved further down, it begins anew, and keeps all registers this time. sp is saved nowhere.
 */
static __always_inline bool needs_agent(struct scratch *s)
{
	__u32 end = s->walk.end;

	if (end == STOP_REASON_REGISTER)
		return !(s->walk.flags & UNWIND_SP_LOWEST);
	if (end != STOP_REASON_NO_TABLE && end != STOP_REASON_NO_MAPPING)
		return false;
	s->regs.pc = s->walk.pc;
	__builtin_memcpy(s->regs.reg, s->walk.reg, sizeof(s->regs.reg));
	s->regs_flags = s->walk.flags;
	s->n_right = s->record.head.n_user ? s->record.head.n_user - 1 : 0;
	return true;
}

/* What the walk has read is the agent's to give to others; when it did so meanwhile, what was found may be anything. */
static __always_inline bool was_replaced(struct scratch *s, __u64 reused)
{
	struct wire_process *process = bpf_map_lookup_elem(&processes, &s->record.head.pid);

	return reuse_count != reused || !process ||
	       process->generation != s->record.head.generation;
}

/* Only the leaf's pc is beyond doubt; a walk by frame pointers alone would be a guess. */
static __always_inline void leave_to_agent(struct scratch *s)
{
	__u32 at = s->record.head.n_kernel;

	if (at <= WIRE_MAX_KERNEL_FRAMES)
		s->record.words[at] = WIRE_FRAME_RAW_OF(s->regs.pc);
	s->record.head.n_user = 1;
	s->record.head.generation = 0;
	s->record.head.end = STOP_REASON_NO_TABLE;
}

/* The agent has said that nobody wants to see this process. One that was moved since is told again. */
static __always_inline bool is_refused(const struct wire_process *process)
{
	return process && !process->generation &&
	       process->refused_cgroup == (__u32)bpf_get_current_cgroup_id();
}

/*
 * Whether there is a table, of the image that runs. An exec leaves the table of the image before for as long as the agent has not heard of it,
 * and where both have code at the same addresses a walk by that would look right. Where the kernel does not count execs, all ids are 0.
 */
static __always_inline bool has_table(const struct scratch *s, const struct wire_process *process)
{
	return process && process->generation && process->exec_id == s->record.head.exec_id;
}

/* True when the agent has to finish what the walk has found. */
static __always_inline bool walk_or_leave(struct scratch *s, const struct wire_process *process,
					  struct wire_counters *count)
{
	bool is_known = has_table(s, process);
	__u64 reused = reuse_count;

	walk_begin(s, process);
	runtime_find(s, is_known ? process : NULL);
	if (!process || !is_known) {
		count->raw_frames++;
		leave_to_agent(s);
		runtime_list(s);
		return true;
	}
	s->record.head.generation = process->generation;
	walk(s, count);
	if (was_replaced(s, reused)) {
		count->remapped++;
		leave_to_agent(s);
		runtime_list_anew(s);
		return true;
	}
	if (!needs_agent(s)) {
		/* Runs whose activation was not reached are shown behind the last frame. At the limit of depth there is no room for them. */
		if (s->walk.end != STOP_REASON_DEPTH)
			runtime_list_rest(s);
		return false;
	}
	runtime_find_mapped_since(s);
	if (s->walk.end == STOP_REASON_REGISTER)
		runtime_list_behind_leaf(s);
	else
		runtime_list(s);
	return true;
}

/* Nobody has called a task whose stack is new and empty, whatever the rules of the one that made it say. */
static __always_inline bool end_at_leaf(struct scratch *s)
{
	s->record.head.n_user = 1;
	s->record.head.end = STOP_REASON_ROOT;
	return false;
}

/* The user half of the stack. True when the agent has to finish it. */
static __always_inline bool user_half(const struct moment *m, struct task_struct *task,
				      struct scratch *s, const struct wire_process *process,
				      struct wire_counters *count)
{
	bool is_fresh_clone = false;
	bool is_left;

	if (!user_regs(m, task, s, &is_fresh_clone)) {
		s->record.head.end = STOP_REASON_COMPAT;
		return false;
	}
	/* A worker that the kernel runs in a user process (io_uring, vhost) has never been in user code: its registers are zero. */
	if (!s->regs.reg[WIRE_ABI_SP] && !(s->record.head.flags & WIRE_USER_MODE))
		return false;
	walk_window_init(s);
	if (!(s->record.head.flags & WIRE_USER_MODE) && lost_memory(task, s))
		return false;
	is_left = walk_or_leave(s, process, count);
	runtime_count(s);
	return is_fresh_clone ? end_at_leaf(s) : is_left;
}

/* What there is of the record, with a copy of the stack where the agent has to finish it. 0 or -errno. */
static __always_inline long emit_any(struct scratch *s, struct task_struct *task, bool user_unwound,
				     struct wire_counters *count)
{
	__u64 waiting = bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA);
	__u64 wake = !user_unwound	       ? wake_bytes
		     : runtime_image_is_new(s) ? 0
					       : USER_UNWOUND_WAKE_BYTES;
	__u64 flags = waiting >= wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	__u32 bytes =
		sizeof(struct wire_sample) + (s->record.head.n_kernel + s->record.head.n_user) * 8;

	if (user_unwound)
		count->cold++;
	if (user_unwound && waiting < user_unwound_bytes)
		return emit_copy(s, task, user_unwound_bytes - waiting, flags, count);
	count->cold_limited += user_unwound;
	return emit_record(s, bytes, flags);
}

/* False: it was lost. */
static __always_inline bool emit(struct scratch *s, struct task_struct *task, bool user_unwound,
				 struct wire_counters *count)
{
	long r = emit_any(s, task, user_unwound, count);

	if (r)
		count->lost++;
	else
		count->emitted++;
	return !r;
}

static __always_inline void kernel_half(const struct moment *m, struct scratch *s,
					struct wire_counters *count)
{
	long bytes =
		bpf_get_stack(m->ctx, s->record.words, WIRE_MAX_KERNEL_FRAMES * 8, m->n_own_frames);

	if (bytes < 0)
		count->kernel_stack_errors++;
	else
		s->record.head.n_kernel = (__u64)bytes / 8;
}

static __always_inline void begin_record(struct scratch *s, const struct moment *m,
					 struct task_struct *task, __u32 pid, __u32 tid)
{
	s->record.head = (struct wire_sample){
		.record = { .type = WIRE_SAMPLE, .event = m->event, .source = m->source },
		.time_ns = bpf_ktime_get_ns(),
		.cgroup_id = bpf_get_current_cgroup_id(),
		.pid = pid,
		.tid = tid,
		.cpu = bpf_get_smp_processor_id(),
		.exec_id = (__u32)KERNEL_FIELD(task, self_exec_id, 0),
		.reason = m->reason,
		.end = STOP_REASON_NO_USER,
		.flags = m->is_held ? WIRE_HELD : 0,
	};
	__builtin_memcpy(s->record.head.values, m->values, sizeof(m->values));
	s->runtime.of.kind = s->beside.kind = RUNTIME_NONE;
	/* Nothing interrupts a tick, so what it finds half written in the cache of frames is not there; any other program could find that. */
	s->has_cache = m->event == EVENT_CPU;
}

/* Both halves of the stack. True when the agent has to finish the user's. */
static __always_inline bool take_stacks(const struct moment *m, struct task_struct *task,
					struct scratch *s, const struct wire_process *process,
					struct wire_counters *count)
{
	bool kthread = KERNEL_FIELD(task, flags, 0) & PF_KTHREAD;

	if (kthread)
		s->record.head.flags |= WIRE_KTHREAD;
	if (m->interrupted && regs_user_mode(m->interrupted))
		s->record.head.flags |= WIRE_USER_MODE;
	else if (m->socket)
		s->record.head.n_kernel = connection_put(s->level, m->socket, m->asked);
	else if (want_kernel && !m->user_only)
		kernel_half(m, s, count);
	if (!want_user || kthread)
		return false;
	return user_half(m, task, s, process, count);
}

/* Nothing to show: only kernel stacks are wanted and user code was interrupted, or the other way round. */
static __always_inline bool shows_nothing(const struct moment *m, struct task_struct *task)
{
	if (!want_user && (m->user_only || (m->interrupted && regs_user_mode(m->interrupted))))
		return true;
	return !want_kernel && KERNEL_FIELD(task, flags, 0) & PF_KTHREAD;
}

/* Ticks have their rate, and what lasts is weighed before. */
static __always_inline bool is_thinned(const struct moment *m)
{
	return m->event == EVENT_TRACEPOINT || m->event == EVENT_FAULTS ||
	       m->event == EVENT_TCP || m->event == EVENT_BLOCK_IO;
}

/* I/O that have a sample, so far. */
__u64 n_sampled_ios;

/*
 * How many I/O the sample stands for is known; how large those were, and how long they take, is not told by them but by this one. What others were worth must not be
 * added to it: where one stack reads 4 KiB and another 1 MiB, as often, each would be told half of the sum.
 */
static __always_inline void weigh_io(struct moment *m)
{
	m->values[WIRE_VALUE_BYTES] = m->bytes * m->values[WIRE_VALUE_IOS];
	m->values[WIRE_VALUE_ID] = __sync_fetch_and_add(&n_sampled_ios, 1) + 1;
}

/* The end of every program: whose moment it is, its stack, a record; true when there is one. `count` is from moment_count(). */
static __always_inline bool capture(struct moment *m, struct wire_counters *count)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_process *process;
	struct scratch *s;
	bool is_emitted;
	__u64 ids = task_ids();
	__u32 pid = ids >> 32, tid = (__u32)ids;
	bool user_unwound;

	if (shows_nothing(m, task) || !wanted(pid, tid)) {
		count->filtered++;
		return false;
	}
	process = bpf_map_lookup_elem(&processes, &pid);
	if (is_refused(process)) {
		count->filtered++;
		count->refused++;
		return false;
	}
	if (is_thinned(m) && !thin_passes(m->event, m->source, m->values)) {
		count->filtered++;
		count->thinned++;
		return false;
	}
	if (m->event == EVENT_BLOCK_IO)
		weigh_io(m);
	s = scratch_claim();
	if (!s) {
		count->lost++;
		count->lost_nested++;
		if (is_thinned(m))
			thin_leave(m->source, m->values);
		return false;
	}
	begin_record(s, m, task, pid, tid);
	user_unwound = take_stacks(m, task, s, process, count);
	if (want_thread_names || s->runtime.of.kind != RUNTIME_NONE)
		thread_note(s->level);
	/* A process that our pid namespace does not see has no number, and no /proc to be walked with. */
	if (user_unwound && !pid) {
		s->record.head.end = STOP_REASON_OUTSIDE_PID_NAMESPACE;
		user_unwound = false;
	}
	is_emitted = emit(s, task, user_unwound, count);
	if (!is_emitted && is_thinned(m))
		thin_leave(m->source, m->values);
	scratch_release(s);
	return is_emitted;
}

#endif
