/* SPDX-License-Identifier: Apache-2.0 */
/* The account of a question: what is taken, refused, grown and given back. */
#include <string.h>

#include "agent/store/query/query_memory.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define HEAD_BYTES 16

static void test_blocks(void **state)
{
	struct query_memory m = { .max_bytes = 1000 };

	(void)state;
	char *p = query_calloc(&m, 10, 10);
	assert_non_null(p);
	assert_int_equal(m.used_bytes, 100 + HEAD_BYTES);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(p[i], 0);
	memset(p, 'x', 100);
	char *larger = query_realloc(&m, p, 500, 1);
	assert_non_null(larger);
	assert_int_equal(larger[99], 'x');
	assert_int_equal(m.used_bytes, 500 + HEAD_BYTES);
	char *text = query_strdup(&m, "text");
	assert_string_equal(text, "text");
	/* It stays as it was. */
	assert_null(query_realloc(&m, larger, 1000, 1));
	assert_true(m.full);
	assert_int_equal(m.used_bytes, 505 + 2 * HEAD_BYTES);
	char *smaller = query_realloc(&m, larger, 10, 1);
	assert_int_equal(smaller[9], 'x');
	assert_int_equal(m.used_bytes, 15 + 2 * HEAD_BYTES);
	query_free(smaller);
	query_free(text);
	query_free(NULL);
	assert_int_equal(m.used_bytes, 0);
}

static void test_ceiling(void **state)
{
	struct query_memory m = { .max_bytes = 100 };

	(void)state;
	void *p = query_malloc(&m, 1, 100 - HEAD_BYTES);
	assert_non_null(p);
	assert_false(m.full);
	assert_int_equal(query_memory_left(&m), 0);
	assert_null(query_malloc(&m, 0, 1));
	assert_true(m.full);
	query_free(p);
	assert_true(query_memory_take(&m, 100));
	assert_false(query_memory_take(&m, 1));
	query_memory_give(&m, 100);
	assert_int_equal(query_memory_left(&m), 100);
}

/* More than any account has, and more than a size can say. */
static void test_overflow(void **state)
{
	static const size_t counts[][2] = { { SIZE_MAX, 2 }, { SIZE_MAX, 1 }, { SIZE_MAX / 4, 4 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct query_memory m = { .max_bytes = SIZE_MAX };

		assert_null(query_malloc(&m, counts[i][0], counts[i][1]));
		assert_null(query_calloc(&m, counts[i][0], counts[i][1]));
		assert_null(query_realloc(&m, NULL, counts[i][0], counts[i][1]));
		assert_true(m.full);
		assert_int_equal(m.used_bytes, 0);
		assert_null(query_malloc(NULL, counts[i][0], counts[i][1]));
	}
}

static void test_no_account(void **state)
{
	(void)state;
	void *p = query_realloc(NULL, query_malloc(NULL, 10, 10), 20, 10);
	assert_non_null(p);
	query_free(p);
	assert_true(query_memory_take(NULL, SIZE_MAX));
	assert_int_equal(query_memory_left(NULL), SIZE_MAX);
}

static const struct unit_test tests[] = {
	TEST(test_blocks),
	TEST(test_ceiling),
	TEST(test_overflow),
	TEST(test_no_account),
};

TEST_MAIN(tests)
