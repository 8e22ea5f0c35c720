/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of each question fails once: an error comes back, and nothing is lost or freed twice. */
#include <errno.h>
#include <stdlib.h>
#include <assert.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "agent/store/tree/flamebearer.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/query/query_context.h"

typedef int (*question_fn)(const struct query *q);

static int ask_selector(const struct query *q)
{
	_cleanup_(selector_freep) struct selector *s = NULL;
	_cleanup_(selector_on_freep) struct selector_on *on = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int r = selector_new("process_cpu{host=~\"h.*\",'p'!=\"y\",\"process_cpu\"}", &why, &s);

	return r == 0 ? selector_on_new(s, q->view->segments[0], &on) : r;
}

static int draw(struct call_tree *t)
{
	_cleanup_(flamebearer_fini) struct flamebearer f = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);
	int r = flamebearer_new_diff(t, &f);

	if (r == 0)
		r = flamebearer_json(&f, &out);
	return r == 0 ? call_tree_bytes(t, &out) : r;
}

static int ask_tree(const struct query *q)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	int r = call_tree_new(q->memory, (size_t)1 << 20, &t);

	if (r == 0)
		r = query_tree(q, CALL_LEFT, t);
	if (r == 0)
		r = query_tree(q, CALL_RIGHT, t);
	if (r == 0)
		r = call_tree_finish(t);
	if (r == 0)
		r = call_tree_prune(t, 3);
	return r == 0 ? draw(t) : r;
}

static int ask_names(const struct query *q)
{
	struct query_names names = { 0 };
	int r = query_label_names(q, &names);

	query_names_fini(&names);
	if (r == 0)
		r = query_label_values(q, "host", &names);
	query_names_fini(&names);
	return r;
}

static int ask_sets(const struct query *q)
{
	static const char *const names[] = { "host", "p" };
	struct query_label_sets sets = { 0 };
	int r = query_label_sets(q, names, ARRAY_SIZE(names), &sets);

	query_label_sets_fini(&sets);
	return r;
}

static int ask_series(const struct query *q)
{
	static const char *const names[] = { "host", "p" };
	struct query_series_list list = { 0 };
	const struct query_series_options options = {
		.group_by = names,
		.n_group_by = ARRAY_SIZE(names),
		.step_s = 1,
		.exemplars = QUERY_EXEMPLARS_OF_PROFILES,
		.limit = 1,
	};
	int r = query_series(q, &options, &list);

	query_series_list_fini(&list);
	return r;
}

static int ask_heatmap(const struct query *q)
{
	static const char *const names[] = { "host", "p" };
	struct query_heatmap map = { 0 };
	const struct query_series_options options = {
		.group_by = names,
		.n_group_by = ARRAY_SIZE(names),
		.step_s = 1,
		.exemplars = QUERY_EXEMPLARS_OF_PROFILES,
		.limit = 1,
	};
	int r = query_heatmap(q, &options, false, &map);

	query_heatmap_fini(&map);
	return r;
}

static int ask_profile(const struct query *q)
{
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	return query_profile(q, 4, &out);
}

static int ask_frames(const struct query *given)
{
	_cleanup_(query_frames_freep) struct query_frames *f = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct query q = *given;
	int r = query_frames_new(&f);

	if (r == 0)
		r = query_frames_add(f, "b", false, true, &why);
	if (r == 0)
		r = query_frames_add(f, "^c", true, false, &why);
	q.frames = f;
	return r == 0 ? ask_tree(&q) : r;
}

struct row {
	const char *name;
	question_fn ask;
};

static const struct row rows[] = {
	{ "selector", ask_selector }, { "tree", ask_tree },	{ "names", ask_names },
	{ "sets", ask_sets },	      { "series", ask_series }, { "profile", ask_profile },
	{ "heatmap", ask_heatmap },   { "frames", ask_frames },
};

static const struct row bounded_rows[] = {
	{ "tree", ask_tree },	  { "names", ask_names },     { "sets", ask_sets },
	{ "series", ask_series }, { "profile", ask_profile }, { "heatmap", ask_heatmap },
	{ "frames", ask_frames },
};

static void make_context(struct context *w)
{
	context_init(w);
	context_put(w, 0, "host=h1,p=x", 1000, "a;b 3\na 1\na|b;c 9\n0x10;a 2\n");
	context_put(w, 0, "host=h2", 2000, "a;b 30\nc 10\nd;e;f 1\n");
	context_put(w, 1, "host=h1", 3000, "a;b 300\n");
	context_close(w);
}

static void test_question(void **state)
{
	question_fn ask = ((const struct row *)*state)->ask;
	const char *const site[] = { "a" };
	size_t nth = 1;
	struct context w;

	make_context(&w);
	for (size_t n_site = 0; n_site < 2; n_site++) {
		struct query q = context_query(&w);

		q.call_site = site;
		q.n_call_site = n_site;
		for (nth = 1;; nth++) {
			alloc_fail_arm(nth);
			int r = ask(&q);

			if (!alloc_fail_disarm()) {
				assert_int_equal(r, 0);
				break;
			}
			assert_true(r < 0);
		}
		assert_true(nth > 5);
	}
	context_fini(&w);
}

/* Accounts of every size up to the one that is enough: what does not fit is told, and all is given back. */
static void test_account(void **state)
{
	question_fn ask = ((const struct row *)*state)->ask;
	const char *const site[] = { "a" };
	struct context w;

	make_context(&w);
	for (size_t n_site = 0; n_site < 2; n_site++) {
		struct query_memory memory = { 0 };
		struct query q = context_query(&w);
		size_t n_refused = 0;

		q.memory = &memory;
		q.call_site = site;
		q.n_call_site = n_site;
		for (size_t max = 0;; max += 1024) {
			memory = (struct query_memory){ .max_bytes = max };
			int r = ask(&q);

			assert_int_equal(memory.used_bytes, 0);
			if (r == 0)
				break;
			assert_true(r == -ENOMEM || r == -ENOBUFS);
			assert_true(memory.full);
			n_refused++;
		}
		assert_true(n_refused > 1);
	}
	context_fini(&w);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_question, rows, name),
	/* Parsing a selector is bounded by its length. */
	TEST_ROWS(test_account, bounded_rows, name),
};

TEST_MAIN(tests)
