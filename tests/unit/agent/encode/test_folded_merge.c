/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks of two profiles as those of one. */
#include <errno.h>

#include "agent/encode/folded_merge.h"
#include "tests/support/unit.h"

static const struct row {
	const char *name, *a, *b, *expected;
} rows[] = {
	{ "nothing", "", "", "" },
	{ "nothing before", "", "a;b 1\n", "a;b 1\n" },
	{ "nothing more", "a;b 1\n", "", "a;b 1\n" },
	{ "the same", "a;b 1\na;c 2\n", "a;b 10\na;c 20\n", "a;b 11\na;c 22\n" },
	{ "others, in order", "a 1\nc 3\n", "b 2\nd 4\n", "a 1\nb 2\nc 3\nd 4\n" },
	{ "a stack that begins another", "a 1\na;b 2\n", "a 5\na;bc 3\n", "a 6\na;b 2\na;bc 3\n" },
	{ "blanks and numbers in names", "a;operator new 1\n", "a;operator 2 7\n",
	  "a;operator 2 7\na;operator new 1\n" },
	{ "bytes beyond ASCII are behind it", "a;z 1\n", "a;\xc3\xa4 1\n", "a;z 1\na;\xc3\xa4 1\n" },
	{ "large counts", "a 9000000000000000000\n", "a 1\n", "a 9000000000000000001\n" },
	{ "less than nothing", "a -3\n", "a 1\n", "a -2\n" },
};

static void test_merge(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	assert_int_equal(folded_merge(str_from(row->a), str_from(row->b), &out), 0);
	assert_string_equal(buf_str(&out), row->expected);
}

static void test_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(8);

	(void)state;
	assert_int_equal(folded_merge(STR_LIT("a;b 1\n"), STR_LIT("a;c 1\n"), &out), -ENOBUFS);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_merge, rows, name),
	TEST(test_ceiling),
};

TEST_MAIN(tests)
