/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that are cut lose no value, and end with fewer nodes than asked for; the two sides of a comparison keep theirs. */
#include <stdio.h>
#include <string.h>

#include "agent/store/api/api_tree.h"
#include "tests/support/unit.h"

#define ROOM ((size_t)16 << 20)

/* Four calls below each other, each one of n functions; every leaf has its own value. */
static struct call_tree *make_tree(uint32_t n, uint32_t seed)
{
	struct call_tree *tree = NULL;

	assert_int_equal(call_tree_new(NULL, ROOM, &tree), 0);
	for (uint32_t i = 0; i < n * n; i++) {
		uint32_t at = CALL_ROOT, x = (i + seed) * 2654435761u, name;
		char text[16];

		for (int depth = 0; depth < 4; depth++) {
			int len = snprintf(text, sizeof(text), "f%u", (x >> (depth * 6)) % n);

			assert_int_equal(call_tree_name(tree, text, (size_t)len, &name), 0);
			assert_int_equal(call_tree_child(tree, at, name, &at), 0);
		}
		call_tree_add(tree, at, CALL_LEFT, i + 1);
	}
	return tree;
}

static int64_t total(const struct call_tree *tree, enum call_side side)
{
	return call_tree_node(tree, CALL_ROOT)->total[side];
}

static void test_cut(void **state)
{
	static const size_t limits[] = { 1, 2, 10, 50, 200 };

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct call_tree *tree = make_tree(20, 1);

		assert_int_equal(api_tree_cut(tree, limits[i]), 0);
		assert_int_equal(total(tree, CALL_LEFT), 400 * 401 / 2);
		/* One cut leaves an `other` for each node at the most. */
		assert_true(call_tree_n_nodes(tree) <= 2 * limits[i] + 2);
		assert_true(call_tree_n_nodes(tree) > 1);
		call_tree_free(tree);
	}
}

static void test_room(void **state)
{
	struct call_tree *tree = make_tree(10, 1);
	size_t n = call_tree_n_nodes(tree);

	(void)state;
	assert_int_equal(api_tree_cut(tree, n + 1), 0);
	assert_int_equal(call_tree_n_nodes(tree), n);
	call_tree_free(tree);
}

/* The first text of a node, and its totals. */
static void assert_node(const struct call_tree *tree, uint32_t at, const char *text, int64_t left,
			int64_t right)
{
	const struct call_node *node = call_tree_node(tree, at);

	assert_string_equal(call_tree_text(tree, node->name), text);
	assert_int_equal(node->total[CALL_LEFT], left);
	assert_int_equal(node->total[CALL_RIGHT], right);
}

static struct call_tree *make_chain(const char *text, int64_t value)
{
	struct call_tree *tree = NULL;
	uint32_t at = CALL_ROOT, name;

	assert_int_equal(call_tree_new(NULL, ROOM, &tree), 0);
	for (; *text; text++) {
		assert_int_equal(call_tree_name(tree, text, 1, &name), 0);
		assert_int_equal(call_tree_child(tree, at, name, &at), 0);
	}
	call_tree_add(tree, at, CALL_LEFT, value);
	return tree;
}

static void test_merge(void **state)
{
	struct call_tree *sides[] = { make_chain("abc", 5), make_chain("abd", 7) }, *both = NULL;

	(void)state;
	assert_int_equal(call_tree_new(NULL, ROOM, &both), 0);
	assert_int_equal(api_tree_merge_cut(sides, 100, both), 0);
	uint32_t a = call_tree_node(both, CALL_ROOT)->first_child;
	uint32_t b = call_tree_node(both, a)->first_child;
	uint32_t c = call_tree_node(both, b)->first_child;
	assert_node(both, CALL_ROOT, "total", 5, 7);
	assert_node(both, a, "a", 5, 7);
	assert_node(both, b, "b", 5, 7);
	assert_node(both, c, "c", 5, 0);
	assert_node(both, call_tree_node(both, c)->next, "d", 0, 7);
	assert_int_equal(call_tree_n_nodes(both), 5);
	for (size_t side = 0; side < CALL_SIDES; side++)
		call_tree_free(sides[side]);
	call_tree_free(both);
}

static void test_merge_cut(void **state)
{
	struct call_tree *sides[] = { make_tree(20, 1), make_tree(20, 1000) }, *both = NULL;

	(void)state;
	assert_int_equal(call_tree_new(NULL, ROOM, &both), 0);
	assert_int_equal(api_tree_merge_cut(sides, 30, both), 0);
	assert_int_equal(total(both, CALL_LEFT), 400 * 401 / 2);
	assert_int_equal(total(both, CALL_RIGHT), 400 * 401 / 2);
	assert_true(call_tree_n_nodes(both) <= 2 * (2 * 30 + 2));
	for (size_t side = 0; side < CALL_SIDES; side++)
		call_tree_free(sides[side]);
	call_tree_free(both);
}

static const struct unit_test tests[] = {
	TEST(test_cut),
	TEST(test_room),
	TEST(test_merge),
	TEST(test_merge_cut),
};

TEST_MAIN(tests)
