/* SPDX-License-Identifier: Apache-2.0 */
/* Events wait for their time and come out in order. */
#include <errno.h>
#include <string.h>

#include "agent/process/event_queue.h"
#include "tests/support/unit.h"

static void put(struct event_queue *q, uint64_t time_ns, uint32_t pid)
{
	char path[] = "/path";
	struct process_event ev = {
		.kind = PROCESS_EVENT_MMAP, .time_ns = time_ns, .pid = pid, .path = path
	};

	assert_int_equal(event_queue_put(q, &ev, SIDEBAND_EVENT, pid), 0);
	memset(path, 'x', 5); /* was copied */
}

static void assert_next(struct event_queue *q, uint64_t until, uint32_t pid)
{
	const struct queued_event *item = event_queue_next(q, until);

	if (pid == 0) {
		assert_null(item);
		return;
	}
	assert_non_null(item);
	assert_int_equal(item->ev.pid, pid);
	assert_int_equal(item->tid, pid);
	assert_string_equal(item->ev.path, "/path");
}

static void test_order(void **state)
{
	struct event_queue q;

	(void)state;
	event_queue_init(&q, 100);
	put(&q, 30, 3);
	put(&q, 10, 1);
	put(&q, 20, 2);
	put(&q, 20, 22);
	put(&q, 20, 222);
	event_queue_sort(&q);
	assert_next(&q, 9, 0);
	assert_next(&q, 10, 1);
	assert_next(&q, 10, 0);
	assert_next(&q, 25, 2);
	assert_next(&q, 25, 22);
	/* What comes later goes in between; equal times keep the order of arrival. */
	put(&q, 20, 2222);
	put(&q, 25, 5);
	event_queue_sort(&q);
	assert_int_equal(event_queue_n(&q), 4);
	assert_next(&q, 100, 222);
	assert_next(&q, 100, 2222);
	assert_next(&q, 100, 5);
	assert_next(&q, 100, 3);
	assert_next(&q, 100, 0);
	event_queue_fini(&q);
}

static void test_ceiling(void **state)
{
	struct process_event ev = { .time_ns = 1 };
	struct event_queue q;

	(void)state;
	event_queue_init(&q, 5000);
	for (uint32_t i = 0; i < 5000; i++)
		put(&q, 5000 - i, i + 1);
	assert_int_equal(event_queue_put(&q, &ev, SIDEBAND_EVENT, 0), -ENOBUFS);
	event_queue_sort(&q);
	for (uint32_t i = 5000; i > 0; i--)
		assert_next(&q, 5000, i);
	assert_next(&q, 5000, 0);
	/* Drained, it gives its memory back and goes on. */
	put(&q, 1, 1);
	assert_true(q.cap < 5000);
	assert_int_equal(event_queue_n(&q), 1);
	event_queue_fini(&q);
}

static const struct unit_test tests[] = {
	TEST(test_order),
	TEST(test_ceiling),
};

TEST_MAIN(tests)
