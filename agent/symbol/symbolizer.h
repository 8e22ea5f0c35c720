/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One source of names, and a chain of them.
 *
 * A source embeds a struct symbolizer and has one method. It looks at a location, and either names
 * it or leaves it to the next. A new source (perf maps, Go tables, inlined functions …) is a new
 * file and one line where the store makes its chain.
 */
#ifndef XAGENT_AGENT_SYMBOL_SYMBOLIZER_H
#define XAGENT_AGENT_SYMBOL_SYMBOLIZER_H

#include <stddef.h>
#include <stdint.h>

#include "agent/process/jit_files.h"
#include "agent/process/mapping.h"
#include "agent/symbol/frame.h"

enum location_kind {
	LOCATION_KERNEL,  /* pc */
	LOCATION_FILE,	  /* file, file_off */
	LOCATION_ANON,	  /* pc in executable memory without a file; jit, memory */
	LOCATION_UNKNOWN, /* pid, pc in no known mapping */
	LOCATION_KIND_MAX
};

struct location {
	enum location_kind kind;
	uint32_t pid;
	uint64_t pc;
	const struct mapped_file *file; /* borrowed for the call */
	uint64_t file_off;
	const struct jit_files
		*jit; /* borrowed for the call; NULL: nobody tells the name, pc does not matter */
	struct jit_moment at; /* when it was there, by jit */
	const char *
		memory; /* what the kernel calls it ("[heap]"); NULL: nothing. Borrowed for the call */
};

enum symbolizer_outcome {
	SYMBOLIZER_PASS = 1, /* not mine, or no name: ask the next */
	SYMBOLIZER_OUTCOME_MAX
};

struct symbolizer {
	/* Fills *ret_frames (at least one) and returns 0, or SYMBOLIZER_PASS. What fails on the way
	 * is counted, and passes. */
	int (*resolve)(struct symbolizer *self, const struct location *location,
		       struct frames *ret_frames);
};

/* The first answer. 0 or SYMBOLIZER_PASS. */
int symbolizer_chain_resolve(struct symbolizer *const *chain, size_t n,
			     const struct location *location, struct frames *ret_frames);

#endif
