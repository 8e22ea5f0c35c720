/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which unit has code at an address, and which function of the unit.
 *
 * The first is made of the ranges of all units, once; the second of all DIEs of one unit, when it is first asked for.
 *
 * Inside of source_lines only.
 */
#ifndef XAGENT_AGENT_OBJECT_LINES_SOURCE_INDEX_H
#define XAGENT_AGENT_OBJECT_LINES_SOURCE_INDEX_H

#include "agent/object/lines/source_dwarf.h"

struct source_span {
	uint64_t begin;
	uint32_t n_bytes;
	uint32_t owner; /* the number of a unit; of a function, where its DIE lies in the unit */
};

struct source_index {
	struct source_span *spans; /* by begin; owned */
	size_t n;
	size_t cap;
	size_t max;
	size_t n_function_bytes; /* of all units */
};

/* Zeroed before; at most max_bytes. 0, SOURCE_IMAGE_NONE, -errno. */
int source_index_init(struct source_index *index, struct source_dwarf *d, size_t max_bytes);
void source_index_fini(struct source_index *index);
size_t source_index_bytes(const struct source_index *index);

/* NULL: no unit. */
struct source_unit *source_index_unit(const struct source_index *index,
				      const struct source_dwarf *d, uint64_t vaddr);
/* The innermost function there, by its place in .debug_info. The unit was filled whole. 0, SOURCE_IMAGE_NONE, -errno. */
int source_index_function(struct source_index *index, struct source_dwarf *d, struct source_unit *u,
			  Dwarf_Die *unit_die, uint64_t vaddr, Dwarf_Die *ret_function);
/* Functions are found again when asked for. */
void source_index_drop_functions(struct source_index *index, struct source_dwarf *d);

#endif
