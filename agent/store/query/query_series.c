/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_points.h"
#include "agent/store/query/query_private.h"
#include "agent/store/query/query_steps.h"
#include "agent/util/macro.h"

struct summing {
	struct query q; /* one step longer than was asked for */
	const struct query_series_options *options;
	struct query_steps steps;
	struct query_group_by by;
	struct query_groups groups;
	struct query_points *points; /* of each group */
	size_t cap;
	struct query_spans spans;
};

/* What is summed of one series. */
struct summed {
	const struct query_part *part;
	const bool *within; /* its nodes; NULL: at all */
	size_t series;
	struct query_slots slots; /* that are left */
};

static int take_exemplar(struct summing *sums, const struct query_exemplar *e,
			 struct query_sum *sum)
{
	if (e->value == 0 || (sum->exemplar && !query_exemplar_better(e, sum->exemplar)))
		return 0;
	if (!sum->exemplar)
		sum->exemplar = query_malloc(sums->q.memory, 1, sizeof(*sum->exemplar));
	if (!sum->exemplar)
		return -ENOMEM;
	*sum->exemplar = *e;
	return 0;
}

static int take_spans(struct summing *sums, const struct summed *of, size_t slot,
		      struct query_exemplar *e, struct query_sum *sum)
{
	int r = query_spans_load(&sums->spans, of->part, slot, of->within);

	for (size_t i = 0; r == 0 && i < sums->spans.n; i++) {
		e->span = sums->spans.items[i].id;
		e->value = sums->spans.items[i].value;
		r = take_exemplar(sums, e, sum);
	}
	return r;
}

static int take_exemplars(struct summing *sums, const struct summed *of, size_t slot,
			  int64_t time_ms, double value, struct query_sum *sum)
{
	struct query_exemplar e = { .time_ms = time_ms,
				    .value = value < (double)INT64_MAX ? (int64_t)value : INT64_MAX,
				    .segment = of->part->segment,
				    .series = of->series };

	switch (sums->options->exemplars) {
	case QUERY_EXEMPLARS_OF_PROFILES:
		return take_exemplar(sums, &e, sum);
	case QUERY_EXEMPLARS_OF_SPANS:
		return take_spans(sums, of, slot, &e, sum);
	case QUERY_NO_EXEMPLARS:
		break;
	}
	return 0;
}

/* The slots of one step, of those that are left. */
static int sum_step(struct summing *sums, struct summed *of, struct query_sum *ret_sum)
{
	const struct segment *s = of->part->segment;
	struct query_sum sum = { 0 };
	size_t first = of->slots.first;
	int r = 0;

	for (; r == 0 && of->slots.first < of->slots.end; of->slots.first++) {
		struct segment_slot slot;

		segment_slot(s, of->slots.first, &slot);
		if (of->slots.first == first)
			sum.step = query_steps_of(&sums->steps, slot.time_ms);
		else if (query_steps_of(&sums->steps, slot.time_ms) != sum.step)
			break;
		double value = of->within ? segment_sum_slot(s, of->slots.first, of->within)
					  : (double)slot.total;
		sum.value += value;
		sum.n_profiles += slot.n_profiles;
		r = take_exemplars(sums, of, of->slots.first, slot.time_ms, value, &sum);
	}
	*ret_sum = sum;
	return r;
}

static int reserve(struct summing *sums)
{
	size_t cap = MAX_OF(2 * sums->cap, sums->groups.keys.n + 16);
	struct query_points *points;

	if (sums->groups.keys.n <= sums->cap)
		return 0;
	points = query_realloc(sums->q.memory, sums->points, cap, sizeof(*points));
	if (!points)
		return -ENOMEM;
	memset(points + sums->cap, 0, (cap - sums->cap) * sizeof(*points));
	sums->points = points;
	sums->cap = cap;
	return 0;
}

static int sum_one(struct summing *sums, struct summed *of)
{
	uint32_t group;
	int r = query_group_by_add(&sums->by, &sums->groups, of->part->segment, of->series, &group);

	if (r < 0)
		return r;
	r = reserve(sums);
	while (r == 0 && of->slots.first < of->slots.end) {
		struct query_sum sum;

		r = sum_step(sums, of, &sum);
		if (r == 0 && sum.step <= sums->steps.n)
			r = query_points_add(&sums->points[group], &sum, sums->q.memory);
		else
			query_free(sum.exemplar);
	}
	return r;
}

