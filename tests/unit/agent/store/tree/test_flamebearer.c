/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graphs as a Pyroscope server (1.21.1) gives them of the same stacks, to the number and the byte. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/tree/flamebearer.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/tree/tree_text.h"

#define MAX_BYTES ((size_t)64 << 20)

struct flame_row {
	const char *name;
	const char *left;
	const char *right; /* of a comparison, or NULL */
	size_t max_nodes;
	const char *
		expected; /* names; levels, a line each; total, the largest self, ticks of both sides */
};

#define SMALL "b;x;c 10\nb;x 5\na;d 7\na;b 300\nz;y 2\nb;a 1\nb;Z 1\nb 4\n"
#define LEFT "b;x;c 10\nb;x 5\na;d 7\na;b 300\nother 3\nother;e 2\n"
#define RIGHT "b;x;c 20\na;zz 8\nq;w 8\na;b 30\n"

#define MOST "9223372036854775807"

static const struct flame_row rows[] = {
	{ "empty", "", NULL, 0, "total\n0 0 0 0\n0 0 0/0\n" },
	{ "small", SMALL, NULL, 0,
	  "total z y b x c a Z d\n"
	  "0 330 0 0\n"
	  "0 307 0 6 0 21 4 3 0 2 0 1\n"
	  "0 300 300 3 0 7 7 8 4 1 1 7 0 1 1 6 0 15 5 4 0 2 2 2\n"
	  "318 10 10 5\n"
	  "330 300 330/0\n" },
	/* What was left out comes last among its siblings, whatever it is called. */
	{ "small, 7", SMALL, NULL, 7,
	  "total z y b other x c a d\n"
	  "0 330 0 0\n"
	  "0 307 0 7 0 21 4 3 0 2 0 1\n"
	  "0 300 300 3 0 7 7 8 4 15 5 5 0 2 2 4 0 2 2 2\n"
	  "316 10 10 6\n"
	  "330 300 330/0\n" },
	{ "small, 1", SMALL, NULL, 1,
	  "total other a\n"
	  "0 330 0 0\n"
	  "0 307 0 2 0 23 23 1\n"
	  "0 307 307 1\n"
	  "330 307 330/0\n" },
	{ "a function that is called total", "total;a 3\ntotal 2\nA;b;total 7\n", NULL, 0,
	  "total a A b\n"
	  "0 12 0 0\n"
	  "0 7 0 2 0 5 2 0\n"
	  "0 7 0 3 2 3 3 1\n"
	  "0 7 7 0\n"
	  "12 7 12/0\n" },
	{ "a function that is called other", "r;m 100\nr;zz 90\nr;other 70\nr;a 2\n", NULL, 0,
	  "total r other zz m a\n"
	  "0 262 0 0\n"
	  "0 262 0 1\n"
	  "0 2 2 5 0 100 100 4 0 90 90 3 0 70 70 2\n"
	  "262 100 262/0\n" },
	/* Sums stay at the limit, and so do the ends of bars. */
	{ "two siblings at the limit", "a " MOST "\nb " MOST "\nb;c " MOST "\n", NULL, 0,
	  "total b c a\n"
	  "0 " MOST " 0 0\n"
	  "0 " MOST " " MOST " 3 0 " MOST " " MOST " 1\n"
	  "" MOST " " MOST " " MOST " 2\n"
	  "" MOST " " MOST " " MOST "/0\n" },
	{ "two sides at the limit", "a " MOST "\nb " MOST "\n", "a " MOST "\nb 1\n", 0,
	  "total b a\n"
	  "0 " MOST " 0 0 " MOST " 0 0\n"
	  "0 " MOST " " MOST " 0 " MOST " " MOST " 2 0 " MOST " " MOST " 0 1 1 1\n"
	  "" MOST " " MOST " " MOST "/" MOST "\n" },
	{ "two sides", LEFT, RIGHT, 0,
	  "total q w other e b x c a zz d\n"
	  "0 327 0 0 66 0 0\n"
	  "0 307 0 0 38 0 8 0 15 0 0 20 0 5 0 5 3 0 0 0 3 0 0 0 0 8 0 1\n"
	  "0 300 300 0 30 30 5 0 7 7 0 0 0 10 0 0 0 0 8 8 9 0 15 5 0 20 0 6 3 2 2 0 0 0 4 0 0 0 0 "
	  "8 8 2\n"
	  "312 10 10 38 20 20 7\n"
	  "393 300 327/66\n" },
	{ "two sides, the other way round", RIGHT, LEFT, 0,
	  "total q w other e b x c a zz d\n"
	  "0 66 0 0 327 0 0\n"
	  "0 38 0 0 307 0 8 0 20 0 0 15 0 5 0 0 0 0 5 3 3 0 8 0 0 0 0 1\n"
	  "0 30 30 0 300 300 5 0 0 0 0 7 7 10 0 8 8 0 0 0 9 0 20 0 0 15 5 6 0 0 0 3 2 2 4 0 8 8 0 "
	  "0 0 2\n"
	  "38 20 20 312 10 10 7\n"
	  "393 300 66/327\n" },
	{ "two sides, a function that is called total", "total;a 3\n", "A;total 7\n", 0,
	  "total total a A\n"
	  "0 3 0 0 7 0 0\n"
	  "0 0 0 0 7 0 3 0 3 0 0 0 0 1\n"
	  "0 0 0 0 7 7 1 0 3 3 0 0 0 2\n"
	  "10 7 3/7\n" },
	{ "two sides, 5", LEFT, RIGHT, 5,
	  "total other b x c a\n"
	  "0 327 0 0 66 0 0\n"
	  "0 307 0 0 38 0 5 0 15 0 0 20 0 2 0 5 5 0 8 8 1\n"
	  "0 300 300 0 30 30 2 0 7 7 0 8 8 1 0 15 5 0 20 0 3\n"
	  "312 10 10 38 20 20 4\n"
	  "393 300 327/66\n" },
	{ "two sides, one of them empty", "", "a 1\n", 0,
	  "total a\n"
	  "0 0 0 0 1 0 0\n"
	  "0 0 0 0 1 1 1\n"
	  "1 1 0/1\n" },
	{ "two sides, both empty", "", "", 0, "total\n0 0 0 0 0 0 0\n0 0 0/0\n" },
};

