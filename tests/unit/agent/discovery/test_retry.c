/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before somebody is asked again. */
#include "agent/discovery/retry.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define S 1000000000ULL

static void test_doubles_up_to_its_end(void **state)
{
	static const uint64_t most[] = { 2, 4, 8, 16, 20, 20 };
	const struct retry_options o = { .min_ns = 1 * S, .max_ns = 20 * S };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(most); i++) {
		assert_int_equal(retry_wait_ns(&o, i + 1, 0, 0), most[i] * S);
		/* The other end of what chance may do. */
		assert_int_equal(retry_wait_ns(&o, i + 1, most[i] * S / 2, 0), most[i] * S / 2);
	}
	assert_int_equal(retry_wait_ns(&o, UINT32_MAX, 0, 0), 20 * S);
}

static void test_chance_stays_in_its_half(void **state)
{
	const struct retry_options o = RETRY_OPTIONS_INIT;

	(void)state;
	for (uint64_t random = 1; random; random <<= 1) {
		uint64_t wait = retry_wait_ns(&o, 3, random - 1, 0);

		assert_in_range(wait, 2 * S, 4 * S);
	}
}

static void test_server_is_obeyed_within_reason(void **state)
{
	const struct retry_options o = { .min_ns = 1 * S, .max_ns = 20 * S };

	(void)state;
	assert_int_equal(retry_wait_ns(&o, 1, 0, 1), 2 * S);
	assert_int_equal(retry_wait_ns(&o, 1, 0, 60 * S), 60 * S);
	assert_int_equal(retry_wait_ns(&o, 1, 0, UINT64_MAX), RETRY_MAX_SERVER_WAIT_NS);
}

static const struct unit_test tests[] = {
	TEST(test_doubles_up_to_its_end),
	TEST(test_chance_stays_in_its_half),
	TEST(test_server_is_obeyed_within_reason),
};

TEST_MAIN(tests)
