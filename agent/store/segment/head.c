/* SPDX-License-Identifier: Apache-2.0 */
/* The growing segment: memory and its account. */
#include "agent/store/segment/head.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/store/segment/head_private.h"
#include "agent/util/macro.h"

#define HEAD_FIRST_ITEMS 16

static size_t grown_cap(const struct head_array *a, size_t n)
{
	size_t cap = a->cap ? a->cap : HEAD_FIRST_ITEMS;

	while (cap < a->n + n)
		cap += cap / 2;
	return cap;
}

size_t head_growth(const struct head_array *a, size_t n)
{
	return a->n + n <= a->cap ? 0 : grown_cap(a, n) - a->cap;
}

int head_grow_always(struct head *h, struct head_array *a, size_t n, size_t item_bytes)
{
	size_t cap = grown_cap(a, n);

	assert(a->n <= a->cap);
	if (a->n + n <= a->cap)
		return 0;
	void *items = reallocarray(a->items, cap, item_bytes);
	if (!items)
		return -ENOMEM;
	h->bytes += (cap - a->cap) * item_bytes;
	a->items = items;
	a->cap = cap;
	return 0;
}

bool head_has_room(const struct head *h, size_t bytes)
{
	return bytes <= h->options.max_bytes && h->bytes <= h->options.max_bytes - bytes;
}

bool head_takes_time(const struct head *h, int64_t time_ms)
{
	return h->n_profiles == 0 ||
	       MAX_OF(h->last_ms, time_ms) - MIN_OF(h->first_ms, time_ms) <= UINT32_MAX;
}

int head_grow(struct head *h, struct head_array *a, size_t n, size_t item_bytes)
{
	if (!head_has_room(h, head_growth(a, n) * item_bytes))
		return -ENOBUFS;
	return head_grow_always(h, a, n, item_bytes);
}

int head_grow_ids(struct head *h, struct id_table *ids)
{
	size_t growth = id_table_growth(ids);

	if (growth == 0)
		return 0;
	if (!head_has_room(h, growth))
		return -ENOBUFS;
	int r = id_table_reserve(ids, h);
	if (r < 0)
		return r;
	h->bytes += growth;
	return 0;
}

/* Number 0 is the text "", and the root of all stacks, which nobody looks for. */
static int head_begin(struct head *h)
{
	uint32_t text;
	int r = head_grow(h, &h->nodes, 1, sizeof(struct segment_node));

	if (r < 0)
		return r;
	*(struct segment_node *)h->nodes.items =
		(struct segment_node){ SEGMENT_NONE, SEGMENT_NONE };
	h->nodes.n = 1;
	return head_text(h, "", 0, &text);
}

int head_new(const struct head_options *options, struct head **ret_head)
{
	_cleanup_(head_freep) struct head *h = calloc(1, sizeof(*h));

	assert(options->slot_ms > 0);
	if (!h)
		return -ENOMEM;
	h->options = *options;
	h->bytes = sizeof(*h);
	head_init_symbols(h);
	head_init_series(h);
	int r = head_begin(h);
	if (r < 0)
		return r;
	*ret_head = TAKE_PTR(h);
	return 0;
}

void head_free(struct head *h)
{
	if (!h)
		return;
	head_fini_series(h);
	struct head_array *arrays[] = { &h->texts,     &h->pool,  &h->functions, &h->mappings,
					&h->locations, &h->lines, &h->nodes,	 &h->series,
					&h->labels,    &h->order };
	struct id_table *tables[] = { &h->text_ids,	&h->function_ids, &h->mapping_ids,
				      &h->location_ids, &h->node_ids,	  &h->series_ids };

	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++)
		free(arrays[i]->items);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		id_table_fini(tables[i]);
	free(h);
}

void head_stats(const struct head *h, struct head_stats *ret_stats)
{
	*ret_stats = (struct head_stats){
		.bytes = h->bytes,
		.n_series = h->n_series,
		.n_profiles = h->n_profiles,
		.n_samples = h->n_samples,
		.first_ms = h->first_ms,
		.last_ms = h->last_ms,
	};
}
