/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a record of the kernel half to the user stack of a sample: frames that do not depend on the process, but for those in memory without a
 * file (MEMORY with the pc, agent/unwind/frame_ref.h), and why the stack ends.
 *
 *	kernel-unwound	frames are (object, offset) already. If the process has changed its mappings since they were published, each frame is checked: the
 *		walk is right up to the first frame whose memory holds another file now, and is cut there;
 *	raw	pcs are looked up in the present mappings of the process; a caller's pc outside of all of them ends the stack;
 *	user-unwound	the kernel half could not finish the walk. It is continued here over the copied stack, by the same code.
 *
 * Frames of runtimes come in runs. A run is where the kernel half has put it; if the walk is continued here, a run takes the place of the native
 * frame that contains its anchor (bpf/wire.h). Runs whose place is not reached are appended.
 *
 * While the mappings of a sample's time are in doubt (process->mappings_ahead), those that were read later are tried, too. Their stack is taken if
 * it is complete and the first one is not, or is less deep.
 *
 * Pure apart from counting and from reading rules out of files.
 */
#ifndef XAGENT_AGENT_UNWIND_USER_STACK_H
#define XAGENT_AGENT_UNWIND_USER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/telemetry/telemetry.h"
#include "agent/unwind/frame_ref.h"
#include "agent/unwind/host_walk.h"
#include "agent/unwind/tables.h"
#include "bpf/wire.h"

struct user_stack {
	/* Leaf first; a cut stack ends with its reason frame. FILE, MEMORY, RUNTIME, END, UNKNOWN. */
	struct frame_ref frames[WIRE_MAX_USER_FRAMES + 1];
	uint32_t n;
	/* What RUNTIME frames are indices of. */
	struct wire_runtime_frame runtime[WIRE_MAX_USER_FRAMES];
	uint32_t n_runtime;
	enum stop_reason end;
};

/* Borrowed parts of one record. */
struct user_stack_input {
	const struct wire_sample *head;
	const uint64_t *frames; /* head->n_user words */
	const struct wire_user_unwound
		*user_unwound; /* NULL unless head->flags & WIRE_USER_UNWOUND */
	const uint8_t *stack;  /* head->stack_words */
};

/* Whether a walk that ended so reached the outermost frame, or had none to reach. */
bool stop_reason_is_complete(enum stop_reason end);

/* Borrowed. */
struct user_stack_context {
	const struct tables *tables;
	struct object_tables *objects;
	struct telemetry *telemetry;
	uint64_t user_mask; /* agent/util/user_space.h */
};

void user_stack_make(const struct user_stack_input *in, struct process *p,
		     const struct user_stack_context *context, struct user_stack *ret_stack);

#endif
