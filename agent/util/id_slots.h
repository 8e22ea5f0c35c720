/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers by content: open addressing over numbers alone, four bytes each. Pure.
 *
 * The items and the memory of the slots are the owner's, who has an account for both, and grows them before all slots are taken. `owner` and
 * `key` are what it hands to its own functions, which are known where they are called, so that the compiler can take them in.
 */
#ifndef XAGENT_AGENT_UTIL_ID_SLOTS_H
#define XAGENT_AGENT_UTIL_ID_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_NONE UINT32_MAX

struct id_slots {
	uint32_t *items; /* number + 1; 0: free, and one is always */
	size_t n;	 /* a power of two; 0: none yet */
};

typedef uint64_t (*id_hash_fn)(const void *owner, uint32_t id);
typedef bool (*id_equal_fn)(const void *owner, uint32_t id, const void *key);

/* The slot that has the item's number, or the free one for it. There are slots. */
static inline uint32_t *id_slots_at(const struct id_slots *s, uint64_t hash, id_equal_fn equal,
				    const void *owner, const void *key)
{
	size_t i = hash & (s->n - 1);

	while (s->items[i] && !equal(owner, s->items[i] - 1, key))
		i = (i + 1) & (s->n - 1);
	return &s->items[i];
}

/* ID_NONE: it is not there. */
static inline uint32_t id_slots_find(const struct id_slots *s, uint64_t hash, id_equal_fn equal,
				     const void *owner, const void *key)
{
	return s->n > 0 ? *id_slots_at(s, hash, equal, owner, key) - 1 : ID_NONE;
}

/* No equal item is there. */
static inline void id_slots_put(struct id_slots *s, uint64_t hash, uint32_t id)
{
	size_t i = hash & (s->n - 1);

	while (s->items[i])
		i = (i + 1) & (s->n - 1);
	s->items[i] = id + 1;
}

/* The numbers from `first` up to `end`, which are not there yet. */
static inline void id_slots_fill(struct id_slots *s, size_t first, size_t end, id_hash_fn hash,
				 const void *owner)
{
	for (size_t id = first; id < end; id++)
		id_slots_put(s, hash(owner, (uint32_t)id), (uint32_t)id);
}

#endif
