/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process has ended, told from exits of threads.
 *
 * The kernel reports the exit of each thread, and a process whose main thread called pthread_exit
 * lives on. So threads are counted: exactly for processes whose fork or exec the agent has seen (an
 * exec leaves one thread), which is free of system calls. Of older processes the number is not
 * known; from the exit of their leader on they are in doubt, and lives_recheck() asks /proc about
 * them, LIVES_RECHECKS times after each exit of a thread (the kernel needs a moment between the
 * record and the disappearance). Their end is reported late, at the time it was found out. Records
 * that were lost make every count unknown.
 */
#ifndef XAGENT_AGENT_PROCESS_LIVES_H
#define XAGENT_AGENT_PROCESS_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* Processes counted at once, 64 bytes each; the kernel's default pid_max. Those beyond it are asked
 * for in /proc at once. */
#define LIVES_MAX 32768
#define LIVES_RECHECKS 3
#define LIVES_RECHECK_NS (10 * 1000000ULL) /* the first; each next one ten times as long */

struct lives;

/* proc_root is borrowed. */
int lives_new(const char *proc_root, size_t max, struct lives **ret_lives);
void lives_free(struct lives *l);
DEFINE_CLEANUP(struct lives *, lives_free);

void lives_fork(struct lives *l, uint32_t pid);
void lives_exec(struct lives *l, uint32_t pid);
void lives_thread_start(struct lives *l, uint32_t pid);
/* True when that was the last thread of the process for sure. */
bool lives_thread_exit(struct lives *l, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* After lost records. */
void lives_forget(struct lives *l);

/* Calls `fn` for each process in doubt that has ended. */
void lives_recheck(struct lives *l, uint64_t now_ns, void (*fn)(uint32_t pid, void *data),
		   void *data);

size_t lives_n(const struct lives *l);

#endif
