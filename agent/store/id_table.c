/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by content. */
#include "agent/store/id_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_TABLE_FIRST_SLOTS 64

void id_table_fini(struct id_table *t)
{
	free(t->slots);
	t->slots = NULL;
	t->n_slots = t->n = 0;
}

size_t id_table_bytes(const struct id_table *t)
{
	return t->n_slots * sizeof(*t->slots);
}

/* At most two thirds full, so that chains stay short and a free slot always ends them. */
static bool id_table_is_full(const struct id_table *t)
{
	return t->n + 1 > t->n_slots / 3 * 2;
}

static size_t id_table_next(const struct id_table *t)
{
	return t->n_slots ? t->n_slots * 2 : ID_TABLE_FIRST_SLOTS;
}

size_t id_table_growth(const struct id_table *t)
{
	return id_table_is_full(t) ? (id_table_next(t) - t->n_slots) * sizeof(*t->slots) : 0;
}

static void slots_put(uint32_t *slots, size_t n_slots, uint64_t hash, uint32_t slot)
{
	size_t i = hash & (n_slots - 1);

	while (slots[i])
		i = (i + 1) & (n_slots - 1);
	slots[i] = slot;
}

int id_table_reserve(struct id_table *t, const void *owner)
{
	size_t n_slots = id_table_next(t);

	if (!id_table_is_full(t))
		return 0;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i])
			slots_put(slots, n_slots, t->hash(owner, t->slots[i] - 1), t->slots[i]);
	free(t->slots);
	t->slots = slots;
	t->n_slots = n_slots;
	return 0;
}

void id_table_clear(struct id_table *t, size_t n_slots)
{
	if (n_slots == 0) {
		id_table_fini(t);
		return;
	}
	if (n_slots < t->n_slots) {
		uint32_t *slots = realloc(t->slots, n_slots * sizeof(*slots));

		t->n_slots = slots ? n_slots : t->n_slots;
		t->slots = slots ? slots : t->slots;
	}
	memset(t->slots, 0, id_table_bytes(t));
	t->n = 0;
}

void id_table_insert(struct id_table *t, uint64_t hash, uint32_t id)
{
	slots_put(t->slots, t->n_slots, hash, id + 1);
	t->n++;
}

uint32_t id_table_find(const struct id_table *t, uint64_t hash, const void *owner, const void *key)
{
	size_t mask = t->n_slots - 1;

	if (!t->n_slots)
		return ID_NONE;
	for (size_t i = hash & mask; t->slots[i]; i = (i + 1) & mask)
		if (t->equal(owner, t->slots[i] - 1, key))
			return t->slots[i] - 1;
	return ID_NONE;
}
