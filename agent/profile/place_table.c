/* SPDX-License-Identifier: Apache-2.0 */
/* Things that the stacks of one interval speak of, each once. */
#include "agent/profile/place_table.h"

#include <errno.h>
#include <string.h>

#define PLACE_TABLE_MIN_CAP 64
/* What an index into the slots can tell; no arena is that large. */
#define PLACE_TABLE_MAX_CAP ((size_t)1 << 30)

static void *item(const struct place_table *t, const struct place_kind *kind, size_t i)
{
	return (char *)t->items + i * kind->n_bytes;
}

static uint32_t *slot_of(const struct place_table *t, const struct place_kind *kind,
			 const void *place)
{
	size_t mask = t->cap * 2 - 1;
	size_t at = kind->hash(place) & mask;

	while (t->slots[at] && !kind->is_equal(item(t, kind, t->slots[at] - 1), place))
		at = (at + 1) & mask;
	return &t->slots[at];
}

/* What was there before stays in the arena: in all as much again. */
static int grow(struct place_table *t, const struct place_kind *kind, struct arena *arena)
{
	struct place_table to = { .n = t->n, .cap = t->cap ? t->cap * 2 : PLACE_TABLE_MIN_CAP };

	if (to.cap > PLACE_TABLE_MAX_CAP)
		return -ENOMEM;
	to.items = arena_alloc(arena, to.cap * kind->n_bytes);
	to.slots = arena_alloc(arena, to.cap * 2 * sizeof(*to.slots));
	if (!to.items || !to.slots)
		return -ENOMEM;
	memset(to.slots, 0, to.cap * 2 * sizeof(*to.slots));
	if (t->n > 0)
		memcpy(to.items, t->items, t->n * kind->n_bytes);
	for (size_t i = 0; i < t->n; i++)
		*slot_of(&to, kind, item(&to, kind, i)) = (uint32_t)i + 1;
	*t = to;
	return 0;
}

bool place_table_find(const struct place_table *t, const struct place_kind *kind, const void *place,
		      uint32_t *ret_index)
{
	const uint32_t *slot = t->cap ? slot_of(t, kind, place) : NULL;

	if (!slot || !*slot)
		return false;
	*ret_index = *slot - 1;
	return true;
}

int place_table_add(struct place_table *t, const struct place_kind *kind, struct arena *arena,
		    const void *place, uint32_t *ret_index)
{
	int r = t->n == t->cap ? grow(t, kind, arena) : 0;

	if (r < 0)
		return r;
	memcpy(item(t, kind, t->n), place, kind->n_bytes);
	*slot_of(t, kind, place) = (uint32_t)t->n + 1;
	*ret_index = (uint32_t)t->n++;
	return 0;
}
