/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process, by the page: a walk reads words that lie close together. */
#ifndef XAGENT_AGENT_PROCESS_THREAD_MEMORY_H
#define XAGENT_AGENT_PROCESS_THREAD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

struct thread_memory {
	uint32_t pid;	 /* whom it is asked for, and who is to blame when it does not come */
	uint32_t tid;	 /* a thread that lives: the first one may have ended */
	uint64_t page;	 /* address of what is held; 0: nothing */
	bool unanswered; /* some page did not come in time; whoever asks for more of that process gets nothing at once */
	uint8_t bytes[WIRE_PAGE_BYTES];
};

/* Threads that run share it: what is held may be old. 0, or -EFAULT when not all n bytes can be read. */
int thread_memory_read(struct thread_memory *m, uint64_t addr, void *dst, size_t n);

#endif
