/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the number of an item by its content; grows its slots. The items are the owner's. Inside of agent/store.
 *
 * Hashes are seeded by the owner: what is stored are names that any program of the host, or whoever may push, chooses, and they must not be
 * aimed at one chain.
 */
#ifndef XAGENT_AGENT_STORE_SEGMENT_ID_TABLE_H
#define XAGENT_AGENT_STORE_SEGMENT_ID_TABLE_H

#include "agent/util/id_slots.h"

struct id_table {
	struct id_slots slots;
	size_t n;
	id_hash_fn hash;
	id_equal_fn equal;
};

void id_table_fini(struct id_table *t);
size_t id_table_bytes(const struct id_table *t);
/* How much larger it becomes with room for one more. */
size_t id_table_growth(const struct id_table *t);
/* Room for one more; -ENOMEM. */
int id_table_reserve(struct id_table *t, const void *owner);
/* Empty again, of n_slots at most, which it had once; or of what it has, when it can't be made smaller. */
void id_table_clear(struct id_table *t, size_t n_slots);
/* Needs reserved room, and that no equal item is there. */
void id_table_insert(struct id_table *t, uint64_t hash, uint32_t id);
/* ID_NONE: not there. */
uint32_t id_table_find(const struct id_table *t, uint64_t hash, const void *owner, const void *key);

#endif
