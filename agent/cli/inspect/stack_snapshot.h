/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of all threads of a process at one moment.
 *
 * The process is stopped (agent/cli/threads/ptrace_threads.h) while registers and stacks are read; what takes long is done before: its files are
 * opened, their unwind rules found; or after: names. A thread of our own does the tracing and ends with it, which lets go of everything.
 */
#ifndef XAGENT_AGENT_CLI_INSPECT_STACK_SNAPSHOT_H
#define XAGENT_AGENT_CLI_INSPECT_STACK_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/cli/inspect/inspect_each.h"
#include "agent/process/proc.h"
#include "agent/unwind/frame_ref.h"
#include "bpf/wire.h"

struct stack_frame {
	struct frame_ref frame; /* as host_walk() tells it */
	uint64_t pc;
};

enum stack_outcome {
	STACK_WALKED,
	STACK_PARTIAL, /* the same, but most registers were not known: it could not be stopped */
	STACK_NONE,    /* neither stopped nor waiting */
};

struct stack_thread {
	uint32_t tid;
	char name[PROC_COMM_MAX];
	enum stack_outcome outcome;
	enum stop_reason end;
	size_t first; /* of its frames */
	size_t n;
};

struct stack_snapshot {
	struct process *process;      /* a reference */
	struct stack_thread *threads; /* owned */
	size_t n_threads;
	struct stack_frame *frames; /* owned; of all threads */
	size_t n_frames;
	size_t cap_frames;
	uint64_t stopped_ns; /* how long */
	bool is_unanswered;  /* some of its memory did not come in time */
};

/* 0; -ESRCH: there is no live thread; -ETIMEDOUT: it did not stop in time, and a thread still waits for it; -errno of ptrace(2). Other than
 * with 0 *ret_snapshot is untouched. */
int stack_snapshot_take(struct inspect_context *w, uint32_t pid,
			struct stack_snapshot *ret_snapshot);
void stack_snapshot_fini(struct stack_snapshot *s);
#define _cleanup_stack_snapshot_ _cleanup_(stack_snapshot_fini)

/* The file of a frame and where in it; NULL: it lies in none. Borrowed from the snapshot. */
struct mapped_file *stack_frame_file(const struct stack_snapshot *s, struct frame_ref frame,
				     uint64_t *ret_file_off);

#endif