static int sum_part(void *user, const struct query_part *part)
{
	struct summing *sums = user;
	_cleanup_query_free_ bool *within = NULL;
	int r = query_within(part, &within);

	for (size_t i = 0; i < segment_n_series(part->segment) && r == 0; i++) {
		struct summed of = {
			.part = part, .within = within, .series = i, .slots = query_slots(part, i)
		};

		if (of.slots.first < of.slots.end)
			r = sum_one(sums, &of);
	}
	return r;
}

static int summing_init(struct summing *sums, const struct query *q,
			const struct query_series_options *options)
{
	*sums = (struct summing){ .q = *q, .options = options };
	query_groups_init(&sums->groups, q->memory);
	int r = query_steps_init(&sums->steps, options->step_s, &sums->q);
	return r < 0 ? r
		     : query_group_by_init(&sums->by, options->group_by, options->n_group_by,
					   q->memory);
}

static void summing_fini(struct summing *sums)
{
	for (size_t i = 0; i < sums->cap; i++)
		query_points_fini(&sums->points[i]);
	query_free(sums->points);
	query_free(sums->by.names);
	query_groups_fini(&sums->groups);
	query_spans_fini(&sums->spans);
}

static void series_fini(struct query_series *s)
{
	for (size_t i = 0; i < s->n_points; i++)
		query_free(s->points[i].exemplar);
	query_free(s->labels.items);
	query_free(s->points);
}

void query_series_list_fini(struct query_series_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		series_fini(&list->items[i]);
	query_free(list->items);
	*list = (struct query_series_list){ 0 };
}

/* Takes the labels of the group. */
static int make_series(struct summing *sums, size_t group, struct query_series *ret_series)
{
	bool average = sums->options->aggregation == QUERY_AVERAGE;
	struct query_points *p = &sums->points[group];
	struct query_series series = { 0 };

	query_points_finish(p);
	series.points = query_malloc(sums->q.memory, p->n + 1, sizeof(*series.points));
	if (!series.points)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		double divisor =
			average && p->items[i].n_profiles > 0 ? (double)p->items[i].n_profiles : 1;

		series.points[series.n_points++] = (struct query_point){
			.time_ms = query_steps_ms(&sums->steps, p->items[i].step),
			.value = p->items[i].value / divisor,
			.exemplar = p->items[i].exemplar,
		};
		p->items[i].exemplar = NULL;
		series.sum += p->items[i].value / divisor;
	}
	series.labels = sums->groups.sets[group];
	sums->groups.sets[group] = (struct query_labels){ 0 };
	*ret_series = series;
	return 0;
}

static int compare_series(const void *a, const void *b)
{
	const struct query_series *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return query_labels_compare(&x->labels, &y->labels);
}

static void cut(struct query_series_list *list, size_t limit)
{
	while (limit > 0 && list->n > limit)
		series_fini(&list->items[--list->n]);
}

static int make_list(struct summing *sums, struct query_series_list *ret_list)
{
	_cleanup_(query_series_list_fini) struct query_series_list list = { 0 };
	int r = 0;

	list.items = query_calloc(sums->q.memory, sums->groups.keys.n + 1, sizeof(*list.items));
	if (!list.items)
		return -ENOMEM;
	for (size_t i = 0; i < sums->groups.keys.n && r == 0; i++)
		if (sums->points[i].n > 0) {
			r = make_series(sums, i, &list.items[list.n]);
			list.n += r == 0;
		}
	if (r < 0)
		return r;
	qsort(list.items, list.n, sizeof(*list.items), compare_series);
	cut(&list, sums->options->limit);
	*ret_list = list;
	list = (struct query_series_list){ 0 };
	return 0;
}

int query_series(const struct query *q, const struct query_series_options *options,
		 struct query_series_list *ret_list)
{
	_cleanup_(summing_fini) struct summing sums;
	int r = summing_init(&sums, q, options);

	if (r < 0)
		return r;
	r = query_each_part(&sums.q, sum_part, &sums);
	return r < 0 ? r : make_list(&sums, ret_list);
}
