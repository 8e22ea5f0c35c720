/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compiled code that was given up (deoptimised) while it waits for a method that it has called. What that one returns to was replaced by a handler behind the code, and the frame has
 * kept where it would have gone on: at _orig_pc_offset of its code from its sp. Whatever waits in this code has the same handler, so nothing is remembered of its address.
 *
 * When it is its turn, a stub puts frames of the interpreter in its place, and the JVM writes into them what they are, the outermost first. Until then such a frame has what was there
 * before, a method often, and 0 for its own sp, which one that has called another method does not.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_DEOPT_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_DEOPT_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_objects.bpf.h"

enum hotspot_deopt {
	HOTSPOT_NOT_GIVEN_UP,
	HOTSPOT_PUT_BACK,	 /* the caller is where it was */
	HOTSPOT_PLACE_NOT_KNOWN, /* it is in the handler */
};

/* Code has the distance of its handler from its CodeBlob, or its address. */
static __always_inline bool hotspot_is_handler(const struct hotspot_more *m, __u64 at,
					       enum hotspot_more_field offset,
					       enum hotspot_more_field address, __u64 ra)
{
	if (m->at[offset] != HOTSPOT_NONE)
		return ra == at + hotspot_u32(at + m->at[offset]);
	return m->at[address] != HOTSPOT_NONE && ra == hotspot_u64(at + m->at[address]);
}

/* A caller in the code that begins at `begin`, whose CodeBlob is at `at`. */
__noinline int hotspot_put_back(__u32 level, __u64 at, __u64 begin)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_more *m = s ? hotspot_more(s) : NULL;
	__u64 handler, ra = 0;

	if (!m)
		return HOTSPOT_NOT_GIVEN_UP;
	handler = s->walk.pc + 1;
	if (!hotspot_is_handler(m, at, HOTSPOT_DEOPT, HOTSPOT_DEOPT_9, handler) &&
	    !hotspot_is_handler(m, at, HOTSPOT_DEOPT_HANDLE, HOTSPOT_DEOPT_HANDLE_9, handler))
		return HOTSPOT_NOT_GIVEN_UP;
	if (m->at[HOTSPOT_DEOPT_PLACE] != HOTSPOT_NONE)
		ra = hotspot_u64(s->walk.reg[WIRE_ABI_SP] +
				 hotspot_u32(at + m->at[HOTSPOT_DEOPT_PLACE]));
	if (ra <= begin || ra >= handler)
		return HOTSPOT_PLACE_NOT_KNOWN;
	s->walk.pc = ra - 1;
	return HOTSPOT_PUT_BACK;
}

/* The blobs that unpack frames: of code that was given up by others, and by itself. "Deoptimi", "Uncommon" */
static __always_inline bool hotspot_is_unpacker(__u64 text)
{
	return text == 0x696d6974706f6544ULL || text == 0x6e6f6d6d6f636e55ULL;
}

static __always_inline void hotspot_note_unpacking(struct scratch *s, __u64 sp)
{
	__u64 *word = &s->runtime.words[HOTSPOT_WORD_FLAGS];

	*word = (*word & HOTSPOT_ON_HEAP) | HOTSPOT_UNPACKED(sp);
}

/* The present frame is such a blob's, or nothing but Java's frames lie between. */
static __always_inline bool hotspot_is_unpacking(const struct scratch *s)
{
	return (s->runtime.words[HOTSPOT_WORD_FLAGS] & ~HOTSPOT_ON_HEAP) ==
	       HOTSPOT_UNPACKED(s->walk.reg[WIRE_ABI_SP]);
}

/* A frame of the interpreter that is not filled yet. */
static __always_inline bool hotspot_is_unfilled(const struct scratch *s)
{
	return !(s->walk.flags & UNWIND_EXACT) && hotspot_is_unpacking(s) &&
	       !hotspot_u64(s->walk.reg[WIRE_ABI_FP] - HOTSPOT_FRAME_LAST_SP);
}

#endif
