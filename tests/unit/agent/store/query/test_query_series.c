/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over time, as a Pyroscope server (1.21.1) gives them of the same profiles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "agent/store/query/query_points.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/query/query_context.h"

/* Times are told without this, as the server's time is always late. */
#define EPOCH 1700000000000

static void make_context(struct context *w)
{
	static const struct {
		int64_t ms;
		const char *stacks;
	} profiles[] = {
		{ 0, "a;b 1\na 1000" },		{ 1, "a;b 2\na 2000" },
		{ 4999, "a;b 4\na 4000" },	{ 5000, "a;b 8\na 8000" },
		{ 5001, "a;b 16\na 16000" },	{ 9999, "a;b 32\na 32000" },
		{ 10000, "a;b 64\na 64000" },	{ 10001, "a;b 128\na 128000" },
		{ 25000, "a;b 256\na 256000" },
	};
	static const struct {
		const char *labels, *stacks;
		bool late;
	} hosts[] = {
		{ "s=e2,host=h1,p=x", "a;b 5", false }, { "s=e2,host=h2,p=x", "a;b 50", true },
		{ "s=e2,host=h3,p=y", "a;b 7", false }, { "s=e2,p=z", "a;b 3", true },
		{ "s=e2,host=h1", "a;b 2", false },
	};

	context_init(w);
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
		context_put(w, i % 2, "s=e1", EPOCH + profiles[i].ms, profiles[i].stacks);
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		context_put(w, 0, hosts[i].labels, EPOCH, hosts[i].stacks);
		context_put(w, i % 2, hosts[i].labels, EPOCH + 1000, hosts[i].stacks);
		if (hosts[i].late)
			context_put(w, 1, hosts[i].labels, EPOCH + 20000, hosts[i].stacks);
	}
	/* An empty label is as good as none. */
	context_put(w, 0, "s=e3,host=", EPOCH, "a 1");
	context_put(w, 0, "s=e3", EPOCH, "a 2");
	context_close(w);
}

struct row {
	const char *name;
	const char *selector;
	int64_t start_ms, end_ms;
	double step_s;
	const char *group_by[4]; /* up to NULL */
	enum query_aggregation aggregation;
	size_t limit;
	const char *call_site[4];
	const char *expected; /* a line a series: labels, time=value … */
};

#define E1 "{s=\"e1\"}"
#define E2 "{s=\"e2\"}"

