/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The search for the mapping of a pc in a process's array in the arena. Pure; macros as in bpf/table.h. */
#ifndef XAGENT_BPF_MAPPINGS_H
#define XAGENT_BPF_MAPPINGS_H

#include "bpf/table.h"

/* First steps of the search: any process, and one of the 8 to 60 mappings that nearly all have. */
#define MAPPINGS_MAX_STEP (1u << 11)
#define MAPPINGS_USUAL_STEP 32u

_Static_assert(2 * MAPPINGS_MAX_STEP >= WIRE_MAX_PROCESS_MAPPINGS,
	       "the search reaches every mapping");

/* One halving of the search for the last of n mappings that begins at or below pc. */
UNWIND_INLINE __u32 mappings_halve(const char *segment, __u32 byte, __u32 pos, __u32 step, __u32 n,
				   __u64 pc)
{
	__u32 next = pos + step;
	__u64 begin = table_u64(segment, byte + next * 24);

	/* User addresses are below 2^63. */
	return pos + (step & table_below(next, n) & (__u32)((__s64)(begin - pc - 1) >> 63));
}

/* Index of the last of n > 0 mappings that begins at or below pc; the first where all are above. Without branches, as in bpf/table.h. */
UNWIND_INLINE __u32 mappings_search(const char *segment, __u32 byte, __u32 n, __u64 pc)
{
	__u32 pos = 0;

	if (n > 2 * MAPPINGS_USUAL_STEP) {
#pragma GCC unroll 16
		for (__u32 step = MAPPINGS_MAX_STEP; step > MAPPINGS_USUAL_STEP; step >>= 1)
			pos = mappings_halve(segment, byte, pos, step, n, pc);
	}
#pragma GCC unroll 16
	for (__u32 step = MAPPINGS_USUAL_STEP; step > 0; step >>= 1)
		pos = mappings_halve(segment, byte, pos, step, n, pc);
	return pos;
}

/* True when one of the n mappings at `at` holds pc; it is copied, with its size. */
UNWIND_INLINE int mappings_find_pc(void *ctx, __u32 at, __u32 n, __u64 pc,
				   struct wire_mapping *ret_mapping, __u64 *ret_n_bytes)
{
	const char *segment = UNWIND_SEGMENT(ctx, TABLE_SEGMENT_OF(at));
	__u32 byte = TABLE_BYTE_OF(at);
	__u64 begin, n_bytes, last;
	__u32 i;

	if (!segment || !n)
		return 0;
	i = mappings_search(segment, byte, n, pc);
	byte += i * 24;
	begin = table_u64(segment, byte);
	last = table_u64(segment, byte + 16);
	n_bytes = (last & 0xffffffff) * WIRE_PAGE_BYTES;
	if (pc - begin >= n_bytes)
		return 0;
	ret_mapping->begin = begin;
	ret_mapping->frame_base = table_u64(segment, byte + 8);
	ret_mapping->n_pages = (__u32)last;
	ret_mapping->object = last >> 32;
	*ret_n_bytes = n_bytes;
	return 1;
}

#endif
