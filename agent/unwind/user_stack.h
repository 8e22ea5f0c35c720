/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what the kernel half sent to the user stack of a sample: process-independent frames and why the stack ends.
 *
 * Three cases, one result:
 *	warm	frames are (object, offset) already; those of a mapping table that has since been replaced are translated;
 *	raw	pcs are looked up in the mappings that the process has by now; a caller's pc outside of all of them ends the stack;
 *	cold	the copied stack is walked here, by the code that the kernel half runs (bpf/unwind.h).
 *
 * Pure apart from counting.
 */
#ifndef XAGENT_AGENT_UNWIND_USER_STACK_H
#define XAGENT_AGENT_UNWIND_USER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/telemetry/telemetry.h"
#include "bpf/wire.h"

/* Frames that lie in no file: object id 0, and one of these. */
enum frame_special {
	FRAME_UNKNOWN = 1, /* a pc outside of all known mappings */
	FRAME_JIT = 2,	   /* anonymous executable memory */
	FRAME_END = 16,	   /* + enum wire_end: the reason frame of a stack that was cut */
};

struct user_stack {
	uint64_t frames[WIRE_MAX_USER_FRAMES +
			1]; /* leaf first; a cut stack ends with its reason frame */
	uint32_t n;
	enum wire_end end;
};

/* Borrowed parts of one record. */
struct user_stack_input {
	const struct wire_sample *head;
	const uint64_t *frames;	      /* head->n_user */
	const struct wire_cold *cold; /* NULL unless head->flags & WIRE_COLD */
	const uint8_t *stack;	      /* head->stack_bytes */
};

/* Whether a walk that ended so reached the outermost frame, or had none to reach. */
bool wire_end_is_complete(enum wire_end end);

void user_stack_make(const struct user_stack_input *in, const struct process *p,
		     struct telemetry *t, struct user_stack *ret_stack);

/* Which process file a frame belongs to; 0 for special frames. */
static inline uint32_t frame_object_id(uint64_t frame)
{
	return (uint32_t)(frame >> WIRE_FRAME_OFFSET_BITS);
}

static inline uint64_t frame_file_off(uint64_t frame)
{
	return frame & WIRE_FRAME_OFFSET_MASK;
}

#endif