static const struct row rows[] = {
	/* what lies in (point - step, point] */
	{ "5 s",
	  E1,
	  0,
	  30000,
	  5,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 0=1001 5000=14014 10000=112112 15000=128128 25000=256256\n" },
	{ "5 s, begun before",
	  E1,
	  -1000,
	  30000,
	  5,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 4000=3003 9000=28028 14000=224224 29000=256256\n" },
	/* The first point reaches back behind the start; what is behind the last point is in none. */
	{ "5 s, begun later",
	  E1,
	  1,
	  9999,
	  5,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 1=3003 5001=28028\n" },
	{ "5 s, a profile one step before",
	  E1,
	  10000,
	  14999,
	  5,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 10000=120120\n" },
	{ "10 s", E1, 0, 10000, 10, { NULL }, QUERY_SUM, 0, { NULL }, "{} 0=1001 10000=126126\n" },
	{ "2.5 s",
	  E1,
	  0,
	  10000,
	  2.5,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 0=1001 2500=2002 5000=12012 7500=16016 10000=96096\n" },
	{ "0.5 s",
	  E1,
	  0,
	  10000,
	  0.5,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 0=1001 500=2002 5000=12012 5500=16016 10000=96096\n" },
	{ "one point", E1, 0, 4999, 15, { NULL }, QUERY_SUM, 0, { NULL }, "{} 0=1001\n" },
	{ "a step without end",
	  E1,
	  5000,
	  5000,
	  1e9,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 5000=15015\n" },
	{ "before all", E1, -100000, -1, 15, { NULL }, QUERY_SUM, 0, { NULL }, "" },
	{ "after all", E1, 100000, 200000, 15, { NULL }, QUERY_SUM, 0, { NULL }, "" },
	{ "backwards", E1, 10000, 0, 15, { NULL }, QUERY_SUM, 0, { NULL }, "" },
	/* the average of profiles */
	{ "average, 5 s",
	  E1,
	  0,
	  30000,
	  5,
	  { NULL },
	  QUERY_AVERAGE,
	  0,
	  { NULL },
	  "{} 0=1001 5000=4671.333333333333 10000=37370.66666666666 15000=128128 25000=256256\n" },
	{ "average, 15 s",
	  E1,
	  0,
	  30000,
	  15,
	  { NULL },
	  QUERY_AVERAGE,
	  0,
	  { NULL },
	  "{} 0=1001 15000=36322 30000=256256\n" },
	/* groups: the largest first, then by labels; labels that are missing are left out */
	{ "no group",
	  E2,
	  -5000,
	  30000,
	  15,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 10000=134 25000=53\n" },
	{ "by host",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "host" },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{host=h2} 10000=100 25000=50\n{host=h1} 10000=14\n{host=h3} 10000=14\n{} 10000=6 "
	  "25000=3\n" },
	{ "by p",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "p" },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{p=x} 10000=110 25000=50\n{p=y} 10000=14\n{p=z} 10000=6 25000=3\n{} 10000=4\n" },
	{ "by p and host",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "p", "host" },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{host=h2,p=x} 10000=100 25000=50\n{host=h3,p=y} 10000=14\n{host=h1,p=x} 10000=10\n"
	  "{p=z} 10000=6 25000=3\n{host=h1} 10000=4\n" },
	{ "by a label that nobody has",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "nope" },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{} 10000=134 25000=53\n" },
	{ "by one label twice",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "host", "nope", "host" },
	  QUERY_SUM,
	  0,
	  { NULL },
	  "{host=h2} 10000=100 25000=50\n{host=h1} 10000=14\n{host=h3} 10000=14\n{} 10000=6 "
	  "25000=3\n" },
	{ "average by host",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "host" },
	  QUERY_AVERAGE,
	  0,
	  { NULL },
	  "{host=h2} 10000=50 25000=50\n{host=h3} 10000=7\n{} 10000=3 25000=3\n{host=h1} "
	  "10000=3.5\n" },
	{ "average of all",
	  E2,
	  -5000,
	  30000,
	  15,
	  { NULL },
	  QUERY_AVERAGE,
	  0,
	  { NULL },
	  "{} 10000=13.4 25000=26.5\n" },
	{ "limit 1",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "host" },
	  QUERY_SUM,
	  1,
	  { NULL },
	  "{host=h2} 10000=100 25000=50\n" },
	{ "limit 3",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "host" },
	  QUERY_SUM,
	  3,
	  { NULL },
	  "{host=h2} 10000=100 25000=50\n{host=h1} 10000=14\n{host=h3} 10000=14\n" },
	{ "limit of the average",
	  E2,
	  -5000,
	  30000,
	  15,
	  { "host" },
	  QUERY_AVERAGE,
	  2,
	  { NULL },
	  "{host=h2} 10000=50 25000=50\n{host=h3} 10000=7\n" },
	/* call sites: a profile without them is a zero */
	{ "below a;b",
	  E1,
	  0,
	  30000,
	  5,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { "a", "b" },
	  "{} 0=1 5000=14 10000=112 15000=128 25000=256\n" },
	{ "below a",
	  E1,
	  0,
	  30000,
	  15,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { "a" },
	  "{} 0=1001 15000=254254 30000=256256\n" },
	{ "below a;b, average",
	  E1,
	  0,
	  30000,
	  15,
	  { NULL },
	  QUERY_AVERAGE,
	  0,
	  { "a", "b" },
	  "{} 0=1 15000=36.28571428571428 30000=256\n" },
	{ "below b",
	  E1,
	  0,
	  30000,
	  15,
	  { NULL },
	  QUERY_SUM,
	  0,
	  { "b" },
	  "{} 0=0 15000=0 30000=0\n" },
};

static size_t count(const char *const *items)
{
	size_t n = 0;

	while (items[n])
		n++;
	return n;
}

static void put_text(const struct query_series_list *list, struct buf *out)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct query_series *s = &list->items[i];

		(void)buf_append_char(out, '{');
		for (size_t k = 0; k < s->labels.n; k++)
			(void)buf_printf(out, "%s%s=%s", k ? "," : "", s->labels.items[k].name,
					 s->labels.items[k].value);
		(void)buf_append_char(out, '}');
		for (size_t k = 0; k < s->n_points; k++)
			(void)buf_printf(out, " %lld=%.16g",
					 (long long)(s->points[k].time_ms - EPOCH),
					 s->points[k].value);
		(void)buf_append_char(out, '\n');
	}
}

/* It is told beside the points, so that sorting does not add them up at each comparison. */
static void check_sums(const struct query_series_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		double sum = 0;

		for (size_t k = 0; k < list->items[i].n_points; k++)
			sum += list->items[i].points[k].value;
		assert_true(list->items[i].sum == sum);
	}
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_(selector_freep) struct selector *selector = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(65536), why = BUF_INIT(4096);
	struct query_series_list list;
	struct context w;
	struct query q;

	make_context(&w);
	q = context_query(&w);
	assert_int_equal(selector_new(row->selector, &why, &selector), SELECTOR_PARSED);
	q.selectors = &selector;
	q.n_selectors = 1;
	q.profile_type = CPU;
	q.start_ms = EPOCH + row->start_ms;
	q.end_ms = EPOCH + row->end_ms;
	q.call_site = row->call_site;
	q.n_call_site = count(row->call_site);
	assert_int_equal(
		query_series(&q,
			     &(struct query_series_options){ .group_by = row->group_by,
							     .n_group_by = count(row->group_by),
							     .step_s = row->step_s,
							     .aggregation = row->aggregation,
							     .limit = row->limit },
			     &list),
		0);
	check_sums(&list);
	put_text(&list, &text);
	assert_string_equal(buf_str(&text), row->expected);
	query_series_list_fini(&list);
	context_fini(&w);
}

