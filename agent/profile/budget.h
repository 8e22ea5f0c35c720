/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the memory limit is shared out: one number for a person, a ceiling for each part. Pure.
 *
 *	 8/32	arena: unwind tables and mapping arrays (memory of the kernel, mapped by the agent)
 *	 9/32	work: what one job of the worker takes while it lasts, and gives back. Jobs follow
 *		each other, so each may have it all:
 *			building a table: the .eh_frame section and what comes of it
 *			an interval: names made for it 1/4, its named addresses 1/4, its profile 1/2
 *	 4/32	symbols of files
 *	 3/32	symbols of the kernel, its modules and BPF programs
 *	 4/32	intervals: the open one and the one being encoded, half each
 *	 2/32	samples on their way to the agent, where the rate and the CPUs want that much
 *	 1/64	frames that the CPUs have walked lately
 *	 3/64	everything small, the first processes; a third of it names of interpreters' functions, a sixth what is known of the sources of scripts
 *
 * On top come 1/32 for larger rings of process events where there are floods of these, 3 KiB for each further process (its entry 1.7 KiB, the
 * rest its arguments, paths and mappings), profiles that a receiver takes as they are, until it has them (9/128, agent/encode), and what the agent
 * takes before it profiles; while the source of a script is read 1/32; and while the symbols of a file are indexed that has tens of thousands of functions, 24 bytes for each of them.
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
	size_t work_bytes;
	size_t names_bytes; /* these three: of work_bytes */
	size_t namer_bytes;
	size_t encoder_bytes;
	size_t symbol_bytes;
	size_t kernel_symbol_bytes;
	size_t interval_bytes; /* of one */
	size_t max_opened;     /* files whose rules are looked up in them at a time */
	size_t ring_bytes;     /* of samples */
	size_t cache_bytes;    /* of all CPUs */
	size_t sideband_bytes; /* of larger rings for process events, where some CPU has needed one */
	size_t code_names_bytes; /* what interpreters' functions are called */
	size_t source_bytes;	 /* what is known of the sources of scripts */
	size_t read_bytes;	 /* what reading one source takes, while it lasts */
	size_t trim_bytes;	 /* free memory that is given back to the system behind a job */
};

/* A limit of 0 is the default; others are held between the least and the most. */
void budget_split(size_t limit_bytes, struct budget *ret_budget);

#endif
