/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sampler: one run for each timer tick on each CPU.
 *
 *	tick → wanted? → kernel stack → user registers → walk → record → ring
 *
 * Every tick ends in exactly one of the counters emitted, idle, filtered, lost.
 */
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/copy.bpf.h"
#include "bpf/kernel.h"
#include "bpf/regs.bpf.h"
#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Knobs, set between open and load; the verifier removes what they switch off. */
const volatile bool want_kernel = true;
const volatile bool want_user = true;
const volatile bool want_idle = false;
const volatile bool filter_pids = false;
const volatile bool filter_tids = false;
const volatile bool filter_cgroup = false;
/* 0: the agent is in the initial pid namespace; else the inode of its own. */
const volatile __u32 pid_namespace = 0;
/* Bytes waiting in the ring from which on the agent is woken; below it polls. */
const volatile __u64 wake_bytes = 1 << 16;
/* Bytes waiting in the ring from which on new processes get no stack copy. */
const volatile __u64 cold_bytes = 1 << 17;

/* Nesting limit of pid namespaces (MAX_PID_NS_LEVEL, include/linux/pid_namespace.h). */
#define PID_NS_LEVELS 33

/* The agent is woken after two or three samples of processes that it does not know: they come until it has looked, and a process that lives for
 * milliseconds can be looked at for as long. */
#define COLD_WAKE_BYTES 8192

static __always_inline struct wire_counters *counters_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
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

static __always_inline void task_ids(struct task_struct *task, __u32 *pid, __u32 *tid)
{
	if (pid_namespace) {
		*pid = pid_translate(BPF_CORE_READ(task, group_leader, thread_pid));
		*tid = pid_translate(BPF_CORE_READ(task, thread_pid));
	} else {
		__u64 both = bpf_get_current_pid_tgid();

		*pid = both >> 32;
		*tid = (__u32)both;
	}
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
static __always_inline bool user_regs(struct bpf_perf_event_data *ctx, struct task_struct *task,
				      struct scratch *s, bool *ret_is_newborn)
{
	struct pt_regs___kernel *saved;
	__u64 call = REGS_NO_CALL;
	bool native;

	if (s->record.head.flags & WIRE_USER_MODE) {
		native = regs_interrupted(ctx, &s->regs);
	} else {
		saved = (void *)bpf_task_pt_regs(task);
		native = regs_saved(saved, &s->regs);
		call = regs_call(saved);
		if (regs_behind_call(saved))
			s->record.head.flags |= WIRE_IN_SYSCALL;
	}
	*ret_is_newborn = regs_is_newborn(&s->regs, call);
	return native;
}

/* The pc of a system call is behind the instruction, which may be the last of its function. */
static __always_inline void walk_begin(struct scratch *s, const struct wire_process *process)
{
	s->regs_flags = WIRE_COLD_EXACT;
	s->n_right = 0;
	unwind_begin(&s->walk, &s->regs, process, UNWIND_EXACT,
		     s->record.head.flags & WIRE_IN_SYSCALL);
	s->regs.pc = s->walk.pc;
	s->walk.end = WIRE_END_DEPTH;
}

static __always_inline void walk(struct scratch *s, struct wire_counters *count)
{
	bpf_loop(WIRE_MAX_USER_FRAMES, walk_step, NULL, 0);
	s->record.head.end = s->walk.end;
	count->cfi_frames += s->walk.n_cfi;
	count->fp_frames += s->walk.n_fp;
	count->signal_frames += s->walk.n_signal;
	count->raw_frames += s->walk.n_raw;
	count->window_fills += s->n_fills;
	count->mapping_searches += s->n_searches;
}

/* A process that exits, or that execs and is past the point of no return, has lost its memory: there is no user stack any more. */
static __always_inline bool lost_memory(struct task_struct *task, struct scratch *s)
{
	if (!walk_fill(s->regs.reg[WIRE_ABI_SP]))
		return false;
	return !task->mm || BPF_CORE_READ_BITFIELD(task, in_execve);
}

/*
 * The walk stopped where only the agent knows more: it goes on from there, with the frames so far. Where a register is needed that lies
 * saved further down, it begins anew, and keeps all registers this time.
 */
static __always_inline bool needs_agent(struct scratch *s)
{
	__u32 end = s->walk.end;

	if (end == WIRE_END_REGISTER)
		return true;
	if (end != WIRE_END_NO_TABLE && end != WIRE_END_NO_MAPPING)
		return false;
	s->regs.pc = s->walk.pc;
	__builtin_memcpy(s->regs.reg, s->walk.reg, sizeof(s->regs.reg));
	s->regs_flags = s->walk.flags & UNWIND_EXACT ? WIRE_COLD_EXACT : 0;
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

	if (at < WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_FRAMES)
		s->record.words[at] = WIRE_FRAME_RAW | s->regs.pc;
	s->record.head.n_user = 1;
	s->record.head.generation = 0;
	s->record.head.end = WIRE_END_NO_TABLE;
}

/* The agent has said that nobody wants to see this process. One that was moved since is told again. */
static __always_inline bool is_refused(const struct wire_process *process)
{
	return process && !process->generation &&
	       process->refused_cgroup == (__u32)bpf_get_current_cgroup_id();
}

/* True when the agent has to finish what the walk has found. */
static __always_inline bool walk_or_leave(struct scratch *s, const struct wire_process *process,
					  struct wire_counters *count)
{
	__u64 reused = reuse_count;

	walk_begin(s, process);
	if (!process || !process->generation) {
		count->raw_frames++;
		leave_to_agent(s);
		return true;
	}
	s->record.head.generation = process->generation;
	walk(s, count);
	if (was_replaced(s, reused)) {
		count->remapped++;
		leave_to_agent(s);
		return true;
	}
	return needs_agent(s);
}

/* Nobody has called a task whose stack is new and empty, whatever the rules of the one that made it say. */
static __always_inline bool end_at_leaf(struct scratch *s)
{
	s->record.head.n_user = 1;
	s->record.head.end = WIRE_END_ROOT;
	return false;
}

/* The user half of the stack. True when the agent has to finish it. */
static __always_inline bool user_half(struct bpf_perf_event_data *ctx, struct task_struct *task,
				      struct scratch *s, const struct wire_process *process,
				      struct wire_counters *count)
{
	bool is_newborn = false;
	bool is_left;

	if (!user_regs(ctx, task, s, &is_newborn)) {
		s->record.head.end = WIRE_END_COMPAT;
		return false;
	}
	/* A worker that the kernel runs in a user process (io_uring, vhost) has never been in user code: its registers are zero. */
	if (!s->regs.reg[WIRE_ABI_SP] && !(s->record.head.flags & WIRE_USER_MODE))
		return false;
	walk_window_init(s);
	if (!(s->record.head.flags & WIRE_USER_MODE) && lost_memory(task, s))
		return false;
	is_left = walk_or_leave(s, process, count);
	return is_newborn ? end_at_leaf(s) : is_left;
}

static __always_inline void emit(struct scratch *s, struct task_struct *task, bool cold,
				 struct wire_counters *count)
{
	__u64 waiting = bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA);
	__u64 wake = cold ? COLD_WAKE_BYTES : wake_bytes;
	__u64 flags = waiting >= wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	__u32 bytes =
		sizeof(struct wire_sample) + (s->record.head.n_kernel + s->record.head.n_user) * 8;
	long r;

	if (cold)
		count->cold++;
	if (cold && waiting < cold_bytes)
		r = emit_copy(s, task, cold_bytes - waiting, flags, count);
	else {
		count->cold_limited += cold;
		r = emit_record(s, bytes, flags);
	}
	if (r)
		count->lost++;
	else
		count->emitted++;
}

