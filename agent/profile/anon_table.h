/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses in memory without a file, in the stacks of one interval: each once, by an index.
 *
 * Where a process tells the names of its generated code, a place is a pc of that process; everywhere else it is the kind of memory, so
 * that code nobody can name does not make stacks differ.
 */
#ifndef XAGENT_AGENT_PROFILE_ANON_TABLE_H
#define XAGENT_AGENT_PROFILE_ANON_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/process/jit_files.h"
#include "agent/profile/place_table.h"

struct anon_place {
	struct jit_files *jit; /* a reference; NULL: nobody names it, and pc is 0 */
	uint64_t pc;
	const char *memory; /* what the kernel calls it ("[heap]"); NULL: nothing */
	/* What the process had told when it was sampled, where addresses may be used again; the name is that of then. */
	struct jit_moment at;
};

struct anon_table {
	struct place_table places;
};

/* Memory is the arena's. */
int anon_table_get(struct anon_table *t, struct arena *arena, const struct anon_place *place,
		   uint32_t *ret_index);
/* NULL: there is none of that index. Borrowed until the next get. */
const struct anon_place *anon_table_at(const struct anon_table *t, size_t i);
/* Loop thread: drops the references. */
void anon_table_fini(struct anon_table *t);

#endif
