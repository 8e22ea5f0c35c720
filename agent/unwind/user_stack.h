/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a record of the kernel half to the user stack of a sample: frames that do not depend on the process, but for those in memory without a
 * file (MEMORY with the pc, agent/unwind/frame_ref.h), and why the stack ends.
 *
 *	warm	frames are (object, offset) already. Where the process has changed its mappings since they were published, each frame is
 *		looked at again: the walk is right up to the first one whose memory holds something else by now, and is cut there;
 *	raw	pcs are looked up in the mappings that the process has by now; a caller's pc outside of all of them ends the stack;
 *	cold	the walk goes on here over the copied stack, where the kernel half could not, by the code that it runs.
 *
 * Frames of runtimes come in runs, and each is where the kernel half has put it; where the walk goes on here, a run takes the place of the
 * native frame that its anchor lies in (bpf/wire.h). Runs whose place is not reached are shown behind what is.
 *
 * While the mappings of a sample's time are in doubt (process->mappings_ahead), those that were read later are tried as well: the stack is what
 * they make of it where that is whole, and deeper or the other one is not.
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
	enum wire_end end;
};

/* Borrowed parts of one record. */
struct user_stack_input {
	const struct wire_sample *head;
	const uint64_t *frames;	      /* head->n_user words */
	const struct wire_cold *cold; /* NULL unless head->flags & WIRE_COLD */
	const uint8_t *stack;	      /* head->stack_words */
};

/* Whether a walk that ended so reached the outermost frame, or had none to reach. */
bool wire_end_is_complete(enum wire_end end);

/* Borrowed. */
struct user_stack_world {
	const struct tables *tables;
	struct object_tables *objects;
	struct telemetry *telemetry;
	uint64_t user_mask; /* agent/util/user_space.h */
};

void user_stack_make(const struct user_stack_input *in, struct process *p,
		     const struct user_stack_world *world, struct user_stack *ret_stack);

#endif