static void make_tree(const struct flame_row *row, struct call_tree **ret_tree)
{
	assert_int_equal(call_tree_new(NULL, MAX_BYTES, ret_tree), 0);
	tree_put(*ret_tree, CALL_LEFT, row->left);
	if (row->right)
		tree_put(*ret_tree, CALL_RIGHT, row->right);
	assert_int_equal(call_tree_finish(*ret_tree), 0);
	assert_int_equal(call_tree_prune(*ret_tree, row->max_nodes), 0);
}

static void flame_text(const struct flamebearer *f, struct buf *out)
{
	for (size_t i = 0; i < f->n_names; i++)
		(void)buf_printf(out, "%s%c", f->names[i], i + 1 < f->n_names ? ' ' : '\n');
	for (size_t i = 0; i < f->n_levels; i++)
		for (size_t k = 0; k < f->levels[i].n; k++)
			(void)buf_printf(out, "%" PRId64 "%c", f->levels[i].values[k],
					 k + 1 < f->levels[i].n ? ' ' : '\n');
	(void)buf_printf(out, "%" PRId64 " %" PRId64 " %" PRId64 "/%" PRId64 "\n", f->total,
			 f->max_self, f->ticks[CALL_LEFT], f->ticks[CALL_RIGHT]);
}

static void test_row(void **state)
{
	const struct flame_row *row = *state;
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_(flamebearer_fini) struct flamebearer f = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(65536);

	make_tree(row, &t);
	assert_int_equal(row->right ? flamebearer_new_diff(t, &f) : flamebearer_new(t, &f), 0);
	flame_text(&f, &text);
	assert_string_equal(buf_str(&text), row->expected);
}