static __always_inline void kernel_half(struct bpf_perf_event_data *ctx, struct scratch *s,
					struct wire_counters *count)
{
	long bytes = bpf_get_stack(ctx, s->record.words, WIRE_MAX_KERNEL_FRAMES * 8, 0);

	if (bytes < 0)
		count->kernel_stack_errors++;
	else
		s->record.head.n_kernel = (__u64)bytes / 8;
}

static __always_inline void begin_record(struct scratch *s, __u32 pid, __u32 tid)
{
	s->record.head = (struct wire_sample){
		.time_ns = bpf_ktime_get_ns(),
		.cgroup_id = bpf_get_current_cgroup_id(),
		.pid = pid,
		.tid = tid,
		.cpu = bpf_get_smp_processor_id(),
		.end = WIRE_END_NO_USER,
	};
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_counters *count = counters_get();
	__u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	bool kthread = task->flags & PF_KTHREAD;
	struct wire_process *process;
	bool cold = false;
	__u32 pid, tid;

	if (!count || !s)
		return 0;
	count->ticks++;
	if (task->pid == 0 && !want_idle) {
		count->idle++;
		return 0;
	}
	task_ids(task, &pid, &tid);
	/* Nothing to show: only kernel stacks are wanted and user code was interrupted, or the other way round. */
	if ((!want_user && regs_user_mode(ctx)) || (!want_kernel && kthread) || !wanted(pid, tid)) {
		count->filtered++;
		return 0;
	}
	process = bpf_map_lookup_elem(&processes, &pid);
	if (is_refused(process)) {
		count->filtered++;
		count->refused++;
		return 0;
	}
	begin_record(s, pid, tid);
	if (kthread)
		s->record.head.flags |= WIRE_KTHREAD;
	if (regs_user_mode(ctx))
		s->record.head.flags |= WIRE_USER_MODE;
	else if (want_kernel)
		kernel_half(ctx, s, count);
	if (want_user && !kthread)
		cold = user_half(ctx, task, s, process, count);
	/* A process that our pid namespace does not see has no number, and no /proc to be walked with. */
	if (cold && !pid) {
		s->record.head.end = WIRE_END_STRANGER;
		cold = false;
	}
	emit(s, task, cold, count);
	return 0;
}
