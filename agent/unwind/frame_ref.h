/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame of a stack, before it has names: its kind, and what identifies it within its kind. One word, so that stacks are compared and hashed as
 * they lie.
 *
 *	kind	lives	value
 *	FILE	always	id of a mapped file, offset in it
 *	KERNEL	always	address
 *	MEMORY	sample	pc of the process, in memory without a file; an interval has it as …
 *	PLACE	interval	… index of a place (agent/profile/anon_table.h)
 *	RUNTIME	sample	index of a frame of an interpreter (struct user_stack); an interval has it as …
 *	CODE	interval	… index of a function of one (agent/profile/code_table.h)
 *	END	always	enum stop_reason: why a stack that was cut ends here
 *	WAIT	always	enum wait_reason: what the thread waited for, as its innermost frame
 *	CALL	always	number of the system call that it was, as its innermost frame
 *	CONNECTION	interval	index of a connection (agent/profile/tcp_table.h), as its innermost frame
 *	LOCK	named	of which kind a lock is (agent/profile/lock_kind.h): only once the functions that wait have names
 *	WAKER	interval	index of who has woken the thread up (agent/profile/waker_frame.h), between both stacks; WAKER_INTERRUPT
 *	UNKNOWN	always	0: a pc outside of all known mappings
 *
 * Equal frames are equal words. What of a kind lives for a sample alone is only right beside that sample, what lives for an interval beside that.
 */
#ifndef XAGENT_AGENT_UNWIND_FRAME_REF_H
#define XAGENT_AGENT_UNWIND_FRAME_REF_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"

enum frame_kind {
	FRAME_KIND_FILE,
	FRAME_KIND_KERNEL,
	FRAME_KIND_MEMORY,
	FRAME_KIND_PLACE,
	FRAME_KIND_RUNTIME,
	FRAME_KIND_CODE,
	FRAME_KIND_END,
	FRAME_KIND_UNKNOWN,
	FRAME_KIND_WAIT,
	FRAME_KIND_CALL,
	FRAME_KIND_CONNECTION,
	FRAME_KIND_LOCK,
	FRAME_KIND_WAKER,
	FRAME_KIND_MAX
};

/* Value of a WAKER: an interrupt, which is in no table. */
#define WAKER_INTERRUPT UINT32_MAX

/* Bit 63 is 0 in a file's frame, which is as it comes from the kernel half (bpf/wire.h); others have their kind below it, then their value. */
struct frame_ref {
	uint64_t word;
};

#define FRAME_REF_KIND_SHIFT 59
#define FRAME_REF_VALUE_MASK ((UINT64_C(1) << FRAME_REF_KIND_SHIFT) - 1)

/* No frame at all: ids of files begin at 1. */
#define FRAME_REF_NONE ((struct frame_ref){ 0 })

static inline bool frame_ref_is_none(struct frame_ref f)
{
	return f.word == 0;
}

static inline bool frame_ref_equal(struct frame_ref a, struct frame_ref b)
{
	return a.word == b.word;
}

static inline struct frame_ref frame_ref_of_file(uint32_t id, uint64_t file_off)
{
	return (struct frame_ref){ ((uint64_t)(id & WIRE_MAX_OBJECT_ID) << WIRE_FRAME_OFFSET_BITS) |
				   (file_off & WIRE_FRAME_OFFSET_MASK) };
}

static inline struct frame_ref frame_ref_of(enum frame_kind kind, uint64_t value)
{
	return (struct frame_ref){ WIRE_FRAME_RAW | (uint64_t)kind << FRAME_REF_KIND_SHIFT |
				   (value & FRAME_REF_VALUE_MASK) };
}

static inline enum frame_kind frame_ref_kind(struct frame_ref f)
{
	return f.word & WIRE_FRAME_RAW
		       ? (enum frame_kind)((f.word & ~WIRE_FRAME_RAW) >> FRAME_REF_KIND_SHIFT)
		       : FRAME_KIND_FILE;
}

/* Of every kind but FILE and KERNEL. */
static inline uint64_t frame_ref_value(struct frame_ref f)
{
	return f.word & FRAME_REF_VALUE_MASK;
}

/* The upper half of the address space begins with ones on both machines. */
static inline uint64_t frame_ref_kernel_pc(struct frame_ref f)
{
	return f.word | ~FRAME_REF_VALUE_MASK;
}

/* Which mapped file; 0: the frame is of another kind. */
static inline uint32_t frame_ref_file_id(struct frame_ref f)
{
	return f.word & WIRE_FRAME_RAW ? 0 : (uint32_t)(f.word >> WIRE_FRAME_OFFSET_BITS);
}

static inline uint64_t frame_ref_file_off(struct frame_ref f)
{
	return f.word & WIRE_FRAME_OFFSET_MASK;
}

/* A word that the kernel half has sent for a user frame: (object, offset), or the raw pc. One that no process can have mapped, as that of a jump into
 * nowhere, stays one. */
static inline struct frame_ref frame_ref_of_wire(uint64_t word)
{
	uint64_t pc = word & ~WIRE_FRAME_RAW;

	if (!(word & WIRE_FRAME_RAW))
		return (struct frame_ref){ word };
	return frame_ref_of(FRAME_KIND_MEMORY,
			    pc < FRAME_REF_VALUE_MASK ? pc : FRAME_REF_VALUE_MASK);
}

#endif
