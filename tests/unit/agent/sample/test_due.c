/* SPDX-License-Identifier: Apache-2.0 */
/* How many ticks were due, by two clocks that are not the same. */
#include "agent/sample/due.h"
#include "tests/support/unit.h"

#define HZ 100
#define START_NS (1000 * NS_PER_S)
#define MAX_LOOKS 4

/* A look at a time since the start; 0 ends them. */
struct at {
	uint64_t before_ms;
	uint64_t took_ms;
	uint64_t enabled_ms;
};

struct row {
	const char *name;
	struct at looks[MAX_LOOKS];
	uint64_t expected; /* at 100 Hz; the one that may be under way is left out */
};

static const struct row rows[] = {
	{ "no_time", { { 1, 0, 1 } }, 0 },
	{ "one_period", { { 10, 0, 10 } }, 0 },
	{ "two_periods", { { 20, 0, 20 } }, 1 },
	{ "a_second", { { 1000, 0, 1000 } }, 99 },
	{ "looks_add_up", { { 5, 0, 5 }, { 10, 0, 10 }, { 1000, 0, 1000 } }, 99 },
	/* The timer's clock counts: 1/1000 more or less of the other is its drift. */
	{ "event_clock_is_fast", { { 100000, 0, 100100 } }, 9999 },
	{ "event_clock_is_slow", { { 100000, 0, 99900 } }, 9999 },
	/* The CPU went offline within the second look, and stayed away. */
	{ "cpu_went", { { 1000, 0, 1000 }, { 2000, 0, 1500 }, { 3000, 0, 1500 } }, 149 },
	{ "cpu_went_before_the_first_look", { { 1000, 0, 250 } }, 24 },
	{ "cpu_was_never_there", { { 1000, 0, 0 }, { 2000, 0, 0 } }, 0 },
	/* However long it was there before, as looks are not far apart. */
	{ "cpu_went_after_a_day",
	  { { 86400000, 0, 86400000 }, { 86401000, 0, 86400500 }, { 86402000, 0, 86400500 } },
	  8640049 },
	/* We were not run between the clock and the event: it was there all the time. */
	{ "look_took_long", { { 1000, 200, 1200 }, { 2000, 0, 2000 } }, 199 },
	{ "event_asked_at_once", { { 1000, 200, 1000 }, { 2000, 0, 2000 } }, 199 },
	{ "second_look_took_long",
	  { { 1000, 0, 1000 }, { 2000, 300, 2300 }, { 3000, 0, 3000 } },
	  299 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct due d;

	due_begin(&d, HZ, START_NS);
	assert_int_equal(due_ticks(&d), 0);
	for (size_t i = 0; i < MAX_LOOKS && row->looks[i].before_ms; i++) {
		const struct at *at = &row->looks[i];

		due_look(&d,
			 &(struct due_look){
				 .before_ns = START_NS + at->before_ms * NS_PER_MS,
				 .after_ns = START_NS + (at->before_ms + at->took_ms) * NS_PER_MS,
				 .enabled_ns = at->enabled_ms * NS_PER_MS,
			 });
	}
	assert_int_equal(due_ticks(&d), row->expected);
}

/* A period is a whole number of nanoseconds: at 97 Hz the kernel's ticks are a little faster than that. */
static void test_period(void **state)
{
	struct due d;

	(void)state;
	due_begin(&d, 97, 0);
	assert_int_equal(d.period_ns, 10309278);
	due_begin(&d, 10000000, 0);
	assert_int_equal(d.period_ns, 10000);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_period),
};

TEST_MAIN(tests)
