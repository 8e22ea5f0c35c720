/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many profiles had which value.
 *
 *	profiles, or spans in them ──► entries ──► the least and the largest: rows ──► counts of each group and step
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/store/query/query_points.h"
#include "agent/store/query/query_steps.h"
#include "agent/util/macro.h"

#define ROWS QUERY_HEATMAP_ROWS

struct entry {
	uint32_t group;
	uint64_t step;
	struct query_exemplar of;
};

struct gathering {
	struct query q; /* one step longer than was asked for */
	const struct query_series_options *options;
	bool of_spans;
	struct query_steps steps;
	struct query_group_by by;
	struct query_groups groups;
	struct query_spans spans;
	struct entry *entries;
	size_t n, cap;
};

/* ---- gather ---- */

static int make_room(struct gathering *g)
{
	size_t cap = MAX_OF(2 * g->cap, (size_t)256);
	struct entry *entries = query_realloc(g->q.memory, g->entries, cap, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	g->entries = entries;
	g->cap = cap;
	return 0;
}

static int put(struct gathering *g, const struct entry *entry)
{
	int r = g->n == g->cap ? make_room(g) : 0;

	if (r == 0)
		g->entries[g->n++] = *entry;
	return r;
}

static int put_spans(struct gathering *g, const struct query_part *part, size_t slot,
		     struct entry *entry)
{
	int r = query_spans_load(&g->spans, part, slot, NULL);

	for (size_t i = 0; r == 0 && i < g->spans.n; i++) {
		entry->of.span = g->spans.items[i].id;
		entry->of.value = g->spans.items[i].value;
		r = put(g, entry);
	}
	return r;
}

static int gather_slot(struct gathering *g, const struct query_part *part, size_t i,
		       struct entry *entry)
{
	struct segment_slot slot;

	segment_slot(part->segment, i, &slot);
	entry->step = query_steps_of(&g->steps, slot.time_ms);
	entry->of.time_ms = slot.time_ms;
	entry->of.value = slot.total;
	if (entry->step > g->steps.n)
		return 0;
	return g->of_spans ? put_spans(g, part, i, entry) : put(g, entry);
}

static int gather_part(void *user, const struct query_part *part)
{
	struct gathering *g = user;
	int r = 0;

	for (size_t i = 0; i < segment_n_series(part->segment) && r == 0; i++) {
		struct query_slots slots = query_slots(part, i);
		struct entry entry = { .of = { .segment = part->segment, .series = i } };

		if (slots.first < slots.end)
			r = query_group_by_add(&g->by, &g->groups, part->segment, i, &entry.group);
		for (; r == 0 && slots.first < slots.end; slots.first++)
			r = gather_slot(g, part, slots.first, &entry);
	}
	return r;
}

static int gathering_init(struct gathering *g, const struct query *q,
			  const struct query_series_options *options, bool of_spans)
{
	*g = (struct gathering){ .q = *q, .options = options, .of_spans = of_spans };
	query_groups_init(&g->groups, q->memory);
	int r = query_steps_init(&g->steps, options->step_s, &g->q);
	return r < 0 ? r
		     : query_group_by_init(&g->by, options->group_by, options->n_group_by,
					   q->memory);
}

static void gathering_fini(struct gathering *g)
{
	query_free(g->by.names);
	query_groups_fini(&g->groups);
	query_spans_fini(&g->spans);
	query_free(g->entries);
}

/* ---- rows ---- */

/* Whole numbers, as the real server has them. */
static void make_rows(const struct gathering *g, int64_t y_min[ROWS])
{
	int64_t least = INT64_MAX, largest = 0;

	for (size_t i = 0; i < g->n; i++) {
		least = MIN_OF(least, g->entries[i].of.value);
		largest = MAX_OF(largest, g->entries[i].of.value);
	}
	if (g->n == 0)
		least = 0;
	uint64_t all = (uint64_t)largest - (uint64_t)least;
	for (uint64_t i = 0; i < ROWS; i++)
		y_min[i] = (int64_t)((uint64_t)least + all / ROWS * i + all % ROWS * i / ROWS);
}

/* The last one that begins with the value or below: of rows that begin with the same number the others stay empty. */
static size_t row_of(const int64_t y_min[ROWS], int64_t value)
{
	size_t row = ROWS - 1;

	while (row > 0 && y_min[row] > value)
		row--;
	return row;
}

/* ---- slots ---- */

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->of.value != y->of.value)
		return x->of.value < y->of.value ? -1 : 1;
	return (x->of.time_ms > y->of.time_ms) - (x->of.time_ms < y->of.time_ms);
}