static void test_wrong_step(void **state)
{
	static const double steps[] = { 0, -1, 0.0009, 1e10, 0.0 / 0.0, 1.0 / 0.0 };
	struct query_series_list list;
	struct context w;
	struct query q;

	(void)state;
	make_context(&w);
	q = context_query(&w);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		assert_int_equal(query_series(&q,
					      &(struct query_series_options){ .step_s = steps[i] },
					      &list),
				 -EINVAL);
	context_fini(&w);
}

/* Many profiles, few points: memory goes by the points. */
static void test_points_memory(void **state)
{
	struct query_points p = { 0 };
	struct query_memory memory = { .max_bytes = (size_t)1 << 20 };

	(void)state;
	for (size_t i = 0; i < 100000; i++) {
		struct query_sum sum = { .step = i % 10, .value = 1, .n_profiles = 1 };

		assert_int_equal(query_points_add(&p, &sum, &memory), 0);
	}
	query_points_finish(&p);
	assert_int_equal(p.n, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(p.items[i].step, i);
		assert_int_equal(p.items[i].n_profiles, 10000);
	}
	assert_in_range(memory.used_bytes, 1, 33 * sizeof(struct query_sum));
	query_points_fini(&p);
	assert_int_equal(memory.used_bytes, 0);
}

/* Other stacks of the segment, and points in time that are asked for: many of both. */
enum { SITE_NODES = 300000, SITE_SLOTS = 50000 };

/* Below `a` each node has two children. */
static void make_site_context(struct context *w)
{
	struct head_sample samples[2] = { { 0, 5 }, { 0, 2 } };
	struct head *h;
	uint32_t places[2], series, node;

	context_init(w);
	h = w->heads[0];
	samples[0].node = context_stack(h, STR_LIT("other"));
	samples[1].node = context_stack(h, STR_LIT("a"));
	places[0] = context_location(h, STR_LIT("b"));
	places[1] = context_location(h, STR_LIT("c"));
	for (uint32_t i = 0; i < SITE_NODES; i++)
		assert_int_equal(
			head_node(h,
				  (struct segment_node){ samples[1].node + i / 2, places[i % 2] },
				  &node),
			0);
	series = context_series(h, "s=a", CPU);
	for (int64_t i = 0; i < SITE_SLOTS; i++)
		assert_int_equal(head_put(h, series, EPOCH + i, CONTEXT_PERIOD, samples, 2), 0);
	context_close(w);
}

/* The work is that of the samples: nodes × points would take minutes. */
static void test_call_site_of_many_nodes(void **state)
{
	static const char *const site[] = { "a" };
	struct query_series_list list;
	struct context w;
	struct query q;

	(void)state;
	make_site_context(&w);
	q = context_query(&w);
	q.start_ms = EPOCH;
	q.end_ms = EPOCH + SITE_SLOTS - 1;
	q.call_site = site;
	q.n_call_site = 1;
	assert_int_equal(query_series(&q, &(struct query_series_options){ .step_s = 0.001 }, &list),
			 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.items[0].n_points, SITE_SLOTS);
	assert_true(list.items[0].sum == 2.0 * SITE_SLOTS);
	query_series_list_fini(&list);
	context_fini(&w);
}

/* Any times at all: the ends of the range of numbers, and points without end. */
static void test_far_times(void **state)
{
	static const struct {
		int64_t start_ms, end_ms;
		size_t n;
	} times[] = {
		{ INT64_MIN, INT64_MAX, 1 }, { INT64_MIN, INT64_MIN, 0 },
		{ INT64_MAX, INT64_MAX, 0 }, { 0, INT64_MAX, 1 },
		{ INT64_MAX, INT64_MIN, 0 },
	};
	struct context w;
	struct query q;

	(void)state;
	make_context(&w);
	q = context_query(&w);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct query_series_list list;

		q.start_ms = times[i].start_ms;
		q.end_ms = times[i].end_ms;
		assert_int_equal(
			query_series(&q, &(struct query_series_options){ .step_s = 0.001 }, &list),
			0);
		assert_int_equal(list.n, times[i].n);
		if (list.n > 0)
			assert_true(list.items[0].n_points >= 9);
		query_series_list_fini(&list);
	}
	context_fini(&w);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_wrong_step),
	TEST(test_far_times),
	TEST(test_points_memory),
	TEST(test_call_site_of_many_nodes),
};

TEST_MAIN(tests)
