/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each unit test is made of: cmocka and the headers that it wants first, a list of tests, and
 * a main for it. Each row of a table is a test of its own, named by a member of the row:
 *
 *	static const struct row {
 *		const char *name;
 *		int value;
 *	} rows[] = { ... };
 *
 *	static void test_row(void **state)
 *	{
 *		const struct row *row = *state;
 *		...
 *	}
 *
 *	static const struct unit_test tests[] = {
 *		TEST_ROWS(test_row, rows, name),
 *		TEST(test_empty),
 *		FIXTURE_TEST(test_reload),	(between setup() and teardown(); see FIXTURE())
 *	};
 *
 *	TEST_MAIN(tests)
 */
#ifndef XAGENT_TESTS_SUPPORT_UNIT_H
#define XAGENT_TESTS_SUPPORT_UNIT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

/* One test; or one per row, when there are rows. */
struct unit_test {
	const char *name; /* without rows */
	CMUnitTestFunction run;
	CMFixtureFunction setup, teardown;
	const char *const *row_names; /* that of the first row */
	const void *rows;
	size_t n_rows, row_bytes;
};

#define TEST_WITH(f, before, after)                                                                \
	{                                                                                          \
		.name = #f, .run = (f), .setup = (before), .teardown = (after)                     \
	}
#define TEST(f) TEST_WITH(f, NULL, NULL)
#define FIXTURE_TEST(f) TEST_WITH(f, setup, teardown)
/* *state is the row. `array` is static, `member` a string; an empty one is told as "(empty)". */
#define TEST_ROWS(f, array, member)                                                                \
	{                                                                                          \
		.run = (f), .row_names = &(array)[0].member, .rows = (array),                      \
		.n_rows = sizeof(array) / sizeof((array)[0]), .row_bytes = sizeof((array)[0])      \
	}

/*
 * This file's setup() and teardown(): *state is a `type` of zeroes that init() has filled and
 * fini() empties.
 */
#define FIXTURE(type, init, fini)                                                                  \
	static inline int setup(void **state)                                                      \
	{                                                                                          \
		type *fixture = calloc(1, sizeof(*fixture));                                       \
                                                                                                   \
		assert_non_null(fixture);                                                          \
		*state = fixture;                                                                  \
		init(fixture);                                                                     \
		return 0;                                                                          \
	}                                                                                          \
	static inline int teardown(void **state)                                                   \
	{                                                                                          \
		type *fixture = *state;                                                            \
                                                                                                   \
		fini(fixture);                                                                     \
		free(fixture);                                                                     \
		return 0;                                                                          \
	}

/* The number of tests that failed. The group is named by the path below tests/unit. */
int unit_run(const char *path, const struct unit_test *tests, size_t n_tests,
	     CMFixtureFunction setup, CMFixtureFunction teardown);

#define RUN_TESTS_WITH(tests, before, after)                                                       \
	unit_run(__FILE__, tests, sizeof(tests) / sizeof((tests)[0]), before, after)
#define RUN_TESTS(tests) RUN_TESTS_WITH(tests, NULL, NULL)

/* Once before all tests of the file, and once after. *state stays NULL when there are rows: cmocka
 * gives it to each test in place of the row. */
#define TEST_MAIN_WITH(tests, before, after)                                                       \
	int main(void)                                                                             \
	{                                                                                          \
		return RUN_TESTS_WITH(tests, before, after);                                       \
	}
#define TEST_MAIN(tests) TEST_MAIN_WITH(tests, NULL, NULL)

#endif
