/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc shows of one thread, asked for by number. */
#ifndef XAGENT_AGENT_CLI_THREADS_THREAD_STATE_H
#define XAGENT_AGENT_CLI_THREADS_THREAD_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"

enum thread_state {
	THREAD_LIVE,
	THREAD_UNINTERRUPTIBLE, /* waits in the kernel, and for nothing else */
	THREAD_DEAD,		/* it has ended, or there is none */
};

enum thread_state thread_state(uint32_t pid, uint32_t tid);

/* The name, made showable; "" when there is no such thread. */
void thread_name(uint32_t pid, uint32_t tid, char *ret_name, size_t n);

/* Appends the text of /proc/PID/task/TID/NAME. 0 or -errno. */
int thread_read(uint32_t pid, uint32_t tid, const char *name, struct buf *text);

#endif
