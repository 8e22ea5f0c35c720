/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by content. */
#include "agent/store/segment/id_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_TABLE_FIRST_SLOTS 64

void id_table_fini(struct id_table *t)
{
	free(t->slots.items);
	t->slots = (struct id_slots){ 0 };
	t->n = 0;
}

size_t id_table_bytes(const struct id_table *t)
{
	return t->slots.n * sizeof(*t->slots.items);
}

/* At most two thirds full, so that chains stay short and a free slot always ends them. */
static bool id_table_is_full(const struct id_table *t)
{
	return t->n + 1 > t->slots.n / 3 * 2;
}

static size_t id_table_next(const struct id_table *t)
{
	return t->slots.n ? t->slots.n * 2 : ID_TABLE_FIRST_SLOTS;
}

size_t id_table_growth(const struct id_table *t)
{
	return id_table_is_full(t) ? (id_table_next(t) - t->slots.n) * sizeof(*t->slots.items) : 0;
}

int id_table_reserve(struct id_table *t, const void *owner)
{
	struct id_slots old = t->slots, slots = { .n = id_table_next(t) };

	if (!id_table_is_full(t))
		return 0;
	slots.items = calloc(slots.n, sizeof(*slots.items));
	if (!slots.items)
		return -ENOMEM;
	for (size_t i = 0; i < old.n; i++)
		if (old.items[i])
			id_slots_put(&slots, t->hash(owner, old.items[i] - 1), old.items[i] - 1);
	free(old.items);
	t->slots = slots;
	return 0;
}

void id_table_clear(struct id_table *t, size_t n_slots)
{
	assert((n_slots & (n_slots - 1)) == 0);
	if (n_slots == 0) {
		id_table_fini(t);
		return;
	}
	if (n_slots < t->slots.n) {
		uint32_t *slots = realloc(t->slots.items, n_slots * sizeof(*slots));

		if (slots)
			t->slots = (struct id_slots){ slots, n_slots };
	}
	memset(t->slots.items, 0, id_table_bytes(t));
	t->n = 0;
}

void id_table_insert(struct id_table *t, uint64_t hash, uint32_t id)
{
	assert(!id_table_is_full(t));
	id_slots_put(&t->slots, hash, id);
	t->n++;
}

uint32_t id_table_find(const struct id_table *t, uint64_t hash, const void *owner, const void *key)
{
	return id_slots_find(&t->slots, hash, t->equal, owner, key);
}
