/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance, and what is suggested by it. */
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/suggest.h"
#include "tests/support/unit.h"

struct distance_row {
	const char *name;
	const char *a;
	const char *b;
	size_t expected;
};

static const struct distance_row distance_rows[] = {
	{ "distance_equal", "targets", "targets", 0 },
	{ "distance_both_empty", "", "", 0 },
	{ "distance_empty", "", "abc", 3 },
	{ "distance_replaced", "target", "tarket", 1 },
	{ "distance_inserted", "target", "targets", 1 },
	{ "distance_removed_first", "target", "arget", 1 },
	{ "distance_swapped", "forward_to", "froward_to", 1 },
	{ "distance_swapped_last", "ab", "ba", 1 },
	{ "distance_two_swaps", "abcd", "badc", 2 },
	{ "distance_nothing_in_common", "abc", "xyz", 3 },
	{ "distance_kitten", "kitten", "sitting", 3 },
	{ "distance_case_matters", "Url", "url", 1 },
	/* Restricted: a swapped pair is not edited again. */
	{ "distance_alignment", "ca", "abc", 3 },
};

static void test_distance(void **state)
{
	const struct distance_row *row = *state;

	assert_int_equal(suggest_distance(row->a, row->b), row->expected);
	assert_int_equal(suggest_distance(row->b, row->a), row->expected);
}

static void test_long_names(void **state)
{
	char longest[SUGGEST_MAX + 1] = { 0 };
	char longer[SUGGEST_MAX + 2] = { 0 };

	(void)state;
	memset(longest, 'a', SUGGEST_MAX);
	memset(longer, 'a', SUGGEST_MAX + 1);
	assert_int_equal(suggest_distance(longest, longest), 0);
	assert_int_equal(suggest_distance(longest, ""), SUGGEST_MAX);
	assert_int_equal(suggest_distance(longer, longer), SUGGEST_MAX + 1);
	assert_int_equal(suggest_distance("", longer), SUGGEST_MAX + 1);
	const char *const candidates[] = { longer };
	assert_null(suggest_nearest(longer, candidates, 1));
}

static void test_nearest(void **state)
{
	static const char *const names[] = { "targets", "targets_only", "forward_to", "demangle",
					     "x" };

	(void)state;
	assert_string_equal(suggest_nearest("target", names, ARRAY_SIZE(names)), "targets");
	assert_string_equal(suggest_nearest("target_only", names, ARRAY_SIZE(names)),
			    "targets_only");
	assert_string_equal(suggest_nearest("froward_ot", names, ARRAY_SIZE(names)), "forward_to");
	assert_string_equal(suggest_nearest("demangle", names, ARRAY_SIZE(names)), "demangle");
	/* One edit is always granted, though a third of one letter is none. */
	assert_string_equal(suggest_nearest("y", names, ARRAY_SIZE(names)), "x");
	assert_null(suggest_nearest("scrape_interval", names, ARRAY_SIZE(names)));
	assert_null(suggest_nearest("target", NULL, 0));
}

/* Of equally near ones the first. */
static void test_ties(void **state)
{
	static const char *const names[] = { "cat", "car" };

	(void)state;
	assert_string_equal(suggest_nearest("cab", names, 2), "cat");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_distance, distance_rows, name),
	TEST(test_long_names),
	TEST(test_nearest),
	TEST(test_ties),
};

TEST_MAIN(tests)
