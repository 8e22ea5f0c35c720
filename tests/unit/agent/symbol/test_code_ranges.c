/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of generated code: the later one holds what it covers, the newest ones stay. */
#include <stdlib.h>

#include "agent/symbol/code_ranges.h"
#include "tests/support/unit.h"

#define NONE UINT64_MAX

static int setup(void **state)
{
	struct code_ranges *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	code_ranges_init(r, 1000);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	code_ranges_fini(*state);
	free(*state);
	return 0;
}

static uint64_t name_at(const struct code_ranges *r, uint64_t pc)
{
	const struct code_range *range = code_ranges_find(r, pc);

	return range ? range->name_off : NONE;
}

static void add(struct code_ranges *r, uint64_t begin, uint64_t n_bytes, uint64_t name_off)
{
	assert_int_equal(code_ranges_add(r, begin, n_bytes, name_off), 0);
}

static void settle(struct code_ranges *r)
{
	assert_int_equal(code_ranges_settle(r), 0);
	assert_int_equal(r->n, r->n_settled);
}

static void test_empty(void **state)
{
	assert_null(code_ranges_find(*state, 0));
	settle(*state);
	assert_null(code_ranges_find(*state, 1000));
}

static void test_ends_are_exact(void **state)
{
	add(*state, 100, 10, 1);
	add(*state, 200, 1, 2);
	assert_int_equal(name_at(*state, 100), NONE);
	settle(*state);
	assert_int_equal(name_at(*state, 99), NONE);
	assert_int_equal(name_at(*state, 100), 1);
	assert_int_equal(name_at(*state, 109), 1);
	assert_int_equal(name_at(*state, 110), NONE);
	assert_int_equal(name_at(*state, 200), 2);
	assert_int_equal(name_at(*state, 201), NONE);
}

/* What an older one has left on both sides stays its own. */
static void test_later_wins_for_what_it_covers(void **state)
{
	add(*state, 100, 100, 1);
	add(*state, 150, 10, 2);
	settle(*state);
	assert_int_equal(name_at(*state, 149), 1);
	assert_int_equal(name_at(*state, 150), 2);
	assert_int_equal(name_at(*state, 160), 1);
	add(*state, 90, 200, 3);
	settle(*state);
	assert_int_equal(name_at(*state, 155), 3);
	assert_int_equal(((struct code_ranges *)*state)->n, 1);
}

static void test_older_does_not_come_back(void **state)
{
	add(*state, 100, 10, 1);
	add(*state, 100, 10, 2);
	add(*state, 100, 10, 3);
	settle(*state);
	assert_int_equal(name_at(*state, 105), 3);
	assert_int_equal(((struct code_ranges *)*state)->n, 1);
}

/* Against an array of who painted each address last, settled at random moments. */
static void test_random(void **state)
{
	enum { SPACE = 600, ROUNDS = 400 };
	struct code_ranges *r = *state;
	uint64_t painted[SPACE];

	srandom(7);
	for (size_t i = 0; i < SPACE; i++)
		painted[i] = NONE;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t begin = (uint64_t)random() % SPACE;
		uint64_t n = 1 + (uint64_t)random() % 60;

		n = begin + n > SPACE ? SPACE - begin : n;
		add(r, begin, n, round);
		for (uint64_t i = 0; i < n; i++)
			painted[begin + i] = round;
		if (random() % 5)
			continue;
		settle(r);
		for (uint64_t i = 0; i < SPACE; i++)
			assert_int_equal(name_at(r, i), painted[i]);
		for (size_t i = 1; i < r->n; i++)
			assert_true(r->items[i - 1].begin + r->items[i - 1].n_bytes <=
				    r->items[i].begin);
	}
}

static void test_what_is_no_range_is_dropped(void **state)
{
	struct code_ranges *r = *state;

	add(r, 100, 0, 1);
	add(r, 100, (uint64_t)1 << 32, 1);
	add(r, INT64_MAX, 1, 1);
	add(r, UINT64_MAX, 2, 1);
	settle(r);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->n_dropped, 4);
}

static void test_the_newest_stay(void **state)
{
	struct code_ranges *r = *state;

	for (uint64_t i = 0; i < 5000; i++)
		add(r, (5000 - i) * 16, 16, i);
	settle(r);
	assert_true(r->n <= 1000 && r->n >= 500);
	assert_int_equal(r->n + r->n_dropped, 5000);
	assert_true(code_ranges_bytes(r) <= 1000 * sizeof(struct code_range));
	for (uint64_t i = 5000 - 500; i < 5000; i++)
		assert_int_equal(name_at(r, (5000 - i) * 16 + 3), i);
	assert_int_equal(name_at(r, 5000 * 16), NONE);
}

