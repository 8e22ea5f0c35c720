/* SPDX-License-Identifier: Apache-2.0 */
/* How long a container has been known here. */
#include <stdio.h>

#include "agent/target/container_age.h"
#include "tests/support/unit.h"

static int setup(void **state)
{
	static struct container_ages ages;

	container_ages_init(&ages);
	*state = &ages;
	return 0;
}

static int teardown(void **state)
{
	container_ages_fini(*state);
	return 0;
}

static void test_counts_from_the_first_call(void **state)
{
	struct container_ages *a = *state;

	assert_int_equal(container_age_ns(a, "aa", 100), 0);
	assert_int_equal(container_age_ns(a, "bb", 130), 0);
	assert_int_equal(container_age_ns(a, "aa", 150), 50);
	assert_int_equal(container_age_ns(a, "bb", 150), 20);
	assert_int_equal(container_age_ns(a, "aa", 150), 50);
}

/* The one that came first is forgotten first, and is new again; the others are as old as they were. */
static void test_bounded(void **state)
{
	struct container_ages *a = *state;
	char id[16];

	for (unsigned int i = 0; i <= CONTAINER_AGE_MAX; i++) {
		(void)snprintf(id, sizeof(id), "%u", i);
		assert_int_equal(container_age_ns(a, id, i), 0);
	}
	assert_int_equal(a->by_id.n, CONTAINER_AGE_MAX);
	assert_int_equal(container_age_ns(a, "1", CONTAINER_AGE_MAX), CONTAINER_AGE_MAX - 1);
	assert_int_equal(container_age_ns(a, "0", CONTAINER_AGE_MAX), 0);
	assert_int_equal(a->by_id.n, CONTAINER_AGE_MAX);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_counts_from_the_first_call),
	FIXTURE_TEST(test_bounded),
};

TEST_MAIN(tests)
