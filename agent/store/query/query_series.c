/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_points.h"
#include "agent/store/query/query_private.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

struct summing {
	struct query q; /* one step longer than was asked for */
	int64_t start_ms;
	uint64_t step_ms, n_steps; /* behind the start */
	const char **names;
	size_t n_names;
	struct query_groups groups;
	struct query_points *points; /* of each group */
	size_t cap;
};

#define MS_PER_S 1000

/* The first step that is not before the time. */
static uint64_t step_of(const struct summing *sums, int64_t time_ms)
{
	if (time_ms <= sums->start_ms)
		return 0;
	return ((uint64_t)time_ms - (uint64_t)sums->start_ms - 1) / sums->step_ms + 1;
}

/* The slots of one step, from `first` on, at nodes `within` (NULL: at all); *ret_next is the slot behind them. */
static struct query_sum sum_step(const struct summing *sums, const struct query_part *part,
				 const bool *within, size_t first, size_t end, size_t *ret_next)
{
	struct query_sum sum = { 0 };
	size_t i = first;

	for (; i < end; i++) {
		struct segment_slot slot;

		segment_slot(part->segment, i, &slot);
		if (i == first)
			sum.step = step_of(sums, slot.time_ms);
		else if (step_of(sums, slot.time_ms) != sum.step)
			break;
		sum.value +=
			within ? segment_sum_slot(part->segment, i, within) : (double)slot.total;
		sum.n_profiles += slot.n_profiles;
	}
	*ret_next = i;
	return sum;
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

/* All labels are asked for when there are no names, so a name that no series has stands for none. */
static const char *const no_names[] = { "" };

static int sum_one(struct summing *sums, const struct query_part *part, const bool *within,
		   size_t series, struct query_slots slots)
{
	uint32_t group;
	int r = query_groups_add(&sums->groups, part->segment, series,
				 sums->n_names ? sums->names : (const char **)no_names,
				 sums->n_names ? sums->n_names : 1, &group);

	if (r < 0)
		return r;
	r = reserve(sums);
	while (r == 0 && slots.first < slots.end) {
		struct query_sum sum =
			sum_step(sums, part, within, slots.first, slots.end, &slots.first);

		if (sum.step <= sums->n_steps)
			r = query_points_add(&sums->points[group], &sum, sums->q.memory);
	}
	return r;
}

static int sum_part(void *user, const struct query_part *part)
{
	struct summing *sums = user;
	_cleanup_query_free_ bool *within = NULL;
	int r = part->q->n_call_site > 0 ? query_call_site(part, &within) : 0;

	for (size_t i = 0; i < segment_n_series(part->segment) && r == 0; i++) {
		struct query_slots slots = query_slots(part, i);

		if (slots.first < slots.end)
			r = sum_one(sums, part, within, i, slots);
	}
	return r;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. */
static int take_names(struct summing *sums, const char *const *group_by, size_t n)
{
	sums->names = query_malloc(sums->q.memory, n + 1, sizeof(*sums->names));
	if (!sums->names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sums->names[i] = group_by[i];
	qsort(sums->names, n, sizeof(*sums->names), compare_texts);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(sums->names[sums->n_names - 1], sums->names[i]) != 0)
			sums->names[sums->n_names++] = sums->names[i];
	return 0;
}

static int summing_init(struct summing *sums, const struct query *q, const char *const *group_by,
			size_t n_group_by, double step_s)
{
	*sums = (struct summing){ .q = *q, .start_ms = q->start_ms };
	query_groups_init(&sums->groups, q->memory);
	if (!(step_s >= 1.0 / MS_PER_S && step_s <= QUERY_MAX_STEP_S))
		return -EINVAL;
	sums->step_ms = (uint64_t)(step_s * MS_PER_S);
	if (q->end_ms >= q->start_ms) {
		sums->n_steps = ((uint64_t)q->end_ms - (uint64_t)q->start_ms) / sums->step_ms;
		if (__builtin_sub_overflow(q->start_ms, (int64_t)sums->step_ms, &sums->q.start_ms))
			sums->q.start_ms = INT64_MIN;
	}
	return take_names(sums, group_by, n_group_by);
}

static void summing_fini(struct summing *sums)
{
	for (size_t i = 0; i < sums->cap; i++)
		query_points_fini(&sums->points[i]);
	query_free(sums->points);
	query_free(sums->names);
	query_groups_fini(&sums->groups);
}

void query_series_list_fini(struct query_series_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		query_free(list->items[i].labels.items);
		query_free(list->items[i].points);
	}
	query_free(list->items);
	*list = (struct query_series_list){ 0 };
}

/* Takes the labels of the group. */
static int make_series(struct summing *sums, size_t group, enum query_aggregation aggregation,
		       struct query_series *ret_series)
{
	struct query_points *p = &sums->points[group];
	struct query_series series = { 0 };

	query_points_finish(p);
	series.points = query_malloc(sums->q.memory, p->n + 1, sizeof(*series.points));
	if (!series.points)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		double divisor = aggregation == QUERY_AVERAGE && p->items[i].n_profiles > 0
					 ? (double)p->items[i].n_profiles
					 : 1;

		series.points[series.n_points++] = (struct query_point){
			(int64_t)((uint64_t)sums->start_ms + p->items[i].step * sums->step_ms),
			p->items[i].value / divisor,
		};
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
	while (limit > 0 && list->n > limit) {
		query_free(list->items[--list->n].labels.items);
		query_free(list->items[list->n].points);
	}
}

static int make_list(struct summing *sums, enum query_aggregation aggregation, size_t limit,
		     struct query_series_list *ret_list)
{
	_cleanup_(query_series_list_fini) struct query_series_list list = { 0 };
	int r = 0;

	list.items = query_calloc(sums->q.memory, sums->groups.keys.n + 1, sizeof(*list.items));
	if (!list.items)
		return -ENOMEM;
	for (size_t i = 0; i < sums->groups.keys.n && r == 0; i++)
		if (sums->points[i].n > 0) {
			r = make_series(sums, i, aggregation, &list.items[list.n]);
			list.n += r == 0;
		}
	if (r < 0)
		return r;
	qsort(list.items, list.n, sizeof(*list.items), compare_series);
	cut(&list, limit);
	*ret_list = list;
	list = (struct query_series_list){ 0 };
	return 0;
}

int query_series(const struct query *q, const char *const *group_by, size_t n_group_by,
		 double step_s, enum query_aggregation aggregation, size_t limit,
		 struct query_series_list *ret_list)
{
	_cleanup_(summing_fini) struct summing sums;
	int r = summing_init(&sums, q, group_by, n_group_by, step_s);

	if (r < 0)
		return r;
	r = query_each_part(&sums.q, sum_part, &sums);
	if (r < 0)
		return r;
	return make_list(&sums, aggregation, limit, ret_list);
}
