/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of one thread of another process, as a walk begins with them (bpf/wire.h). */
#ifndef XAGENT_AGENT_CLI_THREADS_THREAD_REGS_H
#define XAGENT_AGENT_CLI_THREADS_THREAD_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/str.h"
#include "bpf/wire.h"

/* Stands for a register that is not known: no address, not aligned, and nothing near it is one. */
#define THREAD_REGS_UNKNOWN 0x8000000000000001ULL

enum thread_regs_outcome {
	THREAD_REGS_COMPAT = 1, /* 32-bit code */
	THREAD_REGS_OUTCOME_MAX
};

struct thread_regs {
	struct wire_regs regs;
	bool after_syscall; /* pc is where a system call returns to */
};

/* Of a thread that is stopped by ptrace(2), by the thread that traces it. 0, THREAD_REGS_COMPAT, -errno. */
int thread_regs_read(uint32_t tid, struct thread_regs *ret_regs);

/* Of one that waits in the kernel and cannot be stopped, from the text of /proc/PID/task/TID/syscall: pc, the stack pointer and the
 * arguments of its system call; the others are THREAD_REGS_UNKNOWN. 0, or -EINVAL (it is running). Pure. */
int thread_regs_parse(struct str text, struct thread_regs *ret_regs);

#endif
