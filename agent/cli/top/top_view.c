/* SPDX-License-Identifier: Apache-2.0 */
/* From an interval to what a screen shows of it. */
#include "agent/cli/top/top_view.h"

#include <stdlib.h>
#include <string.h>

#include "agent/profile/top_table.h"
#include "agent/profile/waker_frame.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Of the functions of one interval. */
#define TABLE_MAX_BYTES ((size_t)64 << 20)

static uint64_t series_weight(const struct series *series)
{
	uint64_t weight = 0;

	for (const struct stack *s = series->stacks; s; s = s->next)
		weight += (uint64_t)stack_weight(s);
	return weight;
}

/* A service is what processes of one name are: one series each. */
struct weighed {
	const struct series *series;
	uint64_t weight;
};

static int compare_weighed(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(series_name(x->series), series_name(y->series));
}

static int put_service(struct top_view *v, const struct weighed *w, struct namer *namer)
{
	struct top_view_row *row = &v->services[v->n_services];
	struct top_table leaves;
	int r;

	top_table_init(&leaves, TABLE_MAX_BYTES);
	r = top_table_add_leaves(&leaves, w->series, namer);
	const struct top_row *hottest = top_table_by_self(&leaves);
	str_copy_utf8(row->name, sizeof(row->name), str_from(series_name(w->series)));
	str_copy_utf8(row->of, sizeof(row->of), str_from(hottest ? hottest->function : ""));
	row->self = row->total = w->weight;
	v->n_services++;
	top_table_fini(&leaves);
	return r;
}

static int put_services(struct top_view *v, const struct interval *interval, struct namer *namer)
{
	_cleanup_free_ struct weighed *all = calloc(interval->n_series + 1, sizeof(*all));
	size_t n = 0;
	int r = 0;

	if (!all)
		return -ENOMEM;
	for (const struct series *s = interval->series; s && n < interval->n_series; s = s->next)
		all[n++] = (struct weighed){ s, series_weight(s) };
	qsort(all, n, sizeof(*all), compare_weighed);
	v->n_all_services = n;
	for (size_t i = 0; r == 0 && i < MIN_OF(n, (size_t)TOP_VIEW_SERVICES); i++)
		r = put_service(v, &all[i], namer);
	return r;
}

static void put_function(struct top_view *v, const struct top_row *from)
{
	struct top_view_row *row = &v->functions[v->n_functions++];

	str_copy_utf8(row->name, sizeof(row->name), str_from(from->function));
	str_copy_utf8(row->of, sizeof(row->of), str_basename(str_from(from->path)));
	row->self = from->self;
	row->total = from->total;
}

/* The frame of a waker is no function. False: it is none. */
static bool put_waker(struct top_view *v, const struct top_row *from)
{
	struct str name = waker_name_in(from->function);
	size_t i = v->n_wakers;

	if (!name.n)
		return false;
	while (i > 0 && v->wakers[i - 1].total < from->total)
		i--;
	if (i == TOP_VIEW_WAKERS)
		return true;
	v->n_wakers = MIN_OF(v->n_wakers + 1, (size_t)TOP_VIEW_WAKERS);
	memmove(&v->wakers[i + 1], &v->wakers[i], (v->n_wakers - 1 - i) * sizeof(*v->wakers));
	v->wakers[i] = (struct top_view_row){ .total = from->total };
	str_copy_utf8(v->wakers[i].name, sizeof(v->wakers[i].name), name);
	return true;
}

static void put_rows(struct top_view *v, const struct top_row *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (put_waker(v, rows[i]))
			continue;
		if (v->n_functions < TOP_VIEW_FUNCTIONS)
			put_function(v, rows[i]);
		v->n_all_functions++;
	}
}

static int put_functions(struct top_view *v, const struct interval *interval, struct namer *namer,
			 struct top_table *table)
{
	_cleanup_free_ const struct top_row **rows = NULL;
	size_t n = 0;
	int r = 0;

	for (const struct series *s = interval->series; r == 0 && s; s = s->next)
		r = s->event == EVENT_TCP ? top_table_add_leaves(table, s, namer)
					  : top_table_add_series(table, s, namer);
	v->total = table->total;
	if (r == 0)
		r = top_table_sorted(table, &rows, &n);
	if (r == 0)
		put_rows(v, rows, n);
	return r;
}

static void put_reasons(struct top_view *v, const struct interval *interval)
{
	for (const struct series *s = interval->series; s; s = s->next)
		for (const struct stack *stack = s->stacks; stack; stack = stack->next)
			v->reasons[stack->tag ? stack->tag->reason : WAIT_UNKNOWN] +=
				(uint64_t)stack_weight(stack);
}

static int fill(struct top_view *v, const struct interval *interval, struct namer *namer)
{
	struct top_table table;
	int r = put_services(v, interval, namer);

	put_reasons(v, interval);
	top_table_init(&table, TABLE_MAX_BYTES);
	if (r == 0)
		r = put_functions(v, interval, namer, &table);
	top_table_fini(&table);
	return r;
}

void top_view_build(const struct interval *interval, struct namer *namer, struct build *build)
{
	struct top_view *v = calloc(1, sizeof(*v));

	build->summary.n_samples = interval->n_samples;
	if (!v) {
		build->summary.n_failed = interval->n_samples;
		return;
	}
	v->period_ns = interval->periods[EVENT_CPU];
	v->elapsed_ns = interval->end_real_ns - interval->begin_real_ns;
	v->end_real_ns = interval->end_real_ns;
	if (fill(v, interval, namer) < 0)
		build->summary.n_failed = interval->n_samples;
	(void)build_put(build, &(struct built){ .bytes = (uint8_t *)v, .n_bytes = sizeof(*v) });
}
