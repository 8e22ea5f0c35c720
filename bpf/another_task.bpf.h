/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory of another task than the present one, for all that reads the memory of the present one.
 *
 * An iterator of tasks walks the stacks of those that wait. What walks a stack and tells the frames of runtimes reads with bpf_probe_read_user(), which
 * knows the present task only. So the programs are compiled a second time, as bpf/waiting.bpf.c, and there that is a function that reads through the other
 * task's memory map. It may sleep. The task is found anew for each read, for a function that the verifier looks at by itself can be given none.
 *
 * Both have these variables, so that both have the same layout and can share maps. There is one iterator at a time.
 */
#ifndef XAGENT_BPF_ANOTHER_TASK_BPF_H
#define XAGENT_BPF_ANOTHER_TASK_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/kernel.h"

__u64 another_at = 0;	    /* where the kernel has it */
__u64 another_ids = 0;	    /* process and thread, as the host numbers them */
__u64 another_since_ns = 0; /* since when it waits */

#ifdef WALKS_ANOTHER_TASK

/* Since 6.2. */
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/* Whether it still waits as it did: what was read of it since then holds. */
int another_waits(void);

static __always_inline long another_read(void *to, __u32 n, const void *from)
{
	struct task_struct *task = bpf_task_from_pid((__s32)another_ids);
	long r;

	if (!task)
		return -1;
	r = bpf_copy_from_user_task(to, n, from, task, 0);
	bpf_task_release(task);
	return r;
}

/* A text at the end of a page cannot be had: it has no length then. */
static __always_inline long another_read_text(char *to, __u32 n, const void *from)
{
	if (another_read(to, n, from))
		return -1;
	for (__u32 i = 0; i < n; i++)
		if (!to[i])
			return i + 1;
	return -1;
}

#define bpf_probe_read_user(to, n, from) another_read((to), (n), (from))
#define bpf_probe_read_user_str(to, n, from) another_read_text((to), (n), (from))
/* To be read through KERNEL_READ. */
#define bpf_get_current_task_btf() ((struct task_struct *)another_at)
#define bpf_get_current_pid_tgid() (another_ids)
/* Of a process without a table the agent walks a copy of the stack. */
#define bpf_find_vma(task, at, fn, data, flags) ((void)(at), (void)(fn), (void)(data), -1)

#else

static __always_inline bool another_waits(void)
{
	return true;
}

#endif

#endif
