/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the kernel's symbol index, for the parser that fills it and the look-up. */
#ifndef XAGENT_AGENT_SYMBOL_KALLSYMS_INTERNAL_H
#define XAGENT_AGENT_SYMBOL_KALLSYMS_INTERNAL_H

#include "agent/symbol/kallsyms.h"
#include "agent/symbol/kallsyms_names.h"
#include "agent/symbol/kallsyms_recent.h"

/* Entries from `first` up to the next segment's: 4 GiB at most. Kernel and modules share one on
 * x86-64; AArch64 keeps BPF programs anywhere in the vmalloc area. */
struct kallsyms_segment {
	uint64_t base;
	uint32_t first;
};

/* Entries from `first` up to the next run's are of one module, and their names follow each other
 * from number `name` on. */
struct kallsyms_run {
	uint32_t first;
	uint32_t module;
	uint32_t name;
};

struct kallsyms {
	enum kallsyms_state state;
	uint32_t *starts; /* distances to the base of the segment */
	size_t n;
	struct kallsyms_segment *segments;
	size_t n_segments;
	struct kallsyms_run *runs;
	size_t n_runs;
	struct kallsyms_names names; /* an empty one: nothing begins here */
	struct kallsyms_recent recent;
	char *module_names; /* NUL after each */
	size_t module_names_bytes;
	uint32_t *modules; /* places in the module names; 0 is "" */
	size_t n_modules;
	uint64_t n_skipped;
};

#endif
