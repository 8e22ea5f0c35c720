/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the kernel's symbol index, for the parser that fills it and the look-up. */
#ifndef XAGENT_AGENT_SYMBOL_KALLSYMS_INTERNAL_H
#define XAGENT_AGENT_SYMBOL_KALLSYMS_INTERNAL_H

#include "agent/symbol/kallsyms.h"

struct kallsyms_entry {
	uint32_t start; /* distance to the base of the segment */
	uint32_t name;	/* place in the names; KALLSYMS_HOLE: nothing begins here */
};

#define KALLSYMS_HOLE UINT32_MAX

/* Entries from `first` up to the next segment's: 4 GiB at most. Kernel and modules share one on
 * x86-64; AArch64 keeps BPF programs anywhere in the vmalloc area. */
struct kallsyms_segment {
	uint64_t base;
	uint32_t first;
};

/* Entries from `first` up to the next run's are of one module. */
struct kallsyms_run {
	uint32_t first;
	uint32_t module;
};

struct kallsyms {
	enum kallsyms_state state;
	struct kallsyms_entry *entries;
	size_t n;
	struct kallsyms_segment *segments;
	size_t n_segments;
	struct kallsyms_run *runs;
	size_t n_runs;
	char *names; /* NUL after each */
	size_t names_bytes;
	uint32_t *modules; /* places in the names; 0 is "" */
	size_t n_modules;
};

#endif
