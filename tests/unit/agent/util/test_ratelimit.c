/* SPDX-License-Identifier: Apache-2.0 */
/* So many in each interval, and the rest counted. */
#include "agent/util/ratelimit.h"
#include "tests/support/unit.h"

static void test_burst_and_rest(void **state)
{
	struct ratelimit rl = { .interval_ns = 100, .burst = 3 };
	unsigned int held = 77;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(ratelimit_pass(&rl, 1000 + (uint64_t)i, &held));
		assert_int_equal(held, 0);
	}
	held = 77;
	for (int i = 0; i < 5; i++)
		assert_false(ratelimit_pass(&rl, 1010, &held));
	assert_int_equal(held, 77);
	/* The interval began with the first event. */
	assert_false(ratelimit_pass(&rl, 1099, &held));
	assert_true(ratelimit_pass(&rl, 1100, &held));
	assert_int_equal(held, 6);
	assert_true(ratelimit_pass(&rl, 1100, &held));
	assert_int_equal(held, 0);
}

static void test_first_event_ever(void **state)
{
	struct ratelimit rl = { .interval_ns = 100, .burst = 1 };
	unsigned int held;

	(void)state;
	/* At any time of the clock, 0 included. */
	assert_true(ratelimit_pass(&rl, 0, &held));
	assert_false(ratelimit_pass(&rl, 0, &held));
	assert_true(ratelimit_pass(&rl, 100, &held));
	assert_int_equal(held, 1);
}

static void test_long_silence(void **state)
{
	struct ratelimit rl = { .interval_ns = 100, .burst = 2 };
	unsigned int held;

	(void)state;
	assert_true(ratelimit_pass(&rl, 50, &held));
	assert_true(ratelimit_pass(&rl, 1000000, &held));
	assert_int_equal(held, 0);
	assert_true(ratelimit_pass(&rl, 1000001, &held));
	assert_false(ratelimit_pass(&rl, 1000099, &held));
}

static void test_nothing_may_pass(void **state)
{
	struct ratelimit rl = { .interval_ns = 100, .burst = 0 };
	unsigned int held;

	(void)state;
	for (uint64_t now = 0; now < 1000; now += 50)
		assert_false(ratelimit_pass(&rl, now, &held));
	assert_int_equal(rl.held, 20);
}

static const struct unit_test tests[] = {
	TEST(test_burst_and_rest),
	TEST(test_first_event_ever),
	TEST(test_long_silence),
	TEST(test_nothing_may_pass),
};

TEST_MAIN(tests)
