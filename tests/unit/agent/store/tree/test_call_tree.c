/* SPDX-License-Identifier: Apache-2.0 */
/* Call trees: merged, in order, summed; pruned as a Pyroscope server (1.21.1) prunes the same stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/tree/call_tree.h"
#include "tests/support/broken_contract.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/tree/tree_text.h"

#define MAX_BYTES ((size_t)16 << 20)

struct tree_row {
	const char *name;
	const char *left;
	const char *right; /* of a comparison, or NULL */
	size_t max_nodes;
	const char
		*expected; /* preorder: depth dots, name, self, total; both sides of a comparison */
};

#define SMALL "b;x;c 10\nb;x 5\na;d 7\na;b 300\nz;y 2\nb;a 1\nb;Z 1\nb 4\n"
#define OTHERS "r;m 100\nr;zz 90\nr;n 80\nr;a 2\nr;other 70\nq;other 1\nq;m 50\n"

static const struct tree_row rows[] = {
	{ "empty", "", NULL, 0, "total 0 0\n" },
	{ "empty and pruned", "", NULL, 5, "total 0 0\n" },
	{ "one stack", "a;b 3\n", NULL, 0, "total 0 3\n.a 0 3\n..b 3 3\n" },
	{ "stacks that share a beginning", "a;b 3\na;c 2\na 1\n", NULL, 0,
	  "total 0 6\n.a 1 6\n..b 3 3\n..c 2 2\n" },
	{ "equal stacks", "a;b 3\na;b 4\n", NULL, 0, "total 0 7\n.a 0 7\n..b 7 7\n" },
	{ "a function that calls itself", "a;a;a 1\na 1\n", NULL, 0,
	  "total 0 2\n.a 1 2\n..a 0 1\n...a 1 1\n" },
	{ "order of bytes, not of letters", "b 1\nB 1\nab 1\na 1\n\xc3\xa4 1\n_ 1\n", NULL, 0,
	  "total 0 6\n.B 1 1\n._ 1 1\n.a 1 1\n.ab 1 1\n.b 1 1\n.\xc3\xa4 1 1\n" },
	{ "a sum at its limit", "a;b 9223372036854775807\na;c 1\na 1\n", NULL, 0,
	  "total 0 9223372036854775807\n.a 1 9223372036854775807\n"
	  "..b 9223372036854775807 9223372036854775807\n..c 1 1\n" },
	{ "functions that are called total", "total;a 3\ntotal 2\n", NULL, 0,
	  "total 0 5\n.total 2 5\n..a 3 3\n" },

	{ "all 10", SMALL, NULL, 10,
	  "total 0 330\n.a 0 307\n..b 300 300\n..d 7 7\n.b 4 21\n..Z 1 1\n..a 1 1\n..x 5 15\n...c "
	  "10 10\n.z 0 2\n..y 2 2\n" },
	{ "9: the least are equal", SMALL, NULL, 9,
	  "total 0 330\n.a 0 307\n..b 300 300\n..d 7 7\n.b 4 21\n..Z 1 1\n..a 1 1\n..x 5 15\n...c "
	  "10 10\n.z 0 2\n..y 2 2\n" },
	{ "8", SMALL, NULL, 8,
	  "total 0 330\n.a 0 307\n..b 300 300\n..d 7 7\n.b 4 21\n..other 2 2\n..x 5 15\n...c 10 "
	  "10\n.z 0 2\n..y 2 2\n" },
	{ "6", SMALL, NULL, 6,
	  "total 0 330\n.a 0 307\n..b 300 300\n..d 7 7\n.b 4 21\n..other 2 2\n..x 5 15\n...c 10 "
	  "10\n.other 2 2\n" },
	{ "4", SMALL, NULL, 4,
	  "total 0 330\n.a 0 307\n..b 300 300\n..other 7 7\n.b 4 21\n..other 2 2\n..x 5 "
	  "15\n...other 10 10\n.other 2 2\n" },
	{ "3", SMALL, NULL, 3,
	  "total 0 330\n.a 0 307\n..b 300 300\n..other 7 7\n.b 4 21\n..other 17 17\n.other 2 2\n" },
	{ "2", SMALL, NULL, 2, "total 0 330\n.a 0 307\n..b 300 300\n..other 7 7\n.other 23 23\n" },
	{ "1", SMALL, NULL, 1, "total 0 330\n.a 0 307\n..other 307 307\n.other 23 23\n" },
	/* What goes is not lost where a function has the name already. */
	{ "other by itself", OTHERS, NULL, 5,
	  "total 0 393\n.other 51 51\n.r 0 342\n..m 100 100\n..n 80 80\n..other 72 72\n..zz 90 "
	  "90\n" },

	{ "two sides", "a;b 3\nc 1\n", "a;b 5\na;d 2\n", 0,
	  "total 0/0 4/7\n.a 0/0 3/7\n..b 3/5 3/5\n..d 0/2 0/2\n.c 1/0 1/0\n" },
	/* A node stays when either side is large enough; both sides' totals are counted. */
	{ "two sides, 3", "b;x;c 10\nb;x 5\na;d 7\na;b 300\nother;e 5\n",
	  "b;x;c 20\na;zz 8\nq;w 8\na;b 30\n", 3,
	  "total 0/0 327/66\n.a 0/0 307/38\n..b 300/30 300/30\n..other 7/8 7/8\n.other 20/28 "
	  "20/28\n" },
	{ "two sides, 5", "b;x;c 10\nb;x 5\na;d 7\na;b 300\nother;e 5\n",
	  "b;x;c 20\na;zz 8\nq;w 8\na;b 30\n", 5,
	  "total 0/0 327/66\n.a 0/0 307/38\n..b 300/30 300/30\n..other 7/8 7/8\n.b 0/0 15/20\n"
	  "..x 5/0 15/20\n...c 10/20 10/20\n.other 5/8 5/8\n" },
};

