/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the sources of running programs: of those that were asked for last, within a number of bytes. Loop thread.
 */
#ifndef XAGENT_AGENT_RUNTIMES_SOURCE_TABLE_H
#define XAGENT_AGENT_RUNTIMES_SOURCE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/runtimes/runtime.h"

#define SOURCE_TABLE_SLOTS 256

struct source_slot {
	uint32_t pid; /* 0: it is free */
	uint32_t exec_id;
	uint32_t source, n_source;
	bool is_end;   /* nothing but its end was read */
	uint64_t used; /* when it was asked for last, by the table's count */
	struct source_facts facts;
};

/* But for max_bytes zeros: empty. */
struct source_table {
	size_t max_bytes;
	struct source_slot slots[SOURCE_TABLE_SLOTS];
	uint64_t n_asked;
	size_t n_bytes;
};

/* Borrowed until the next put; NULL: not known. A function whose name is whole has what was read of the whole source, too. */
const struct source_facts *source_table_find(struct source_table *t, uint32_t pid, uint32_t exec_id,
					     const struct source_function *function);
/* Takes the bytes. Of what is larger than the whole table nothing is known from then on: NULL, and 0 bytes. Returns of how many sources nothing is known any
 * more. */
size_t source_table_put(struct source_table *t, uint32_t pid, uint32_t exec_id,
			const struct source_function *function, struct source_facts facts);
void source_table_clear(struct source_table *t);

#endif
