/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a frame of the interpreter's loop is an activation whose frame is in the list (WIRE_ANCHOR_CODE): neither before the loop has put it there,
 * nor behind the place where it has taken it out again. The rule of both halves. Pure.
 */
#ifndef XAGENT_BPF_ANCHOR_H
#define XAGENT_BPF_ANCHOR_H

#include <linux/types.h>
#include <stdbool.h>

#include "bpf/wire.h"

/* What the loop's frame has on the C stack at least, once its prologue is over: the registers that it saves and its return address are less. */
#define ANCHOR_LOOP_BYTES 72

/* The print of an anchor. `from`, `gap_at`: up to WIRE_ANCHOR_OFFSET_MASK. */
static inline __attribute__((always_inline)) __u32 anchor_code_print(__u32 from, __u32 gap_at)
{
	return WIRE_ANCHOR_CODE | from << WIRE_ANCHOR_FROM_SHIFT | gap_at << WIRE_ANCHOR_GAP_SHIFT;
}

/* Its position. `bytes`: up to WIRE_ANCHOR_BYTES_MASK; `gap_bytes`: up to 255. */
static inline __attribute__((always_inline)) __u32 anchor_code_position(__u32 bytes,
									__u32 gap_bytes)
{
	return bytes | gap_bytes << WIRE_ANCHOR_GAP_BYTES_SHIFT;
}

/* `off`: where the frame is in the code, from the anchor on; `extent`: bytes that it has on the C stack. */
static inline __attribute__((always_inline)) bool anchor_is_in_loop(__u32 print, __u32 position,
								    __u64 off, __u64 extent)
{
	__u32 from = print >> WIRE_ANCHOR_FROM_SHIFT & WIRE_ANCHOR_OFFSET_MASK;
	__u32 gap_at = print >> WIRE_ANCHOR_GAP_SHIFT & WIRE_ANCHOR_OFFSET_MASK;

	return off < (position & WIRE_ANCHOR_BYTES_MASK) && off >= from &&
	       off - gap_at >= position >> WIRE_ANCHOR_GAP_BYTES_SHIFT &&
	       extent > ANCHOR_LOOP_BYTES;
}

#endif
