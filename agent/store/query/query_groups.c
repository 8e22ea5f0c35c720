/* SPDX-License-Identifier: Apache-2.0 */
/* Label sets of series, each once, and the question for them. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_private.h"
#include "agent/util/macro.h"

/* Of the texts of one set: as much as all sets may take, so that no single set is an error for itself. */
#define KEY_MAX (QUERY_MAX_BYTES / 2)

void query_groups_init(struct query_groups *g, struct query_memory *memory)
{
	*g = (struct query_groups){ .memory = memory };
	query_intern_init(&g->keys, memory, KEY_MAX);
}

void query_groups_fini(struct query_groups *g)
{
	for (size_t i = 0; i < g->keys.n && g->sets; i++)
		query_free(g->sets[i].items);
	query_free(g->sets);
	query_intern_fini(&g->keys);
}

/* All labels when there are no names. The caller frees the items. */
static int take_labels(struct query_memory *memory, const struct segment *segment, size_t series,
		       const char *const *names, size_t n_names, struct query_labels *ret_labels)
{
	struct segment_series all;
	struct query_labels labels = { 0 };

	segment_series(segment, series, &all);
	labels.items =
		query_calloc(memory, MAX_OF(all.n_labels, n_names) + 1, sizeof(*labels.items));
	if (!labels.items)
		return -ENOMEM;
	for (size_t i = 0; i < all.n_labels && n_names == 0; i++)
		labels.items[labels.n++] = (struct query_label){
			segment_text(segment, all.labels[i].name),
			segment_text(segment, all.labels[i].value),
		};
	for (size_t i = 0; i < n_names; i++) {
		const char *value = segment_series_label(segment, series, names[i]);

		if (value && *value)
			labels.items[labels.n++] = (struct query_label){
				segment_text(segment, segment_find_text(segment, names[i])), value
			};
	}
	*ret_labels = labels;
	return 0;
}

static void query_labels_fini(struct query_labels *labels)
{
	query_free(labels->items);
}

static int make_key(const struct query_labels *labels, struct buf *key)
{
	for (size_t i = 0; i < labels->n; i++) {
		const struct query_label *l = &labels->items[i];
		int r = buf_append(key, l->name, strlen(l->name) + 1);

		if (r < 0)
			return r;
		r = buf_append(key, l->value, strlen(l->value) + 1);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Room for the set of the next number. */
static int reserve(struct query_groups *g)
{
	size_t cap = MAX_OF(2 * g->cap, (size_t)16);
	struct query_labels *sets;

	if (g->keys.n < g->cap)
		return 0;
	sets = query_realloc(g->memory, g->sets, cap, sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	g->sets = sets;
	g->cap = cap;
	return 0;
}

int query_groups_add(struct query_groups *g, const struct segment *segment, size_t series,
		     const char *const *names, size_t n_names, uint32_t *ret_group)
{
	_cleanup_buf_ struct buf key = BUF_INIT(KEY_MAX);
	_cleanup_(query_labels_fini) struct query_labels labels = { 0 };
	size_t n = g->keys.n;
	int r = take_labels(g->memory, segment, series, names, n_names, &labels);

	if (r < 0)
		return r;
	r = make_key(&labels, &key);
	if (r < 0)
		return r;
	r = reserve(g);
	if (r < 0)
		return r;
	r = query_intern_add(&g->keys, buf_str(&key), key.len, ret_group);
	if (r < 0 || g->keys.n == n)
		return r;
	assert(n < g->cap);
	g->sets[n] = labels;
	labels = (struct query_labels){ 0 };
	return 0;
}

int query_labels_compare(const struct query_labels *a, const struct query_labels *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int order = strcmp(a->items[i].name, b->items[i].name);

		if (order == 0)
			order = strcmp(a->items[i].value, b->items[i].value);
		if (order != 0)
			return order;
	}
	return (a->n > b->n) - (a->n < b->n);
}

struct listing {
	struct query_groups groups;
	const char *const *names;
	size_t n_names;
};

static int list_part(void *user, const struct query_part *part)
{
	struct listing *l = user;
	int r = 0;

	for (size_t i = 0; i < segment_n_series(part->segment) && r == 0; i++) {
		struct query_slots slots = query_slots(part, i);
		uint32_t group;

		if (slots.first < slots.end)
			r = query_groups_add(&l->groups, part->segment, i, l->names, l->n_names,
					     &group);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	return query_labels_compare(a, b);
}

void query_label_sets_fini(struct query_label_sets *sets)
{
	for (size_t i = 0; i < sets->n; i++)
		query_free(sets->items[i].items);
	query_free(sets->items);
	*sets = (struct query_label_sets){ 0 };
}

static void listing_fini(struct listing *l)
{
	query_groups_fini(&l->groups);
}

int query_label_sets(const struct query *q, const char *const *names, size_t n_names,
		     struct query_label_sets *ret_sets)
{
	_cleanup_(listing_fini) struct listing l = { .names = names, .n_names = n_names };
	int r;

	query_groups_init(&l.groups, q->memory);
	r = query_each_part(q, list_part, &l);
	if (r < 0)
		return r;
	*ret_sets = (struct query_label_sets){ TAKE_PTR(l.groups.sets), l.groups.keys.n };
	if (ret_sets->n > 0)
		qsort(ret_sets->items, ret_sets->n, sizeof(*ret_sets->items), compare);
	return 0;
}
