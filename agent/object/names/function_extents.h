/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begin and end of functions without a name, from the unwind information that even a stripped file has.
 *
 * An extent is what the compiler gave call frame information of its own: a function, or its part that is seldom run. The linker's table
 * (.eh_frame_hdr) is searched where it lies, and nothing is held; without a usable one the extents of a small .eh_frame are kept sorted.
 *
 * One thread at a time.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_FUNCTION_EXTENTS_H
#define XAGENT_AGENT_OBJECT_NAMES_FUNCTION_EXTENTS_H

#include "agent/object/elf.h"

struct function_extent {
	/* Around the address: of the function, or of what lies between functions. */
	uint64_t begin;
	uint64_t end;
	bool is_function;
};

enum function_extents_outcome {
	FUNCTION_EXTENTS_NONE = 1, /* the file tells nothing */
	FUNCTION_EXTENTS_OUTCOME_MAX
};

struct function_extents;

/* `elf` is borrowed until free. 0, FUNCTION_EXTENTS_NONE, -errno. */
int function_extents_new(struct elf *elf, size_t max_bytes, struct function_extents **ret_extents);
void function_extents_free(struct function_extents *e); /* NULL-safe */
DEFINE_CLEANUP(struct function_extents *, function_extents_free);

size_t function_extents_bytes(const struct function_extents *e);
/* 0, FUNCTION_EXTENTS_NONE, -errno. */
int function_extents_find(struct function_extents *e, uint64_t vaddr,
			  struct function_extent *ret_extent);

#endif
