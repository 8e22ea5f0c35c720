/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator with a ceiling. */
#include <string.h>

#include "agent/util/arena.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)1 << 20)

static void test_pieces_do_not_overlap(void **state)
{
	enum { N = 2000 };
	static unsigned char *pieces[N];
	struct arena a;

	(void)state;
	arena_init(&a, MAX_BYTES);
	for (size_t i = 0; i < N; i++) {
		pieces[i] = arena_alloc(&a, 1 + i % 100);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % 16, 0);
		memset(pieces[i], (int)(i % 251), 1 + i % 100);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < 1 + i % 100; k++)
			assert_int_equal(pieces[i][k], i % 251);
	arena_fini(&a);
	assert_null(a.head);
	assert_int_equal(a.used_bytes, 0);
}

static void test_ceiling(void **state)
{
	struct arena a;
	size_t n = 0;

	(void)state;
	arena_init(&a, MAX_BYTES);
	while (n < 10000 && arena_alloc(&a, 1000))
		n++;
	assert_in_range(n, MAX_BYTES / 1200, MAX_BYTES / 1000);
	assert_true(a.used_bytes <= MAX_BYTES);
	/* The last chunk may have room for little things still; for such a piece there is none. */
	assert_null(arena_alloc(&a, 64 * 1024));
	arena_fini(&a);
}

static void test_too_large(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, MAX_BYTES);
	assert_null(arena_alloc(&a, MAX_BYTES + 1));
	assert_null(arena_alloc(&a, MAX_BYTES)); /* the chunk's header does not fit */
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX - 8));
	assert_int_equal(a.used_bytes, 0);
	assert_non_null(arena_alloc(&a, MAX_BYTES - 4096));
	arena_fini(&a);
	arena_init(&a, 100);
	assert_null(arena_alloc(&a, 1)); /* no chunk fits at all */
	arena_fini(&a);
}

/* Larger than a chunk: it gets one of its own. */
static void test_large_pieces(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, MAX_BYTES);
	char *small = arena_alloc(&a, 10);
	char *large = arena_alloc(&a, 200 * 1024);
	assert_non_null(small);
	assert_non_null(large);
	memset(small, 's', 10);
	memset(large, 'l', 200 * 1024);
	assert_memory_equal(small, "ssssssssss", 10);
	assert_non_null(arena_alloc(&a, 10));
	arena_fini(&a);
}

static void test_strndup(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, MAX_BYTES);
	assert_string_equal(arena_strndup(&a, "hello, world", 5), "hello");
	assert_string_equal(arena_strndup(&a, "", 0), "");
	assert_null(arena_strndup(&a, "", MAX_BYTES));
	arena_fini(&a);
	arena_fini(&a);
}

static const struct unit_test tests[] = {
	TEST(test_pieces_do_not_overlap),
	TEST(test_ceiling),
	TEST(test_too_large),
	TEST(test_large_pieces),
	TEST(test_strndup),
};

TEST_MAIN(tests)
