/* SPDX-License-Identifier: Apache-2.0 */
/* uid → name. */
#include "agent/discovery/username.h"
#include "tests/support/unit.h"

/* No user database gives names up there (container id mappings end below). */
#define NOBODY_UID 4000000000u

static void test_root(void **state)
{
	(void)state;
	struct username_cache c;

	username_cache_init(&c);
	assert_string_equal(username_get(&c, 0), "root");
	assert_string_equal(username_get(&c, 0), "root");
	assert_int_equal(c.n, 1);
	username_cache_fini(&c);
	assert_int_equal(c.n, 0);
}

static void test_without_name(void **state)
{
	(void)state;
	struct username_cache c;

	username_cache_init(&c);
	assert_string_equal(username_get(&c, NOBODY_UID), "");
	assert_string_equal(username_get(&c, NOBODY_UID), "");
	assert_int_equal(c.n, 1);
	username_cache_fini(&c);
}

static void test_full(void **state)
{
	(void)state;
	struct username_cache c;

	username_cache_init(&c);
	for (uint32_t i = 0; i < USERNAMES_MAX; i++)
		assert_string_equal(username_get(&c, NOBODY_UID + i), "");
	assert_int_equal(c.n, USERNAMES_MAX);
	assert_string_equal(username_get(&c, 0), "root");
	assert_int_equal(c.n, 1);
	username_cache_fini(&c);
}

static const struct unit_test tests[] = {
	TEST(test_root),
	TEST(test_without_name),
	TEST(test_full),
};

TEST_MAIN(tests)
