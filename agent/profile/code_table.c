/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of runtimes in the stacks of one interval. */
#include "agent/profile/code_table.h"

#include <errno.h>

#include "agent/util/hash.h"

/* Of the arena's ceiling, what names may take that nobody else may hold any more. */
#define HELD_SHARE 4

/* Equal names are one object. */
static uint64_t hash_of(const void *place)
{
	const struct code_place *p = place;

	return hash_u64((uintptr_t)p->name ^ hash_u64((uint64_t)p->column << 32 | p->line));
}

static bool is_equal(const void *va, const void *vb)
{
	const struct code_place *a = va, *b = vb;

	return a->name == b->name && a->line == b->line && a->column == b->column;
}

static const struct place_kind kind = { sizeof(struct code_place), hash_of, is_equal };

int code_table_get(struct code_table *t, struct arena *arena, const struct code_place *place,
		   uint32_t *ret_index)
{
	size_t held_bytes = t->held_bytes + code_name_bytes(place->name);

	if (place_table_find(&t->places, &kind, place, ret_index))
		return 0;
	if (held_bytes > arena->max_bytes / HELD_SHARE)
		return -ENOMEM;
	int r = place_table_add(&t->places, &kind, arena, place, ret_index);
	if (r < 0)
		return r;
	code_name_ref(place->name);
	t->held_bytes = held_bytes;
	return 0;
}

const struct code_place *code_table_at(const struct code_table *t, size_t i)
{
	return i < t->places.n ? (const struct code_place *)t->places.items + i : NULL;
}

void code_table_fini(struct code_table *t)
{
	for (size_t i = 0; i < t->places.n; i++)
		code_name_unref(code_table_at(t, i)->name);
	*t = (struct code_table){ 0 };
}
