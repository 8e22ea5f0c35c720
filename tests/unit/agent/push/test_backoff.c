/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of the waits; the numbers of the default are those of the reference client. */
#include "agent/push/backoff.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MS 1000000ULL

static const struct row {
	unsigned int n_failures;
	uint64_t low_ms, high_ms; /* the wait is in [low, high) */
} rows[] = {
	{ 0, 500, 1000 },	{ 1, 500, 1000 },	{ 2, 1000, 2000 },
	{ 3, 2000, 4000 },	{ 8, 64000, 128000 },	{ 9, 128000, 256000 },
	{ 10, 256000, 300000 }, { 11, 300000, 300001 }, { 4000000000U, 300000, 300001 },
};

static void test_ranges(void **state)
{
	const struct backoff_options o = BACKOFF_OPTIONS_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t span = (rows[i].high_ms - rows[i].low_ms) * MS;
		uint64_t last = rows[i].n_failures > 10 ? 0 : span - 1;

		assert_int_equal(backoff_wait_ns(&o, rows[i].n_failures, 0, 0),
				 rows[i].low_ms * MS);
		assert_int_equal(backoff_wait_ns(&o, rows[i].n_failures, last, 0),
				 rows[i].low_ms * MS + last);
		assert_in_range(backoff_wait_ns(&o, rows[i].n_failures, UINT64_MAX, 0),
				rows[i].low_ms * MS, rows[i].high_ms * MS - 1);
	}
}

static void test_server_wait(void **state)
{
	const struct backoff_options o = BACKOFF_OPTIONS_INIT;

	(void)state;
	assert_int_equal(backoff_wait_ns(&o, 1, 0, 20000 * MS), 20000 * MS);
	assert_int_equal(backoff_wait_ns(&o, 1, 0, 100 * MS), 500 * MS);
	assert_int_equal(backoff_wait_ns(&o, 1, 0, 3600000 * MS), 300000 * MS);
}

static void test_extremes(void **state)
{
	const struct backoff_options equal = { .min_ns = 5, .max_ns = 5 };
	const struct backoff_options huge = { .min_ns = UINT64_MAX / 2 + 1, .max_ns = UINT64_MAX };

	(void)state;
	assert_int_equal(backoff_wait_ns(&equal, 3, 12345, 0), 5);
	assert_int_equal(backoff_wait_ns(&huge, 1, 0, 0), UINT64_MAX / 2 + 1);
	assert_int_equal(backoff_wait_ns(&huge, 3, 12345, 0), UINT64_MAX);
}

static void test_attempts(void **state)
{
	const struct backoff_options ten = BACKOFF_OPTIONS_INIT;
	const struct backoff_options endless = { .max_attempts = 0 };

	(void)state;
	assert_true(backoff_has_attempt(&ten, 9));
	assert_false(backoff_has_attempt(&ten, 10));
	assert_true(backoff_has_attempt(&endless, 1000000));
}

static const struct unit_test tests[] = {
	TEST(test_ranges),
	TEST(test_server_wait),
	TEST(test_extremes),
	TEST(test_attempts),
};

TEST_MAIN(tests)
