/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the memory limit is shared out: one number for a person, a ceiling for each part. Pure.
 *
 *	5/16	arena: unwind tables and mapping arrays (memory of the kernel, mapped by the agent)
 *	5/16	building a table: the .eh_frame section and what comes of it, while it lasts
 *	2/16	symbols
 *	3/16	intervals: the open one and the one being encoded, half each
 *	1/32	frames that the CPUs have walked lately
 *	1/32	the process table, rings, everything small
 */
#ifndef XAGENT_AGENT_PROFILE_BUDGET_H
#define XAGENT_AGENT_PROFILE_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#define BUDGET_DEFAULT_BYTES ((size_t)64 << 20)
/* Below it not even a segment of the arena and a libc's symbols have room. */
#define BUDGET_MIN_BYTES ((size_t)8 << 20)
#define BUDGET_MAX_BYTES ((size_t)2 << 30)

struct budget {
	size_t limit_bytes;
	uint32_t max_segments;
	size_t table_bytes; /* of the arena, for unwind tables; the rest is the mapping arrays' */
	size_t build_bytes;
	size_t symbol_bytes;
	size_t interval_bytes; /* of one */
	size_t cache_bytes;    /* of all CPUs */
};

/* A limit of 0 is the default; others are held between the least and the most. */
void budget_split(size_t limit_bytes, struct budget *ret_budget);

#endif
