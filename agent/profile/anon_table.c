/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in memory without a file, in the stacks of one interval. */
#include "agent/profile/anon_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "agent/util/hash.h"

static uint64_t hash_of(const void *place)
{
	const struct anon_place *p = place;
	uint64_t hash = hash_u64(p->pc ^ hash_u64((uintptr_t)p->jit));

	hash = hash_u64(hash ^ p->at.map_bytes ^ hash_u64(p->at.time_ns));
	return p->memory ? hash_bytes(p->memory, strlen(p->memory), hash) : hash;
}

static bool is_equal(const void *va, const void *vb)
{
	const struct anon_place *a = va, *b = vb;

	if (a->jit != b->jit || a->pc != b->pc || !a->memory != !b->memory ||
	    a->at.map_bytes != b->at.map_bytes || a->at.time_ns != b->at.time_ns)
		return false;
	return !a->memory || a->memory == b->memory || strcmp(a->memory, b->memory) == 0;
}

static const struct place_kind kind = { sizeof(struct anon_place), hash_of, is_equal };

/* The name belongs to the process table, the interval to another thread: a copy. Few processes have any, so few are made. */
int anon_table_get(struct anon_table *t, struct arena *arena, const struct anon_place *place,
		   uint32_t *ret_index)
{
	struct anon_place own = *place;

	if (place_table_find(&t->places, &kind, place, ret_index))
		return 0;
	if (place->memory) {
		own.memory = arena_strndup(arena, place->memory, strlen(place->memory));
		if (!own.memory)
			return -ENOMEM;
	}
	int r = place_table_add(&t->places, &kind, arena, &own, ret_index);
	if (r < 0)
		return r;
	if (own.jit)
		jit_files_ref(own.jit);
	return 0;
}

const struct anon_place *anon_table_at(const struct anon_table *t, size_t i)
{
	return i < t->places.n ? (const struct anon_place *)t->places.items + i : NULL;
}

void anon_table_fini(struct anon_table *t)
{
	for (size_t i = 0; i < t->places.n; i++)
		jit_files_unref(anon_table_at(t, i)->jit);
	*t = (struct anon_table){ 0 };
}
