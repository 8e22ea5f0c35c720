/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of /proc/PID/stat and /proc/PID/status. Pure. */
#ifndef XAGENT_AGENT_PROCESS_PROC_STAT_H
#define XAGENT_AGENT_PROCESS_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/str.h"

/* include/linux/sched.h: stable since 2.6.30, and shown in /proc/PID/stat as they are. */
#define PROC_PF_EXITING 0x00000004U
#define PROC_PF_KTHREAD 0x00200000U

struct proc_stat {
	uint32_t pid;
	struct str comm; /* borrowed from the text */
	char state;
	uint32_t parent_pid;
	uint64_t flags;	      /* PROC_PF_* */
	uint64_t n_threads;   /* of the process; a dead leader counts until it is reaped */
	uint64_t start_ticks; /* since boot, in clock ticks */
	/* Where the kernel has put the code and the stack: at random, anew with each execve(2). 0: not told, as to who may not trace it. */
	uint64_t code_at, stack_at;
};

/* 0 or -EINVAL. */
int proc_stat_parse(struct str text, struct proc_stat *ret_stat);

/* The thread whose stat this is runs no user code any more. */
bool proc_stat_is_dead(const struct proc_stat *s);

/* The real user id. 0 or -EINVAL. */
int proc_status_uid(struct str text, uint32_t *ret_uid);

#endif
