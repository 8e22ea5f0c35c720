/* SPDX-License-Identifier: Apache-2.0 */
/* What reading a request may cost: each ceiling is reached, and what was used up first is told from then on. */
#include "agent/store/ingest/read_budget.h"
#include "tests/support/unit.h"

static void test_ceilings(void **state)
{
	const struct read_budget_options options = { .inflated_bytes = 10, .elements = 5 };
	struct read_budget b;

	(void)state;
	read_budget_init(&b, &options);
	assert_true(read_budget_take_inflated(&b, 4));
	assert_true(read_budget_take_inflated(&b, 6));
	assert_true(read_budget_take_elements(&b, 5));
	assert_true(read_budget_goes_on(&b));
	assert_false(read_budget_take_inflated(&b, 1));
	assert_int_equal(b.state, READ_BUDGET_INFLATED);
	assert_false(read_budget_take_elements(&b, 1));
	assert_false(read_budget_take_elements(&b, 0));
	assert_false(read_budget_goes_on(&b));
	assert_int_equal(b.state, READ_BUDGET_INFLATED);
	read_budget_init(&b, &options);
	assert_false(read_budget_take_elements(&b, 6));
	assert_int_equal(b.state, READ_BUDGET_ELEMENTS);
	assert_false(read_budget_take_inflated(&b, 1));
}

static size_t turns(struct read_budget *b, size_t max)
{
	size_t n = 0;

	while (n < max && read_budget_goes_on(b))
		n++;
	return n;
}

static void test_stop(void **state)
{
	atomic_bool stop = false;
	const struct read_budget_options options = { .inflated_bytes = 10, .stop = &stop };
	struct read_budget b;

	(void)state;
	read_budget_init(&b, &options);
	assert_true(read_budget_goes_on_now(&b));
	assert_int_equal(turns(&b, 1000), 1000);
	atomic_store(&stop, true);
	/* Soon, not in each turn. */
	assert_true(turns(&b, 100000) < 1000);
	assert_int_equal(b.state, READ_BUDGET_STOPPED);
	assert_false(read_budget_take_inflated(&b, 1));
}

/* Only work within begin and end counts, and it ends in the middle of a part. */
static void test_time(void **state)
{
	const struct read_budget_options options = { .inflated_bytes = 10, .cpu_ns = 5000000 };
	struct read_budget b, other;

	(void)state;
	read_budget_init(&b, &options);
	read_budget_begin(&b);
	assert_true(turns(&b, 100) == 100);
	read_budget_end(&b);
	assert_true(b.left.cpu_ns > 0 && b.left.cpu_ns < options.cpu_ns);
	uint64_t left_ns = b.left.cpu_ns;

	/* Somebody else's time. */
	read_budget_init(&other, &options);
	read_budget_begin(&other);
	while (read_budget_goes_on_now(&other))
		;
	assert_int_equal(other.state, READ_BUDGET_TIME);
	read_budget_end(&other);
	assert_int_equal(other.left.cpu_ns, 0);
	assert_int_equal(b.left.cpu_ns, left_ns);
	read_budget_begin(&b);
	while (read_budget_goes_on(&b))
		;
	assert_int_equal(b.state, READ_BUDGET_TIME);
	read_budget_end(&b);
	assert_int_equal(b.left.cpu_ns, 0);
}

static const struct unit_test tests[] = {
	TEST(test_ceilings),
	TEST(test_stop),
	TEST(test_time),
};

TEST_MAIN(tests)
