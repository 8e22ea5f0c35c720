/* SPDX-License-Identifier: Apache-2.0 */
/* An intrusive ring. */
#include <stdlib.h>

#include "agent/util/list.h"
#include "tests/support/unit.h"

struct item {
	unsigned int number;
	struct list node;
};

/* The numbers in order, as digits of one. */
static unsigned int digits(const struct list *head)
{
	unsigned int all = 0, back = 0, unit = 1;

	LIST_FOREACH (head, node)
		all = all * 10 + LIST_ENTRY(node, struct item, node)->number;
	for (const struct list *node = head->prev; node != head; node = node->prev, unit *= 10)
		back += unit * CONTAINER_OF(node, const struct item, node)->number;
	assert_int_equal(all, back);
	return all;
}

static void test_order(void **state)
{
	struct item items[5] = {
		{ .number = 1 }, { .number = 2 }, { .number = 3 }, { .number = 4 }, { .number = 5 }
	};
	struct list head;

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	assert_int_equal(digits(&head), 0);
	for (int i = 0; i < 3; i++)
		list_push_back(&head, &items[i].node);
	assert_int_equal(digits(&head), 123);
	list_push_front(&head, &items[3].node);
	list_push_front(&head, &items[4].node);
	assert_int_equal(digits(&head), 54123);
	assert_false(list_empty(&head));
	/* In front of a node is where that node is the head. */
	list_remove(&items[4].node);
	list_push_back(&items[1].node, &items[4].node);
	assert_int_equal(digits(&head), 41523);
}

static void test_remove(void **state)
{
	struct item items[3] = { { .number = 1 }, { .number = 2 }, { .number = 3 } };
	struct list head;

	(void)state;
	list_init(&head);
	for (int i = 0; i < 3; i++)
		list_push_back(&head, &items[i].node);
	list_remove(&items[1].node);
	assert_int_equal(digits(&head), 13);
	/* A node that is in no list may be removed again. */
	assert_true(list_empty(&items[1].node));
	list_remove(&items[1].node);
	assert_int_equal(digits(&head), 13);
	list_remove(&items[0].node);
	list_remove(&items[2].node);
	assert_true(list_empty(&head));
}

static void test_foreach_may_free(void **state)
{
	struct list head;
	unsigned int n = 0;

	(void)state;
	list_init(&head);
	for (int i = 0; i < 10; i++) {
		struct item *item = calloc(1, sizeof(*item));

		assert_non_null(item);
		list_push_back(&head, &item->node);
	}
	LIST_FOREACH (&head, node) {
		list_remove(node);
		free(LIST_ENTRY(node, struct item, node));
		n++;
	}
	assert_int_equal(n, 10);
	assert_true(list_empty(&head));
}

static const struct unit_test tests[] = {
	TEST(test_order),
	TEST(test_remove),
	TEST(test_foreach_may_free),
};

TEST_MAIN(tests)