static void test_row(void **state)
{
	const struct tree_row *row = *state;
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(65536);

	assert_int_equal(call_tree_new(NULL, MAX_BYTES, &t), 0);
	tree_put(t, CALL_LEFT, row->left);
	if (row->right)
		tree_put(t, CALL_RIGHT, row->right);
	assert_int_equal(call_tree_finish(t), 0);
	assert_int_equal(call_tree_prune(t, row->max_nodes), 0);
	tree_text(t, row->right != NULL, &text);
	assert_string_equal(buf_str(&text), row->expected);
}

static void test_pruned(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;

	(void)state;
	assert_int_equal(call_tree_new(NULL, MAX_BYTES, &t), 0);
	tree_put(t, CALL_LEFT, SMALL);
	assert_int_equal(call_tree_finish(t), 0);
	assert_int_equal(call_tree_prune(t, 9), 0);
	assert_false(call_tree_is_pruned(t));
	assert_int_equal(call_tree_prune(t, 4), 0);
	assert_true(call_tree_is_pruned(t));
	/* Again: what was left out counts like any other. */
	assert_int_equal(call_tree_prune(t, 1), 0);
	assert_int_equal(call_tree_n_nodes(t), 4);
}

/* Totals of chance: those that stay are the largest, and nothing gets lost. */
static void test_prune_random(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 40; seed++) {
		_cleanup_(call_tree_freep) struct call_tree *t = NULL;
		size_t max_nodes, n_kept = 0;
		int64_t total;

		assert_int_equal(call_tree_new(NULL, MAX_BYTES, &t), 0);
		srandom(seed);
		for (uint32_t i = 0; i < 400; i++) {
			uint32_t name, node;
			char text[16];

			(void)snprintf(text, sizeof(text), "f%ld", random() % 20);
			assert_int_equal(call_tree_name(t, text, strlen(text), &name), 0);
			assert_int_equal(
				call_tree_child(t,
						(uint32_t)random() % (uint32_t)call_tree_n_nodes(t),
						name, &node),
				0);
			call_tree_add(t, node, CALL_LEFT, 1 + random() % 1000000);
		}
		assert_int_equal(call_tree_finish(t), 0);
		total = call_tree_node(t, CALL_ROOT)->total[CALL_LEFT];
		max_nodes = 1 + (size_t)random() % 300;
		assert_int_equal(call_tree_prune(t, max_nodes), 0);
		assert_int_equal(call_tree_node(t, CALL_ROOT)->total[CALL_LEFT], total);
		for (uint32_t i = 1; i < call_tree_n_nodes(t); i++)
			n_kept +=
				strcmp(call_tree_text(t, call_tree_node(t, i)->name), "other") != 0;
		assert_in_range(n_kept, max_nodes, max_nodes + 3);
	}
}

/* Values that rise from the middle to both ends: were pivots taken from the middle, each would be the least, and this would take
 * minutes. */
