/* SPDX-License-Identifier: Apache-2.0 */
/* Node by node: the order, the depths, and where bars begin. */
#include <inttypes.h>

#include "agent/draw/flame_walk.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/draw/graph.h"

/* "name@begin+total" with a dot for each level. `closed`: whose children are passed over. */
static void show(const struct call_tree *tree, const char *closed, struct buf *out)
{
	struct flame_walk w = FLAME_WALK_INIT(tree);

	do {
		for (uint32_t i = 0; i < w.depth; i++)
			(void)buf_append_char(out, '.');
		(void)buf_printf(out, "%s@%" PRId64 "+%" PRId64 " ", flame_walk_name(&w), w.begin,
				 flame_walk_node(&w)->total[CALL_LEFT]);
	} while (flame_walk_next(&w, strcmp(flame_walk_name(&w), closed) != 0));
}

static struct call_tree *some_tree(void)
{
	struct call_tree *tree = graph_new();

	graph_add(tree, 5, STACK("b", "x", "y"));
	graph_add(tree, 2, STACK("b", "x"));
	graph_add(tree, 1, STACK("b"));
	graph_add(tree, 4, STACK("b", "z"));
	graph_add(tree, 3, STACK("a", "y"));
	graph_add(tree, 9, STACK("c"));
	assert_int_equal(call_tree_finish(tree), 0);
	return tree;
}

static void test_all(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = some_tree();
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	show(tree, "", &out);
	assert_string_equal(buf_str(&out), "total@0+24 .a@0+3 ..y@0+3 .b@3+12 ..x@3+7 ...y@3+5 "
					   "..z@10+4 .c@15+9 ");
}

static void test_without_children(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = some_tree();
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	show(tree, "b", &out);
	assert_string_equal(buf_str(&out), "total@0+24 .a@0+3 ..y@0+3 .b@3+12 .c@15+9 ");
	buf_reset(&out);
	show(tree, "total", &out);
	assert_string_equal(buf_str(&out), "total@0+24 ");
}

static void test_empty(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = graph_new();
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(call_tree_finish(tree), 0);
	show(tree, "", &out);
	assert_string_equal(buf_str(&out), "total@0+0 ");
}

static const struct unit_test tests[] = {
	TEST(test_all),
	TEST(test_without_children),
	TEST(test_empty),
};

TEST_MAIN(tests)
