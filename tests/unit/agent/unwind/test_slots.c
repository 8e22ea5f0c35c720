/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of a table that the kernel half reads: each has one owner, and rests before it gets another one. */
#include <stdbool.h>
#include <stdlib.h>

#include "agent/unwind/slots.h"
#include "agent/util/hash.h"
#include "tests/support/unit.h"

#define NOW 1000000000ULL
#define REST KERNEL_ARENA_GRACE_NS

static void test_fresh_ones_first(void **state)
{
	struct slots s;

	(void)state;
	assert_int_equal(slots_init(&s, 2, 6), 0);
	assert_int_equal(slots_take(&s, NOW), 2);
	slots_give(&s, 2, NOW);
	/* Never used is better than rested. */
	assert_int_equal(slots_take(&s, NOW + 10 * REST), 3);
	assert_int_equal(slots_take(&s, NOW + 10 * REST), 4);
	assert_int_equal(slots_take(&s, NOW + 10 * REST), 5);
	assert_int_equal(slots_take(&s, NOW + 10 * REST), 2);
	assert_int_equal(slots_take(&s, NOW + 10 * REST), 0);
	slots_fini(&s);
}

static void test_rest(void **state)
{
	struct slots s;

	(void)state;
	assert_int_equal(slots_init(&s, 2, 4), 0);
	assert_int_equal(slots_take(&s, NOW), 2);
	assert_int_equal(slots_take(&s, NOW), 3);
	assert_int_equal(slots_take(&s, NOW + 100 * REST), 0);
	slots_give(&s, 3, NOW);
	slots_give(&s, 2, NOW + 1);
	assert_int_equal(slots_take(&s, NOW), 0);
	assert_int_equal(slots_take(&s, NOW + REST - 1), 0);
	/* The one free for longest first. */
	assert_int_equal(slots_take(&s, NOW + REST), 3);
	assert_int_equal(slots_take(&s, NOW + REST), 0);
	assert_int_equal(slots_take(&s, NOW + REST + 1), 2);
	slots_fini(&s);
}

static void test_only_one(void **state)
{
	struct slots s;

	(void)state;
	assert_int_equal(slots_init(&s, 2, 3), 0);
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(slots_take(&s, NOW + i * REST), 2);
		assert_int_equal(slots_take(&s, NOW + i * REST), 0);
		slots_give(&s, 2, NOW + i * REST);
	}
	slots_fini(&s);
	slots_fini(&s);
}

#define N 50

struct model {
	bool taken[N];
	uint64_t free_since[N];
};

static void take_at_random(struct slots *s, struct model *m, uint64_t now)
{
	uint32_t slot = slots_take(s, now);

	if (slot == 0)
		return;
	assert_in_range(slot, 5, N - 1);
	assert_false(m->taken[slot]);
	assert_true(m->free_since[slot] == 0 || m->free_since[slot] + REST <= now);
	m->taken[slot] = true;
}

/* Whatever the order: nobody gets what another one has, or what has not rested; and none gets lost. */
static void test_random(void **state)
{
	struct model m = { .taken = { false } };
	uint64_t now = NOW;
	struct slots s;

	(void)state;
	assert_int_equal(slots_init(&s, 5, N), 0);
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t r = hash_u64(i);
		uint32_t slot = (uint32_t)(5 + r % (N - 5));

		now += (r >> 20) % (REST / 8);
		if (r >> 63 || !m.taken[slot]) {
			take_at_random(&s, &m, now);
			continue;
		}
		slots_give(&s, slot, now);
		m.taken[slot] = false;
		m.free_since[slot] = now;
	}
	for (uint32_t i = 5; i < N; i++)
		take_at_random(&s, &m, now + REST);
	for (uint32_t i = 5; i < N; i++)
		assert_true(m.taken[i]);
	slots_fini(&s);
}

static const struct unit_test tests[] = {
	TEST(test_fresh_ones_first),
	TEST(test_rest),
	TEST(test_only_one),
	TEST(test_random),
};

TEST_MAIN(tests)