static void test_prune_of_bad_pivots(void **state)
{
	enum { N = 200000 };
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;

	(void)state;
	assert_int_equal(call_tree_new(NULL, (size_t)64 << 20, &t), 0);
	for (int64_t i = 0; i < N; i++) {
		int64_t self = i >= N / 2 ? 2 * (i - N / 2) + 1 : 2 * (N / 2 - i);
		uint32_t name, node;

		assert_int_equal(call_tree_name(t, (const char *)&i, sizeof(i), &name), 0);
		assert_int_equal(call_tree_child(t, CALL_ROOT, name, &node), 0);
		call_tree_add(t, node, CALL_LEFT, self);
	}
	assert_int_equal(call_tree_finish(t), 0);
	assert_int_equal(call_tree_prune(t, 1), 0);
	assert_int_equal(call_tree_n_nodes(t), 3);
	assert_int_equal(call_tree_node(t, 1)->total[CALL_LEFT], N);
}

static void test_names(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	uint32_t a, b, again;

	(void)state;
	assert_int_equal(call_tree_new(NULL, MAX_BYTES, &t), 0);
	assert_string_equal(call_tree_text(t, call_tree_node(t, CALL_ROOT)->name), "total");
	assert_int_equal(call_tree_name(t, "ab", 1, &a), 0);
	assert_int_equal(call_tree_name(t, "ab", 2, &b), 0);
	assert_int_equal(call_tree_name(t, "a", 1, &again), 0);
	assert_int_equal(a, again);
	assert_int_not_equal(a, b);
	assert_string_equal(call_tree_text(t, a), "a");
	assert_string_equal(call_tree_text(t, b), "ab");
	assert_int_equal(call_tree_find_name(t, "ab"), b);
	assert_int_equal(call_tree_find_name(t, "abc"), CALL_NONE);
	assert_int_equal(call_tree_n_names(t), 3);
	call_tree_free(NULL);
}

/* 100,000 frames deep: nothing here may use the stack of the thread for that. */
static void test_deep(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	uint32_t node = CALL_ROOT, name;

	(void)state;
	assert_int_equal(call_tree_new(NULL, MAX_BYTES, &t), 0);
	assert_int_equal(call_tree_name(t, "f", 1, &name), 0);
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(call_tree_child(t, node, name, &node), 0);
	call_tree_add(t, node, CALL_LEFT, 7);
	assert_int_equal(call_tree_finish(t), 0);
	assert_int_equal(call_tree_node(t, CALL_ROOT)->total[CALL_LEFT], 7);
	assert_int_equal(call_tree_prune(t, 1000), 0);
	assert_int_equal(call_tree_n_nodes(t), 100001);
}

static void test_nodes_ceiling(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	uint32_t node = CALL_ROOT, name;
	size_t n = 0;
	int r = 0;

	(void)state;
	assert_int_equal(call_tree_new(NULL, (size_t)1 << 20, &t), 0);
	assert_int_equal(call_tree_name(t, "f", 1, &name), 0);
	while (r == 0 && n++ < 1000000)
		r = call_tree_child(t, node, name, &node);
	assert_int_equal(r, -ENOBUFS);
	assert_true(n * sizeof(struct call_node) <= (size_t)1 << 20);
	assert_int_equal(call_tree_finish(t), 0);
}

static void test_names_ceiling(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	size_t n = 0;
	int r = 0;

	(void)state;
	assert_int_equal(call_tree_new(NULL, (size_t)1 << 20, &t), 0);
	for (; r == 0 && n < 1000000; n++) {
		uint32_t name;

		r = call_tree_name(t, (const char *)&n, sizeof(n), &name);
	}
	assert_int_equal(r, -ENOBUFS);
	assert_true(n * sizeof(n) <= (size_t)1 << 20);
}

static void add_child(void *tree)
{
	uint32_t node;

	(void)call_tree_child(tree, CALL_ROOT, CALL_ROOT, &node);
}

static void add_to_missing_node(void *tree)
{
	call_tree_add(tree, 1, CALL_LEFT, 1);
}

static void prune(void *tree)
{
	(void)call_tree_prune(tree, 1);
}

/* In every build: a tree that is finished does not grow, one that is not cannot be pruned. */
static void test_contracts(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;

	(void)state;
	assert_int_equal(call_tree_new(NULL, MAX_BYTES, &t), 0);
	assert_true(is_broken_contract(add_to_missing_node, t));
	assert_true(is_broken_contract(prune, t));
	assert_false(is_broken_contract(add_child, t));
	assert_int_equal(call_tree_finish(t), 0);
	assert_true(is_broken_contract(add_child, t));
	assert_false(is_broken_contract(prune, t));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_pruned),
	TEST(test_prune_random),
	TEST(test_prune_of_bad_pivots),
	TEST(test_names),
	TEST(test_deep),
	TEST(test_nodes_ceiling),
	TEST(test_names_ceiling),
	TEST(test_contracts),
};

TEST_MAIN(tests)
