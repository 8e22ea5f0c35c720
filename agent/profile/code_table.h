/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of runtimes in the stacks of one interval, each once, by an index: what a function is called, not where it lay, so
 * that it is one in all processes, wherever a garbage collector has moved it.
 */
#ifndef XAGENT_AGENT_PROFILE_CODE_TABLE_H
#define XAGENT_AGENT_PROFILE_CODE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/profile/place_table.h"
#include "agent/runtimes/code_names.h"

struct code_place {
	struct code_name *name; /* a reference */
	uint32_t line, column;	/* of the frame; 0: not known, or not wanted */
};

struct code_table {
	struct place_table places;
	size_t held_bytes; /* of names, a share of the arena's ceiling at most */
};

/* Takes a reference of its own. Memory is the arena's. 0 or -ENOMEM (ceiling included). */
int code_table_get(struct code_table *t, struct arena *arena, const struct code_place *place,
		   uint32_t *ret_index);
/* NULL: there is none of that index. Borrowed until the next get. */
const struct code_place *code_table_at(const struct code_table *t, size_t i);
/* Loop thread: drops the references. */
void code_table_fini(struct code_table *t);

#endif
