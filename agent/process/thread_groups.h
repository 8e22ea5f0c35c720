/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process has ended, told from exits of threads.
 *
 * The kernel reports the exit of each thread, and a process whose main thread called pthread_exit
 * lives on. So threads are counted: exactly for processes whose fork or exec the agent has seen (an
 * exec leaves one thread), which is free of system calls. Of older processes the number is not
 * known. After the exit of their leader, and after each later exit of a thread,
 * thread_groups_recheck() looks for them in /proc THREAD_GROUPS_RECHECKS times, since the kernel
 * needs a moment between the record and the disappearance. Their end is reported late, at the time
 * it was found out. Records that were lost make every count unknown.
 */
#ifndef XAGENT_AGENT_PROCESS_THREAD_GROUPS_H
#define XAGENT_AGENT_PROCESS_THREAD_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* Processes counted at once, 64 bytes each; the kernel's default pid_max. Those beyond it are asked
 * for in /proc at once. */
#define THREAD_GROUPS_MAX 32768
#define THREAD_GROUPS_RECHECKS 3
#define THREAD_GROUPS_RECHECK_NS (10 * 1000000ULL) /* the first; each next one ten times as long */

struct thread_groups;

/* proc_root is borrowed. */
int thread_groups_new(const char *proc_root, size_t max, struct thread_groups **ret_thread_groups);
void thread_groups_free(struct thread_groups *t);
DEFINE_CLEANUP(struct thread_groups *, thread_groups_free);

void thread_groups_fork(struct thread_groups *t, uint32_t pid);
void thread_groups_exec(struct thread_groups *t, uint32_t pid);
void thread_groups_thread_start(struct thread_groups *t, uint32_t pid);
/* True when that was the last thread of the process for sure. */
bool thread_groups_thread_exit(struct thread_groups *t, uint32_t pid, uint32_t tid,
			       uint64_t time_ns);
/* After lost records. */
void thread_groups_forget(struct thread_groups *t);

/* Calls `fn` for each process with a recheck due that has ended. */
void thread_groups_recheck(struct thread_groups *t, uint64_t now_ns,
			   void (*fn)(uint32_t pid, void *data), void *data);

size_t thread_groups_n(const struct thread_groups *t);

#endif