/* Entries of one step; their rows ascend. */
static int make_slot(const struct gathering *g, const struct entry *entries, size_t n,
		     const int64_t y_min[ROWS], struct query_heatmap_slot *ret_slot)
{
	struct query_heatmap_slot slot = { .time_ms = query_steps_ms(&g->steps, entries->step) };
	const struct query_exemplar *best[ROWS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct query_exemplar *e = &entries[i].of;
		size_t row = row_of(y_min, e->value);

		slot.counts[row] += slot.counts[row] < INT32_MAX;
		if (!best[row] || query_exemplar_better(e, best[row]))
			best[row] = e;
	}
	if (g->options->exemplars != QUERY_NO_EXEMPLARS) {
		slot.exemplars = query_malloc(g->q.memory, ROWS, sizeof(*slot.exemplars));
		if (!slot.exemplars)
			return -ENOMEM;
		for (size_t row = 0; row < ROWS; row++)
			if (best[row])
				slot.exemplars[slot.n_exemplars++] = *best[row];
	}
	*ret_slot = slot;
	return 0;
}

/* How many of the entries from `first` on are of one group, and in how many steps. */
static size_t count_group(const struct gathering *g, size_t first, size_t *ret_n_steps)
{
	size_t i = first;

	*ret_n_steps = 0;
	for (; i < g->n && g->entries[i].group == g->entries[first].group; i++)
		*ret_n_steps += i == first || g->entries[i].step != g->entries[i - 1].step;
	return i - first;
}

static size_t count_step(const struct entry *entries, size_t n)
{
	size_t i = 1;

	while (i < n && entries[i].step == entries->step)
		i++;
	return i;
}

/* Takes the labels of the group. */
static int make_series(struct gathering *g, const struct entry *entries, size_t n, size_t n_steps,
		       const int64_t y_min[ROWS], struct query_heatmap_series *series)
{
	int r = 0;

	*series = (struct query_heatmap_series){
		.slots = query_malloc(g->q.memory, n_steps, sizeof(*series->slots)),
		.labels = g->groups.sets[entries->group],
	};
	g->groups.sets[entries->group] = (struct query_labels){ 0 };
	if (!series->slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		series->sum += (double)entries[i].of.value;
	for (size_t i = 0, n_slot; i < n && r == 0; i += n_slot) {
		n_slot = count_step(entries + i, n - i);
		r = make_slot(g, entries + i, n_slot, y_min, &series->slots[series->n_slots]);
		series->n_slots += r == 0;
	}
	return r;
}

/* ---- series ---- */

static void series_fini(struct query_heatmap_series *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		query_free(s->slots[i].exemplars);
	query_free(s->slots);
	query_free(s->labels.items);
}

void query_heatmap_fini(struct query_heatmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		series_fini(&map->series[i]);
	query_free(map->series);
	*map = (struct query_heatmap){ 0 };
}

static int by_labels(const void *a, const void *b)
{
	const struct query_heatmap_series *x = a, *y = b;

	return query_labels_compare(&x->labels, &y->labels);
}

static int by_sum(const void *a, const void *b)
{
	const struct query_heatmap_series *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return by_labels(a, b);
}

static void cut(struct query_heatmap *map, size_t limit)
{
	if (limit > 0 && map->n > limit) {
		qsort(map->series, map->n, sizeof(*map->series), by_sum);
		while (map->n > limit)
			series_fini(&map->series[--map->n]);
	}
	qsort(map->series, map->n, sizeof(*map->series), by_labels);
}

static int make_map(struct gathering *g, struct query_heatmap *map)
{
	int r = 0;

	map->series = query_calloc(g->q.memory, g->groups.keys.n + 1, sizeof(*map->series));
	if (!map->series)
		return -ENOMEM;
	make_rows(g, map->y_min);
	if (g->n > 0)
		qsort(g->entries, g->n, sizeof(*g->entries), compare_entries);
	for (size_t i = 0, n, n_steps; i < g->n && r == 0; i += n) {
		n = count_group(g, i, &n_steps);
		r = make_series(g, g->entries + i, n, n_steps, map->y_min, &map->series[map->n++]);
	}
	if (r == 0)
		cut(map, g->options->limit);
	return r;
}

int query_heatmap(const struct query *q, const struct query_series_options *options, bool of_spans,
		  struct query_heatmap *ret_map)
{
	_cleanup_(gathering_fini) struct gathering g;
	_cleanup_(query_heatmap_fini) struct query_heatmap map = { 0 };
	int r = gathering_init(&g, q, options, of_spans);

	if (r == 0)
		r = query_each_part(&g.q, gather_part, &g);
	if (r == 0)
		r = make_map(&g, &map);
	if (r < 0)
		return r;
	*ret_map = map;
	map = (struct query_heatmap){ 0 };
	return 0;
}
