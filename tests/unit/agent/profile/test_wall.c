/* SPDX-License-Identifier: Apache-2.0 */
/* What ticks are worth in wall-clock time: their sum is what the CPU clock says. */
#include "tests/support/unit.h"

#include <stdlib.h>

#include "agent/profile/wall.h"
#include "agent/util/macro.h"

#define PERIOD 10000000

/* Ticks as they come, and what the process has used after each. */
static int64_t tell(struct wall_clock *c, size_t n_ticks)
{
	int64_t told = 0;

	for (size_t i = 0; i < n_ticks; i++) {
		int64_t ns = wall_clock_tick_ns(c, PERIOD);

		wall_clock_told(c, ns, PERIOD);
		told += ns;
	}
	return told;
}

/* By chance there are some more or fewer than the process has used: not in the sum. */
static void test_sum_follows_the_clock(void **state)
{
	struct wall_clock c = { 0 };
	int64_t told = 0, used = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < 1000; round++) {
		told += tell(&c, (size_t)(rand() % 8));
		used += 3 * PERIOD + PERIOD / 2;
		wall_clock_look(&c, used, true);
		assert_true(llabs(c.told_ns - told) == 0);
	}
	told += wall_clock_settle(&c, told);
	assert_int_equal(told, used);
	assert_int_equal(c.owed_ns, 0);
}

/* What it had used before it was looked at is not told of, and the ticks until then are worth a period. */
static void test_used_before(void **state)
{
	struct wall_clock c = { 0 };

	(void)state;
	assert_int_equal(tell(&c, 3), 3 * PERIOD);
	wall_clock_look(&c, 1000LL * PERIOD, false);
	assert_int_equal(c.owed_ns, 0);
	wall_clock_look(&c, 1002LL * PERIOD, false);
	assert_int_equal(wall_clock_tick_ns(&c, PERIOD), 3 * PERIOD);
	assert_int_equal(tell(&c, 2), 3 * PERIOD + PERIOD);
	assert_int_equal(c.owed_ns, 0);
	wall_clock_look(&c, 1002LL * PERIOD, false);
	assert_int_equal(c.owed_ns, -2 * PERIOD);
	/* A clock that goes back is another process's. */
	wall_clock_look(&c, 5LL * PERIOD, false);
	assert_int_equal(c.owed_ns, -2 * PERIOD);
}

static const struct {
	const char *name;
	int64_t owed, tick, there, settled;
} rows[] = {
	{ "nothing", 0, PERIOD, PERIOD, 0 },
	{ "too little", 2 * PERIOD, 3 * PERIOD, PERIOD, 2 * PERIOD },
	{ "far too little", 1000LL * PERIOD, 16LL * PERIOD, PERIOD, 1000LL * PERIOD },
	{ "too much", -PERIOD / 2, PERIOD / 2, 4 * PERIOD, -PERIOD / 2 },
	{ "far too much", -9LL * PERIOD, PERIOD / 4, 4 * PERIOD, -2LL * PERIOD },
	{ "an empty stack", -PERIOD, PERIOD / 4, 0, 0 },
};

/* None is worth nothing, and no sum is less than nothing. */
static void test_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct wall_clock c = { .has_base = true, .owed_ns = rows[i].owed };

		if (wall_clock_tick_ns(&c, PERIOD) != rows[i].tick ||
		    wall_clock_settle(&c, rows[i].there) != rows[i].settled ||
		    c.owed_ns != rows[i].owed - rows[i].settled)
			fail_msg("%s", rows[i].name);
	}
}

static const struct unit_test tests[] = {
	TEST(test_sum_follows_the_clock),
	TEST(test_used_before),
	TEST(test_bounds),
};

TEST_MAIN(tests)
