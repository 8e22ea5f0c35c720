/* SPDX-License-Identifier: Apache-2.0 */
/* Which stacks are taken by the functions in them: names, parts of names, several at once, beside a call site, in trees and over time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/query/query_context.h"

static void make_context(struct context *w)
{
	context_init(w);
	context_put(w, 0, "service_name=s", 1000,
		    "root;a 1\nroot;a;b 10\nroot;b 100\nroot;forbidden 1000\n"
		    "root;a;forbidden 10000\n");
	/* Inlined, without a name, and within a span. */
	context_put(w, 1, "service_name=s", 2000,
		    "root;c|a 100000\nroot;0x10 1000000\nroot;a;#1f 10000000\n");
	context_close(w);
}

#define EVERYTHING 11111111

struct row {
	const char *name;
	const char *has[3], *lacks[3], *like[3], *unlike[3]; /* up to NULL */
	const char *call_site[3];
	int64_t expected;
};

#define HAS(...) .has = { __VA_ARGS__ }
#define LACKS(...) .lacks = { __VA_ARGS__ }
#define LIKE(...) .like = { __VA_ARGS__ }
#define UNLIKE(...) .unlike = { __VA_ARGS__ }
#define BELOW(...) .call_site = { __VA_ARGS__ }

static const struct row rows[] = {
	{ "all", .expected = EVERYTHING },
	{ "one", HAS("a"), .expected = 10110011 },
	{ "two", HAS("a", "b"), .expected = 10 },
	{ "twice the same", HAS("a", "a"), .expected = 10110011 },
	{ "without one", LACKS("forbidden"), .expected = 11100111 },
	{ "without either", LACKS("a", "b"), .expected = 1001000 },
	{ "with one, without another", HAS("a"), LACKS("forbidden"), .expected = 10100011 },
	{ "a name that is nowhere", HAS("nope"), .expected = 0 },
	{ "without what is nowhere", LACKS("nope"), .expected = EVERYTHING },
	{ "a part of a name", HAS("rbid"), .expected = 0 },
	{ "an expression on a part", LIKE("rbid"), .expected = 11000 },
	{ "a whole one", LIKE("^a$"), .expected = 10110011 },
	{ "a choice", LIKE("^a$|^b$"), .expected = 10110111 },
	{ "two expressions", LIKE("^a$", "^b$"), .expected = 10 },
	{ "a name and an expression", HAS("a"), LIKE("^b$"), .expected = 10 },
	{ "one frame for both", HAS("a"), LIKE("^a$"), .expected = 10110011 },
	{ "without a part", UNLIKE("forb"), .expected = 11100111 },
	{ "with and without expressions", LIKE("^a$"), UNLIKE("^forbidden$"),
	  .expected = 10100011 },
	{ "everything", LIKE(""), .expected = EVERYTHING },
	{ "without everything", UNLIKE(".*"), .expected = 0 },
	{ "what calls an inlined one", HAS("c"), .expected = 100000 },
	{ "below a call site", HAS("b"), BELOW("root", "a"), .expected = 10 },
	{ "beside a call site", HAS("forbidden"), BELOW("root", "b"), .expected = 0 },
};

static void add_all(struct query_frames *f, const char *const *texts, bool is_regex, bool is_wanted)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	for (; *texts; texts++)
		assert_int_equal(query_frames_add(f, *texts, is_regex, is_wanted, &why),
				 QUERY_FRAMES_ADDED);
}

static double sum_over_time(const struct query *q)
{
	const struct query_series_options options = { .step_s = 10 };
	struct query_series_list list = { 0 };

	assert_int_equal(query_series(q, &options, &list), 0);
	double sum = list.n ? list.items[0].sum : 0;
	query_series_list_fini(&list);
	return sum;
}

/* A tree leaves out what has an address alone. */
static int64_t sum_of_tree(const struct query *q)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;

	assert_int_equal(call_tree_new(q->memory, (size_t)1 << 20, &t), 0);
	assert_int_equal(query_tree(q, CALL_LEFT, t), 0);
	assert_int_equal(call_tree_finish(t), 0);
	return call_tree_node(t, CALL_ROOT)->total[CALL_LEFT];
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_(query_frames_freep) struct query_frames *f = NULL;
	struct context w;

	make_context(&w);
	struct query q = context_query(&w);
	assert_int_equal(query_frames_new(&f), 0);
	add_all(f, row->has, false, true);
	add_all(f, row->lacks, false, false);
	add_all(f, row->like, true, true);
	add_all(f, row->unlike, true, false);
	q.frames = f;
	q.call_site = row->call_site;
	while (row->call_site[q.n_call_site])
		q.n_call_site++;
	assert_int_equal((int64_t)sum_over_time(&q), row->expected);
	assert_int_equal(sum_of_tree(&q), row->expected);
	context_fini(&w);
}

static void test_refused(void **state)
{
	static const char *const wrong[] = { "[", "a)(b", "(?<n", "\\C" };
	_cleanup_(query_frames_freep) struct query_frames *f = NULL;

	(void)state;
	assert_int_equal(query_frames_new(&f), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(4096);

		assert_int_equal(query_frames_add(f, wrong[i], true, true, &why),
				 QUERY_FRAMES_WRONG);
		assert_true(why.len > 0);
	}
	for (size_t i = 0; i <= QUERY_FRAMES_MAX; i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(4096);

		assert_int_equal(query_frames_add(f, "a", false, true, &why),
				 i < QUERY_FRAMES_MAX ? QUERY_FRAMES_ADDED : QUERY_FRAMES_WRONG);
	}
}

/* One that goes back and forth. */
static void test_takes_too_long(void **state)
{
	_cleanup_(query_frames_freep) struct query_frames *f = NULL;
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct context w;

	(void)state;
	context_init(&w);
	context_put(&w, 0, "service_name=s", 1000,
		    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxzyq 1\n");
	context_close(&w);
	struct query q = context_query(&w);
	assert_int_equal(query_frames_new(&f), 0);
	assert_int_equal(query_frames_add(f, "(x+x+)+yq", true, true, &why), QUERY_FRAMES_ADDED);
	q.frames = f;
	assert_int_equal(call_tree_new(q.memory, (size_t)1 << 20, &t), 0);
	assert_int_equal(query_tree(&q, CALL_LEFT, t), -ETIMEDOUT);
	context_fini(&w);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_refused),
	TEST(test_takes_too_long),
};

TEST_MAIN(tests)
