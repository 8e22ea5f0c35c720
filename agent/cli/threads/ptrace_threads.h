/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All threads of a process, stopped for a moment.
 *
 *	list ──► seize and interrupt the new ones ──► wait ──► list again … until nothing is new ──► release
 *
 * What was stopped before (SIGSTOP, ^Z) stays so, and a signal that arrives meanwhile is delivered when the thread goes on. The kernel
 * detaches everything when the thread that traces ends, so nothing stays stopped whatever happens to us.
 *
 * All calls come from one thread, which must have SIGCHLD blocked and no other children.
 */
#ifndef XAGENT_AGENT_CLI_THREADS_PTRACE_THREADS_H
#define XAGENT_AGENT_CLI_THREADS_PTRACE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* Ceiling of threads of a process: the kernel's own default for a whole host of 8 GB (kernel.threads-max). */
#define PTRACE_THREADS_MAX 65536

enum ptrace_thread_state {
	PTRACE_THREAD_AWAITED, /* it was told to stop; those that stay so wait in the kernel, uninterruptibly */
	PTRACE_THREAD_STOPPED,
	PTRACE_THREAD_GONE,
};

struct ptrace_thread {
	uint32_t tid;
	enum ptrace_thread_state state;
	int signo; /* to be delivered when it goes on; 0: none */
};

/* Where a thread is among the items. */
struct ptrace_place {
	uint32_t tid;
	uint32_t at;
};

struct ptrace_threads {
	uint32_t pid;
	struct ptrace_thread *items; /* owned; in the order of their creation */
	size_t n;
	size_t cap;
	struct ptrace_place *places; /* owned; the first n_sorted are in the order of tids */
	size_t n_sorted;
	size_t n_awaited;
};

/* `t` is empty. Threads that end meanwhile, and those that have ended, are passed over. 0; -errno of ptrace(2) or of memory (-E2BIG:
 * too many threads); whatever it is, ptrace_threads_release() must follow. */
int ptrace_threads_stop(struct ptrace_threads *t, uint32_t pid);

/* They go on. Frees the list. Threads that were killed meanwhile are given back only when the one that traces ends, which it should
 * soon. */
void ptrace_threads_release(struct ptrace_threads *t);
#define _cleanup_ptrace_threads_ _cleanup_(ptrace_threads_release)

#endif
