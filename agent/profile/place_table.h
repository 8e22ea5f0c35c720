/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that the stacks of one interval speak of, each once, known by an index: what anon_table.h and code_table.h have in common.
 *
 * All memory is an arena's: nothing is ever taken out.
 */
#ifndef XAGENT_AGENT_PROFILE_PLACE_TABLE_H
#define XAGENT_AGENT_PROFILE_PLACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/arena.h"
#include "agent/util/id_slots.h"

/* What the things are. */
struct place_kind {
	size_t n_bytes;
	uint64_t (*hash)(const void *place);
	bool (*is_equal)(const void *a, const void *b);
};

struct place_table {
	void *items;
	struct id_slots slots; /* twice as many as there is room for items */
	size_t n;
	size_t cap; /* a power of two */
};

/* True when an equal one is there. */
bool place_table_find(const struct place_table *t, const struct place_kind *kind, const void *place,
		      uint32_t *ret_index);
/* Copies one that is not there. 0 or -ENOMEM (the arena's ceiling included). */
int place_table_add(struct place_table *t, const struct place_kind *kind, struct arena *arena,
		    const void *place, uint32_t *ret_index);

#endif
