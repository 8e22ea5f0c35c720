/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of runtimes in the stacks of one interval. */
#include "agent/profile/code_table.h"

#include <errno.h>
#include <string.h>

#include "agent/util/hash.h"

#define CODE_TABLE_MIN_CAP 64
/* Of the arena's ceiling, what names may take that nobody else may hold any more. */
#define HELD_SHARE 4
/* What an index into the slots can tell; no arena is that large. */
#define CODE_TABLE_MAX_CAP ((size_t)1 << 30)

/* Equal names are one object. */
static uint32_t *slot_of(const struct code_table *t, const struct code_place *place)
{
	size_t mask = t->cap * 2 - 1;
	size_t at = hash_u64((uintptr_t)place->name ^ hash_u64(place->line)) & mask;

	while (t->slots[at] && (t->items[t->slots[at] - 1].name != place->name ||
				t->items[t->slots[at] - 1].line != place->line))
		at = (at + 1) & mask;
	return &t->slots[at];
}

/* What was there before stays in the arena: in all as much again. */
static int grow(struct code_table *t, struct arena *arena)
{
	struct code_table to = { .n = t->n, .cap = t->cap ? t->cap * 2 : CODE_TABLE_MIN_CAP };

	if (to.cap > CODE_TABLE_MAX_CAP)
		return -ENOMEM;
	to.items = arena_alloc(arena, to.cap * sizeof(*to.items));
	to.slots = arena_alloc(arena, to.cap * 2 * sizeof(*to.slots));
	if (!to.items || !to.slots)
		return -ENOMEM;
	memset(to.slots, 0, to.cap * 2 * sizeof(*to.slots));
	for (size_t i = 0; i < t->n; i++) {
		to.items[i] = t->items[i];
		*slot_of(&to, &to.items[i]) = (uint32_t)i + 1;
	}
	*t = to;
	return 0;
}

int code_table_get(struct code_table *t, struct arena *arena, const struct code_place *place,
		   uint32_t *ret_index)
{
	uint32_t *slot = t->cap ? slot_of(t, place) : NULL;

	if (slot && *slot) {
		*ret_index = *slot - 1;
		return 0;
	}
	size_t held_bytes = t->held_bytes + code_name_bytes(place->name);
	if (held_bytes > arena->max_bytes / HELD_SHARE)
		return -ENOMEM;
	int r = t->n == t->cap ? grow(t, arena) : 0;
	if (r < 0)
		return r;
	t->held_bytes = held_bytes;
	t->items[t->n] = (struct code_place){ code_name_ref(place->name), place->line };
	*slot_of(t, &t->items[t->n]) = (uint32_t)t->n + 1;
	*ret_index = (uint32_t)t->n++;
	return 0;
}

void code_table_fini(struct code_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		code_name_unref(t->items[i].name);
	*t = (struct code_table){ 0 };
}
