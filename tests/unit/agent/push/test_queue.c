/* SPDX-License-Identifier: Apache-2.0 */
/* Order, bounds and ageing of the queue. */
#include <stdlib.h>

#include "agent/push/body.h"
#include "agent/push/queue.h"
#include "tests/support/unit.h"

#define NOW 1000

static struct push_entry *make(size_t n_bytes, uint64_t deadline_ns)
{
	struct push_entry *entry = calloc(1, sizeof(*entry));
	struct push_profile *profile = calloc(1, sizeof(*profile));

	assert_non_null(entry);
	assert_non_null(profile);
	profile->n_refs = 1;
	profile->n = n_bytes;
	profile->deadline_ns = deadline_ns;
	entry->profile = profile;
	return entry;
}

/* Frees what came out and says which it was. */
static uint64_t seen(struct push_entry *entry)
{
	uint64_t seq = entry ? entry->seq : 0;

	if (entry)
		push_profile_unref(entry->profile);
	free(entry);
	return seq;
}

static void test_oldest_first(void **state)
{
	struct push_queue q;

	(void)state;
	push_queue_init(&q, 10, 1000);
	for (int i = 0; i < 3; i++)
		push_queue_put(&q, make(10, 0));
	assert_int_equal(q.n, 3);
	assert_int_equal(q.n_bytes, 30);
	assert_int_equal(seen(push_queue_take_oldest(&q)), 1);
	assert_int_equal(seen(push_queue_take_next(&q, NOW)), 2);
	assert_int_equal(seen(push_queue_take_next(&q, NOW)), 3);
	assert_null(push_queue_take_next(&q, NOW));
	assert_null(push_queue_take_oldest(&q));
	push_queue_fini(&q);
}

static void test_comes_back_where_it_was(void **state)
{
	struct push_queue q;

	(void)state;
	push_queue_init(&q, 10, 1000);
	for (int i = 0; i < 3; i++)
		push_queue_put(&q, make(10, 0));
	struct push_entry *first = push_queue_take_next(&q, NOW);
	struct push_entry *second = push_queue_take_next(&q, NOW);
	first->n_attempts = 1;
	push_queue_put(&q, second);
	push_queue_put(&q, first);
	/* The one that was tried waits for the others, but is still the oldest when room is needed.
	 */
	assert_int_equal(seen(push_queue_take_next(&q, NOW)), 2);
	assert_int_equal(seen(push_queue_take_oldest(&q)), 1);
	assert_int_equal(seen(push_queue_take_oldest(&q)), 3);
	push_queue_fini(&q);
}

static void test_bounds(void **state)
{
	struct push_queue q;

	(void)state;
	push_queue_init(&q, 2, 100);
	push_queue_put(&q, make(50, 0));
	push_queue_put(&q, make(50, 0));
	assert_false(push_queue_is_over(&q));
	push_queue_put(&q, make(0, 0));
	assert_true(push_queue_is_over(&q));
	assert_int_equal(seen(push_queue_take_oldest(&q)), 1);
	assert_false(push_queue_is_over(&q));
	assert_int_equal(seen(push_queue_take_oldest(&q)), 2);
	push_queue_put(&q, make(101, 0));
	assert_true(push_queue_is_over(&q));
	assert_int_equal(seen(push_queue_take_oldest(&q)), 3);
	assert_int_equal(seen(push_queue_take_oldest(&q)), 4);
	push_queue_fini(&q);
}

static void test_late(void **state)
{
	struct push_queue q;

	(void)state;
	push_queue_init(&q, 10, 1000);
	push_queue_put(&q, make(1, 50));
	push_queue_put(&q, make(1, 40));
	push_queue_put(&q, make(1, 60));
	assert_null(push_queue_take_late(&q, 40));
	assert_int_equal(seen(push_queue_take_late(&q, 41)), 2);
	assert_int_equal(seen(push_queue_take_late(&q, 60)), 1);
	assert_null(push_queue_take_late(&q, 60));
	assert_int_equal(seen(push_queue_take_oldest(&q)), 3);
	push_queue_fini(&q);
}

/* What failed once shares no request, and what does not fit leaves room for what does. */
static void test_fresh(void **state)
{
	struct push_queue q;

	(void)state;
	push_queue_init(&q, 10, 16 << 20);
	push_queue_put(&q, make(10, 0));
	push_queue_put(&q, make(PUSH_MAX_BATCH_BYTES, 0));
	push_queue_put(&q, make(20, 0));
	struct push_entry *tried = push_queue_take_oldest(&q);
	tried->n_attempts = 1;
	push_queue_put(&q, tried);
	assert_int_equal(seen(push_queue_take_fresh(&q, NOW, 1)), 3);
	assert_null(push_queue_take_fresh(&q, NOW, 1));
	assert_int_equal(seen(push_queue_take_fresh(&q, NOW, 0)), 2);
	assert_null(push_queue_take_fresh(&q, NOW, 0));
	assert_int_equal(seen(push_queue_take_next(&q, NOW)), 1);
	push_queue_fini(&q);
}

/* What has its moment later is passed over, but is there when room is needed. */
static void test_later(void **state)
{
	struct push_queue q;

	(void)state;
	push_queue_init(&q, 10, 1000);
	for (uint64_t i = 0; i < 3; i++) {
		struct push_entry *entry = make(10, 0);

		entry->profile->begin_ns = NOW + 20 - 10 * i;
		push_queue_put(&q, entry);
	}
	assert_int_equal(seen(push_queue_take_next(&q, NOW)), 3);
	assert_null(push_queue_take_next(&q, NOW));
	assert_null(push_queue_take_fresh(&q, NOW, 0));
	assert_int_equal(push_queue_next_begin(&q, NOW), NOW + 10);
	assert_int_equal(seen(push_queue_take_fresh(&q, NOW + 10, 0)), 2);
	assert_int_equal(push_queue_next_begin(&q, NOW), NOW + 20);
	assert_int_equal(push_queue_next_begin(&q, NOW + 20), 0);
	assert_int_equal(seen(push_queue_take_oldest(&q)), 1);
	push_queue_fini(&q);
}

static const struct unit_test tests[] = {
	TEST(test_oldest_first), TEST(test_comes_back_where_it_was),
	TEST(test_fresh),	 TEST(test_bounds),
	TEST(test_late),	 TEST(test_later),
};

TEST_MAIN(tests)
