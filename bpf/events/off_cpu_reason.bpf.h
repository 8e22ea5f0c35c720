/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a task waits for, or has waited for: from the state that it left its CPU with, the system call that it is in, and flags (bpf/waits.h).
 *
 *	state 0 ─► ready ─► stopped, or no user code ─► other ─► no system call ─► page fault ─► in_iowait ─► block I/O ─► by the call
 */
#ifndef XAGENT_BPF_EVENTS_OFF_CPU_REASON_BPF_H
#define XAGENT_BPF_EVENTS_OFF_CPU_REASON_BPF_H

#include "bpf/capture.bpf.h"
#include "bpf/waits.h"

/* include/linux/sched.h: __TASK_STOPPED, __TASK_TRACED, TASK_NOLOAD (as of a dump of memory), TASK_FROZEN */
#define WAIT_OTHER_STATES (0x4 | 0x8 | 0x400 | 0x8000)
/* PF_EXITING, PF_IO_WORKER, PF_DUMPCORE, PF_USER_WORKER: no user code waits */
#define WAIT_OTHER_FLAGS (0x4 | 0x10 | 0x200 | 0x4000)
/* include/uapi/linux/stat.h */
#define WAIT_S_IFMT 0170000
#define WAIT_S_IFSOCK 0140000
#define WAIT_S_IFIFO 0010000

static const volatile __u8 wait_by_call[WAIT_MAX_CALLS] = { WAIT_TABLE };

/* What the descriptor refers to now: a thread that closes it meanwhile and opens another one under its number is not known. */
static __always_inline __u32 wait_of_descriptor(struct task_struct *task, __u64 fd)
{
	struct files_struct *files = KERNEL_READ(task, files, NULL);
	struct fdtable *table = KERNEL_READ(files, fdt, NULL);
	struct file *file = NULL;
	__u16 mode;

	if (!table || (__u32)fd >= KERNEL_READ(table, max_fds, 0))
		return WAIT_OTHER;
	struct file **slot = KERNEL_READ(table, fd, NULL) + (__u32)fd;
	if (bpf_probe_read_kernel(&file, sizeof(file), slot) || !file)
		return WAIT_OTHER;
	if (!bpf_core_field_exists(file->f_inode) || !bpf_core_field_exists(struct inode, i_mode))
		return WAIT_OTHER;
	mode = BPF_CORE_READ(file, f_inode, i_mode) & WAIT_S_IFMT;
	return mode == WAIT_S_IFSOCK ? WAIT_SOCKET : mode == WAIT_S_IFIFO ? WAIT_PIPE : WAIT_FILE;
}

static __always_inline bool wait_is_for_io(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_iowait) && BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* What a completion is of is not known, and io_uring waits for any as if for a disk. */
static __always_inline __u32 wait_of_call(struct task_struct *task,
					  const struct pt_regs___kernel *saved, __u64 call)
{
	__u32 at = call & (WAIT_MAX_CALLS - 1), reason;

	/* Masked at run time: of an int that was found to be small, as it is on AArch64, the verifier of 6.1 takes the lower half alone to be so. */
	barrier_var(at);
	reason = call < WAIT_MAX_CALLS ? wait_by_call[at] : 0;
	if (reason != WAIT_ASYNC_IO && wait_is_for_io(task))
		return WAIT_BLOCK_IO;
	if (reason == WAIT_BY_DESCRIPTOR)
		return wait_of_descriptor(task, regs_first_argument(saved));
	return reason ? reason : WAIT_OTHER;
}

/* `state`: that it left its CPU with, 0 when it was preempted. */
static __always_inline __u32 wait_reason(struct task_struct *task, __u32 state)
{
	struct pt_regs___kernel *saved = (void *)bpf_task_pt_regs(task);
	__u64 call;

	if (!state)
		return WAIT_READY;
	if (state & WAIT_OTHER_STATES || KERNEL_FIELD(task, flags, 0) & WAIT_OTHER_FLAGS)
		return wait_is_for_io(task) ? WAIT_BLOCK_IO : WAIT_OTHER;
	if (regs_of_other_machine(task, saved))
		return wait_is_for_io(task) ? WAIT_BLOCK_IO : WAIT_OTHER;
	call = regs_call(saved);
	return call == REGS_NO_CALL ? WAIT_PAGE_FAULT : wait_of_call(task, saved, call);
}

/* Of the present task. A function of its own for its stack, which is not to lie below that of the walk. */
__noinline int wait_reason_now(__u32 state)
{
	return wait_reason(bpf_get_current_task_btf(), state);
}

#endif
