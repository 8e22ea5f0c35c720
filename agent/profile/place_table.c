/* SPDX-License-Identifier: Apache-2.0 */
/* Things that the stacks of one interval speak of, each once. */
#include "agent/profile/place_table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define PLACE_TABLE_MIN_CAP 64
/* What an index into the slots can tell; no arena is that large. */
#define PLACE_TABLE_MAX_CAP ((size_t)1 << 30)

static void *item(const struct place_table *t, const struct place_kind *kind, size_t i)
{
	return (char *)t->items + i * kind->n_bytes;
}

struct kind_of_table {
	const struct place_table *table;
	const struct place_kind *kind;
};

static uint64_t hash_of(const void *owner, uint32_t i)
{
	const struct kind_of_table *o = owner;

	return o->kind->hash(item(o->table, o->kind, i));
}

static bool is_equal(const void *owner, uint32_t i, const void *place)
{
	const struct kind_of_table *o = owner;

	return o->kind->is_equal(item(o->table, o->kind, i), place);
}

/* What was there before stays in the arena: in all as much again. */
static int grow(struct place_table *t, const struct place_kind *kind, struct arena *arena)
{
	struct place_table to = { .n = t->n, .cap = t->cap ? t->cap * 2 : PLACE_TABLE_MIN_CAP };

	if (to.cap > PLACE_TABLE_MAX_CAP)
		return -ENOMEM;
	to.items = arena_alloc(arena, to.cap * kind->n_bytes);
	to.slots.n = to.cap * 2;
	to.slots.items = arena_alloc(arena, to.slots.n * sizeof(*to.slots.items));
	if (!to.items || !to.slots.items)
		return -ENOMEM;
	memset(to.slots.items, 0, to.slots.n * sizeof(*to.slots.items));
	if (t->n > 0)
		memcpy(to.items, t->items, t->n * kind->n_bytes);
	id_slots_fill(&to.slots, 0, to.n, hash_of, &(struct kind_of_table){ &to, kind });
	*t = to;
	return 0;
}

bool place_table_find(const struct place_table *t, const struct place_kind *kind, const void *place,
		      uint32_t *ret_index)
{
	uint32_t index = id_slots_find(&t->slots, kind->hash(place), is_equal,
				       &(struct kind_of_table){ t, kind }, place);

	if (index == ID_NONE)
		return false;
	*ret_index = index;
	return true;
}

int place_table_add(struct place_table *t, const struct place_kind *kind, struct arena *arena,
		    const void *place, uint32_t *ret_index)
{
	int r = t->n == t->cap ? grow(t, kind, arena) : 0;

	if (r < 0)
		return r;
	assert(t->n < t->cap && 2 * t->n < t->slots.n);
	memcpy(item(t, kind, t->n), place, kind->n_bytes);
	*ret_index = (uint32_t)t->n++;
	id_slots_put(&t->slots, kind->hash(place), *ret_index);
	return 0;
}