static void test_json(void **state)
{
	static const struct flame_row row = { .left = "a\tb;\"\\\x01 3\n\xc3\xa4 2\n" };
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_(flamebearer_fini) struct flamebearer f = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(65536), small = BUF_INIT(40);

	(void)state;
	make_tree(&row, &t);
	assert_int_equal(flamebearer_new(t, &f), 0);
	assert_int_equal(flamebearer_json(&f, &text), 0);
	assert_string_equal(
		buf_str(&text),
		"{\"names\":[\"total\",\"\xc3\xa4\",\"a\\u0009b\",\"\\\"\\\\\\u0001\"],"
		"\"levels\":[[0,5,0,0],[0,3,0,2,0,2,2,1],[0,3,3,3]],\"numTicks\":5,\"maxSelf\":3}");
	assert_int_equal(flamebearer_json(&f, &small), -ENOBUFS);
}

struct bytes_row {
	const char *name;
	const char *stacks;
	size_t max_nodes;
	const char *bytes;
	size_t n;
};

#define BYTES(s) s, sizeof(s) - 1

static const struct bytes_row bytes_rows[] = {
	{ "bytes: empty", "", 0, BYTES("") },
	{ "bytes: small", SMALL, 0,
	  BYTES("\x00\x00\x03\x01z\x00\x01\x01y\x02\x00\x01"
		"b\x04\x03\x01x\x05\x01\x01"
		"c\n\x00\x01"
		"a\x01\x00\x01Z\x01\x00\x01"
		"a\x00\x02\x01"
		"d\x07\x00\x01"
		"b\xac\x02\x00") },
	{ "bytes: small, 4", SMALL, 4,
	  BYTES("\x00\x00\x03\x05other\x02\x00\x01"
		"b\x04\x02\x01x\x05\x01\x05other\n\x00\x05other\x02\x00\x01"
		"a\x00\x02\x05other\x07\x00\x01"
		"b\xac\x02\x00") },
	{ "bytes: small, 7", SMALL, 7,
	  BYTES("\x00\x00\x03\x01z\x00\x01\x01y\x02\x00\x01"
		"b\x04\x02\x01x\x05\x01\x01"
		"c\n\x00\x05other\x02\x00\x01"
		"a\x00\x02\x01"
		"d\x07\x00\x01"
		"b\xac\x02\x00") },
	{ "bytes: without a name", "x; 4\n 5\n", 0,
	  BYTES("\x00\x00\x02\x01x\x00\x01\x00\x04\x00\x00\x05\x00") },
};

static void test_bytes(void **state)
{
	const struct bytes_row *row = *state;
	struct flame_row flame = { .left = row->stacks, .max_nodes = row->max_nodes };
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_buf_ struct buf bytes = BUF_INIT(65536), small = BUF_INIT(10);

	make_tree(&flame, &t);
	assert_int_equal(call_tree_bytes(t, &bytes), 0);
	assert_int_equal(bytes.len, row->n);
	if (row->n > 0) {
		assert_memory_equal(bytes.data, row->bytes, row->n);
		assert_int_equal(call_tree_bytes(t, &small), -ENOBUFS);
	}
}

/* As many levels as frames, and none of them on the stack of the thread. */
static void test_deep(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_(flamebearer_fini) struct flamebearer f = { 0 };
	_cleanup_buf_ struct buf bytes = BUF_INIT((size_t)1 << 20);
	uint32_t node = CALL_ROOT, name;

	(void)state;
	assert_int_equal(call_tree_new(NULL, MAX_BYTES, &t), 0);
	assert_int_equal(call_tree_name(t, "f", 1, &name), 0);
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(call_tree_child(t, node, name, &node), 0);
	call_tree_add(t, node, CALL_LEFT, 7);
	assert_int_equal(call_tree_finish(t), 0);
	assert_int_equal(flamebearer_new(t, &f), 0);
	assert_int_equal(f.n_levels, 100001);
	assert_int_equal(f.n_names, 2);
	assert_int_equal(f.levels[100000].n, 4);
	assert_int_equal(f.levels[100000].values[2], 7);
	assert_int_equal(call_tree_bytes(t, &bytes), 0);
	assert_int_equal(bytes.len, 3 + 4 * 100000);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST_ROWS(test_bytes, bytes_rows, name),
	TEST(test_json),
	TEST(test_deep),
};

TEST_MAIN(tests)