/* A process that uses the same addresses for ever loses nothing. */
static void test_reuse_costs_no_room(void **state)
{
	struct code_ranges *r = *state;

	for (uint64_t i = 0; i < 20000; i++)
		add(r, i % 700 * 16, 16, i);
	settle(r);
	assert_int_equal(r->n, 700);
	assert_int_equal(r->n_dropped, 0);
	assert_int_equal(name_at(r, 0), 20000 - 20000 % 700);
}

static void test_smaller_ceiling(void **state)
{
	struct code_ranges *r = *state;

	for (uint64_t i = 0; i < 900; i++)
		add(r, i * 16, 16, i);
	code_ranges_set_max(r, 100);
	add(r, 900 * 16, 16, 900);
	settle(r);
	assert_true(r->n <= 100);
	assert_int_equal(name_at(r, 900 * 16), 900);
}

/* The count of what was added goes round after four thousand million. */
static void test_order_goes_round(void **state)
{
	struct code_ranges *r = *state;

	add(r, 100, 10, 1);
	r->n_added = UINT32_MAX - 1;
	r->items[0].order = UINT32_MAX - 1;
	add(r, 105, 10, 2);
	add(r, 100, 7, 3);
	settle(r);
	assert_int_equal(name_at(r, 104), 3);
	assert_int_equal(name_at(r, 106), 3);
	assert_int_equal(name_at(r, 107), 2);
}

static void test_reset(void **state)
{
	struct code_ranges *r = *state;

	add(r, 100, 10, 1);
	settle(r);
	code_ranges_reset(r);
	assert_int_equal(name_at(r, 100), NONE);
	assert_int_equal(code_ranges_bytes(r), 0);
	add(r, 100, 10, 2);
	settle(r);
	assert_int_equal(name_at(r, 100), 2);
}

static uint64_t name_before(const struct code_ranges *r, uint64_t pc)
{
	const struct code_range *range = code_ranges_find(r, pc);
	const struct code_range *before = range ? code_ranges_find_before(r, range, pc) : NULL;

	return before ? before->name_off : NONE;
}

static void test_what_was_displaced(void **state)
{
	add(*state, 100, 10, 1);
	add(*state, 200, 10, 2);
	settle(*state);
	add(*state, 105, 10, 3);
	add(*state, 105, 2, 4);
	settle(*state);
	assert_int_equal(name_before(*state, 106), 3);
	assert_int_equal(name_before(*state, 108), 1);
	assert_int_equal(name_before(*state, 112), NONE);
	assert_int_equal(name_before(*state, 205), NONE);
	code_ranges_reset(*state);
	assert_int_equal(code_ranges_bytes(*state), 0);
}

/* One address used a thousand times: the newest are kept, within the ceiling. */
static void test_the_past_has_a_ceiling(void **state)
{
	struct code_ranges *r = *state;

	code_ranges_set_max(r, 80);
	for (uint64_t i = 0; i < 1000; i++) {
		add(r, 100, 10, i);
		settle(r);
		assert_true(r->past.n <= 10 && r->past.cap <= 10);
	}
	const struct code_range *range = code_ranges_find(r, 100);
	for (uint64_t i = 999; i > 995; i--) {
		assert_int_equal(range->name_off, i);
		range = code_ranges_find_before(r, range, 100);
		assert_non_null(range);
	}
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_empty),
	FIXTURE_TEST(test_ends_are_exact),
	FIXTURE_TEST(test_later_wins_for_what_it_covers),
	FIXTURE_TEST(test_older_does_not_come_back),
	FIXTURE_TEST(test_random),
	FIXTURE_TEST(test_what_is_no_range_is_dropped),
	FIXTURE_TEST(test_the_newest_stay),
	FIXTURE_TEST(test_reuse_costs_no_room),
	FIXTURE_TEST(test_smaller_ceiling),
	FIXTURE_TEST(test_order_goes_round),
	FIXTURE_TEST(test_reset),
	FIXTURE_TEST(test_what_was_displaced),
	FIXTURE_TEST(test_the_past_has_a_ceiling),
};

TEST_MAIN(tests)
