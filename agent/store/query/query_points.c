/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of steps, of which few are in use: a list that is put in order when it would grow. */
#include "agent/store/query/query_points.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/store/query/query_private.h"
#include "agent/util/macro.h"

static int compare(const void *a, const void *b)
{
	const struct query_sum *x = a, *y = b;

	return (x->step > y->step) - (x->step < y->step);
}

bool query_exemplar_better(const struct query_exemplar *a, const struct query_exemplar *b)
{
	return a->value != b->value ? a->value > b->value : a->time_ms < b->time_ms;
}

static void add_sum(struct query_sum *to, const struct query_sum *sum)
{
	struct query_exemplar *other = sum->exemplar;

	to->value += sum->value;
	to->n_profiles += sum->n_profiles;
	if (other && (!to->exemplar || query_exemplar_better(other, to->exemplar))) {
		other = to->exemplar;
		to->exemplar = sum->exemplar;
	}
	query_free(other);
}

void query_points_finish(struct query_points *p)
{
	size_t n = 0;

	if (p->n == 0)
		return;
	qsort(p->items, p->n, sizeof(*p->items), compare);
	for (size_t i = 1; i < p->n; i++) {
		if (p->items[i].step == p->items[n].step)
			add_sum(&p->items[n], &p->items[i]);
		else
			p->items[++n] = p->items[i];
	}
	p->n = n + 1;
}

static int make_room(struct query_points *p, struct query_memory *memory)
{
	size_t cap = MAX_OF(2 * p->cap, (size_t)16);
	struct query_sum *items;

	query_points_finish(p);
	if (p->n < p->cap / 2)
		return 0;
	items = query_realloc(memory, p->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	p->items = items;
	p->cap = cap;
	return 0;
}

int query_points_add(struct query_points *p, const struct query_sum *sum,
		     struct query_memory *memory)
{
	int r;

	if (p->n > 0 && p->items[p->n - 1].step == sum->step) {
		add_sum(&p->items[p->n - 1], sum);
		return 0;
	}
	r = p->n == p->cap ? make_room(p, memory) : 0;
	if (r < 0) {
		query_free(sum->exemplar);
		return r;
	}
	assert(p->n < p->cap);
	p->items[p->n++] = *sum;
	return 0;
}

void query_points_fini(struct query_points *p)
{
	for (size_t i = 0; i < p->n; i++)
		query_free(p->items[i].exemplar);
	query_free(p->items);
	*p = (struct query_points){ 0 };
}
