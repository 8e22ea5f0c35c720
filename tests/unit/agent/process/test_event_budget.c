/* SPDX-License-Identifier: Apache-2.0 */
/* What the mapping events of one process may cost: who is over it, and only who is. */
#include "agent/process/event_budget.h"
#include "tests/support/unit.h"

#define LIMIT 1000
#define MANY ((uint32_t)EVENT_BUDGET_SETS * EVENT_BUDGET_WAYS * 4)

struct told {
	size_t n;
	uint32_t pid;
	uint64_t last_ns;
};

static int setup(void **state)
{
	struct event_budget *b = NULL;

	assert_int_equal(event_budget_new(LIMIT, &b), 0);
	event_budget_begin(b, 1);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	event_budget_free(*state);
	return 0;
}

static void note(uint32_t pid, uint64_t last_ns, void *data)
{
	struct told *told = data;

	told->n++;
	told->pid = pid;
	told->last_ns = last_ns;
}

static struct told report(struct event_budget *b)
{
	struct told told = { 0 };

	event_budget_report(b, note, &told);
	return told;
}

static void only_who_is_over(void **state)
{
	struct event_budget *b = *state;

	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(event_budget_charge(b, 7, LIMIT / 10, i), EVENT_BUDGET_TAKE);
	assert_int_equal(report(b).n, 0);
	assert_int_equal(event_budget_charge(b, 7, 1, 20), EVENT_BUDGET_FIRST);
	/* Of another CPU's ring: earlier, and read later. */
	assert_int_equal(event_budget_charge(b, 7, 1, 30), EVENT_BUDGET_LEAVE);
	assert_int_equal(event_budget_charge(b, 7, 1, 25), EVENT_BUDGET_LEAVE);
	assert_int_equal(event_budget_charge(b, 8, LIMIT, 40), EVENT_BUDGET_TAKE);
	struct told told = report(b);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.pid, 7);
	assert_int_equal(told.last_ns, 30);
	assert_int_equal(report(b).n, 0);
	/* It goes on: told again, but it is the same flood. */
	assert_int_equal(event_budget_charge(b, 7, 1, 50), EVENT_BUDGET_LEAVE);
	told = report(b);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.last_ns, 50);
}

static void a_new_window(void **state)
{
	struct event_budget *b = *state;

	assert_int_equal(event_budget_charge(b, 7, LIMIT + 1, 10), EVENT_BUDGET_FIRST);
	event_budget_begin(b, EVENT_BUDGET_WINDOW_NS);
	assert_int_equal(event_budget_charge(b, 7, 1, 11), EVENT_BUDGET_LEAVE);
	event_budget_begin(b, 1 + EVENT_BUDGET_WINDOW_NS);
	assert_int_equal(event_budget_charge(b, 7, LIMIT, 12), EVENT_BUDGET_TAKE);
	/* What was left out before is still to be told. */
	struct told told = report(b);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.last_ns, 11);
	assert_int_equal(event_budget_charge(b, 7, 1, 13), EVENT_BUDGET_FIRST);
	assert_int_equal(report(b).last_ns, 13);
}

/* More processes than there is room for: none of them is taken for another, and the one that floods among them is found. */
static void many_processes(void **state)
{
	struct event_budget *b = *state;
	const uint32_t flooder = MANY / 2;

	for (unsigned int round = 0; round < 20; round++) {
		for (uint32_t pid = 1; pid <= MANY; pid++)
			if (pid != flooder)
				assert_int_equal(event_budget_charge(b, pid, LIMIT / 20, round),
						 EVENT_BUDGET_TAKE);
		(void)event_budget_charge(b, flooder, LIMIT, round);
		(void)event_budget_charge(b, flooder, LIMIT, round);
	}
	struct told told = report(b);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.pid, flooder);
}

/* All places are taken by processes that flood: nobody is pushed out, and the others' events are taken. */
static void all_flood(void **state)
{
	struct event_budget *b = *state;
	size_t n_over = 0;

	for (uint32_t pid = 1; pid <= MANY; pid++)
		n_over += event_budget_charge(b, pid, LIMIT + 1, pid) == EVENT_BUDGET_FIRST;
	assert_int_equal(n_over, EVENT_BUDGET_SETS * EVENT_BUDGET_WAYS);
	assert_int_equal(report(b).n, n_over);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(only_who_is_over),
	FIXTURE_TEST(a_new_window),
	FIXTURE_TEST(many_processes),
	FIXTURE_TEST(all_flood),
};

TEST_MAIN(tests)
