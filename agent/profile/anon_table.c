/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in memory without a file, in the stacks of one interval. */
#include "agent/profile/anon_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "agent/util/hash.h"

#define ANON_TABLE_MIN_CAP 64
/* What an index into the slots can tell; no arena is that large. */
#define ANON_TABLE_MAX_CAP ((size_t)1 << 30)

static uint64_t hash_of(const struct anon_place *p)
{
	uint64_t hash = hash_u64(p->pc ^ hash_u64((uintptr_t)p->jit));

	hash = hash_u64(hash ^ p->at.map_bytes ^ hash_u64(p->at.time_ns));
	return p->memory ? hash_bytes(p->memory, strlen(p->memory), hash) : hash;
}

static bool is_equal(const struct anon_place *a, const struct anon_place *b)
{
	if (a->jit != b->jit || a->pc != b->pc || !a->memory != !b->memory ||
	    a->at.map_bytes != b->at.map_bytes || a->at.time_ns != b->at.time_ns)
		return false;
	return !a->memory || a->memory == b->memory || strcmp(a->memory, b->memory) == 0;
}

static uint32_t *slot_of(const struct anon_table *t, const struct anon_place *place)
{
	size_t mask = t->cap * 2 - 1;
	size_t at = hash_of(place) & mask;

	while (t->slots[at] && !is_equal(&t->items[t->slots[at] - 1], place))
		at = (at + 1) & mask;
	return &t->slots[at];
}

/* What was there before stays in the arena: in all as much again. */
static int grow(struct anon_table *t, struct arena *arena)
{
	struct anon_table to = { .n = t->n, .cap = t->cap ? t->cap * 2 : ANON_TABLE_MIN_CAP };

	if (to.cap > ANON_TABLE_MAX_CAP)
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

/* The name belongs to the process table, the interval to another thread: a copy. Few processes have any, so few are made. */
static int add(struct anon_table *t, struct arena *arena, const struct anon_place *place)
{
	const char *memory = NULL;

	if (place->memory) {
		memory = arena_strndup(arena, place->memory, strlen(place->memory));
		if (!memory)
			return -ENOMEM;
	}
	t->items[t->n++] =
		(struct anon_place){ .jit = place->jit ? jit_files_ref(place->jit) : NULL,
				     .pc = place->pc,
				     .memory = memory,
				     .at = place->at };
	return 0;
}

int anon_table_get(struct anon_table *t, struct arena *arena, const struct anon_place *place,
		   uint32_t *ret_index)
{
	uint32_t *slot = t->cap ? slot_of(t, place) : NULL;

	if (slot && *slot) {
		*ret_index = *slot - 1;
		return 0;
	}
	int r = t->n == t->cap ? grow(t, arena) : 0;
	if (r == 0)
		r = add(t, arena, place);
	if (r < 0)
		return r;
	*slot_of(t, &t->items[t->n - 1]) = (uint32_t)t->n;
	*ret_index = (uint32_t)t->n - 1;
	return 0;
}

void anon_table_fini(struct anon_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		jit_files_unref(t->items[i].jit);
	*t = (struct anon_table){ 0 };
}
