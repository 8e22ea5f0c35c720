/* SPDX-License-Identifier: Apache-2.0 */
/* Back to what a head had before: what a refused profile has interned goes again, and the memory that it took. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/head_private.h"

struct head_part {
	struct head_array *items;
	struct id_table *ids; /* NULL: nobody looks for them */
	size_t item_bytes;
	uint32_t first; /* that is looked for */
};

/* All that interning fills. */
static void parts_of(struct head *h, struct head_part *parts)
{
	const struct head_part all[HEAD_N_PARTS] = {
		{ &h->texts, &h->text_ids, sizeof(uint32_t), 0 },
		{ &h->pool, NULL, 1, 0 },
		{ &h->functions, &h->function_ids, sizeof(struct segment_function), 0 },
		{ &h->mappings, &h->mapping_ids, sizeof(struct segment_mapping), 0 },
		{ &h->locations, &h->location_ids, sizeof(struct head_location), 0 },
		{ &h->lines, NULL, sizeof(struct segment_line), 0 },
		{ &h->nodes, &h->node_ids, sizeof(struct segment_node), SEGMENT_ROOT + 1 },
		{ &h->series, &h->series_ids, sizeof(struct head_series), 0 },
		{ &h->labels, NULL, sizeof(struct segment_label), 0 },
	};

	memcpy(parts, all, sizeof(all));
}

void head_mark(struct head *h, struct head_mark *ret_mark)
{
	struct head_part parts[HEAD_N_PARTS];

	parts_of(h, parts);
	ret_mark->n_addresses = h->n_addresses;
	for (size_t i = 0; i < HEAD_N_PARTS; i++) {
		const struct id_table *ids = parts[i].ids;

		ret_mark->parts[i].n = parts[i].items->n;
		ret_mark->parts[i].cap = parts[i].items->cap;
		ret_mark->parts[i].n_slots = ids ? ids->slots.n : 0;
	}
}

/* When it can't be made smaller, it stays as it is, and so does its account. */
static void shrink_items(struct head *h, struct head_array *a, size_t cap, size_t item_bytes)
{
	if (a->cap == cap)
		return;
	assert(cap >= a->n && cap < a->cap);
	void *items = cap > 0 ? realloc(a->items, cap * item_bytes) : NULL;

	if (cap > 0 && !items)
		return;
	if (cap == 0)
		free(a->items);
	a->items = items;
	h->bytes -= (a->cap - cap) * item_bytes;
	a->cap = cap;
}

static void rebuild_ids(struct head *h, const struct head_part *part, size_t n_slots)
{
	struct id_table *ids = part->ids;
	size_t before = id_table_bytes(ids);

	id_table_clear(ids, n_slots);
	h->bytes -= before - id_table_bytes(ids);
	for (uint32_t id = part->first; id < part->items->n; id++)
		id_table_insert(ids, ids->hash(h, id), id);
}

void head_rollback(struct head *h, const struct head_mark *mark)
{
	struct head_part parts[HEAD_N_PARTS];
	bool changed[HEAD_N_PARTS];

	parts_of(h, parts);
	h->n_addresses = mark->n_addresses;
	for (size_t i = 0; i < HEAD_N_PARTS; i++) {
		assert(parts[i].items->n >= mark->parts[i].n);
		changed[i] = parts[i].items->n > mark->parts[i].n;
		parts[i].items->n = mark->parts[i].n;
		shrink_items(h, parts[i].items, mark->parts[i].cap, parts[i].item_bytes);
	}
	/* Hashes are of what lies in several parts. */
	for (size_t i = 0; i < HEAD_N_PARTS; i++)
		if (parts[i].ids && (changed[i] || parts[i].ids->slots.n > mark->parts[i].n_slots))
			rebuild_ids(h, &parts[i], mark->parts[i].n_slots);
}
