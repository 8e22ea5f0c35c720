/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list of targets: references, the ceiling, equality, memory that runs out. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <errno.h>

#include "agent/target/target_list.h"
#include "tests/support/alloc_fail.h"

/* "a=1;b=2|c=3": two sets. */
static void fill(struct target_list *list, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;

	assert_non_null(copy);
	while (*text && (word = strsep(&rest, ";")))
		assert_int_equal(target_list_add(list, make_labels(word)), 0);
}

static void test_grows(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_(labels_unrefp) struct labels *l = make_labels("a=1");

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(target_list_add(&list, labels_ref(l)), 0);
		assert_int_equal(list.n, i + 1);
		assert_ptr_equal(list.items[i], l);
	}
	assert_int_equal(l->n_refs, 1001);
	target_list_fini(&list);
	assert_int_equal(l->n_refs, 1);
	assert_int_equal(list.n, 0);
	assert_null(list.items);
}

static void test_ceiling(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_(labels_unrefp) struct labels *l = make_labels("a=1");

	(void)state;
	for (size_t i = 0; i < TARGET_LIST_MAX; i++)
		assert_int_equal(target_list_add(&list, labels_ref(l)), 0);
	/* Takes the reference all the same. */
	assert_int_equal(target_list_add(&list, labels_ref(l)), -E2BIG);
	assert_int_equal(list.n, TARGET_LIST_MAX);
	assert_int_equal(l->n_refs, TARGET_LIST_MAX + 1);
}

static const struct row {
	const char *name, *a, *b;
	bool expected;
} rows[] = {
	{ "none", "", "", true },
	{ "equal, of other objects", "a=1;b=2", "a=1;b=2", true },
	{ "another order", "a=1;b=2", "b=2;a=1", false },
	{ "another value", "a=1;b=2", "a=1;b=3", false },
	{ "one more", "a=1", "a=1;a=1", false },
	{ "one and none", "a=1", "", false },
};

static void test_equal(void **state)
{
	const struct row *row = *state;
	_cleanup_target_list_ struct target_list a = { 0 };
	_cleanup_target_list_ struct target_list b = { 0 };

	fill(&a, row->a);
	fill(&b, row->b);
	assert_int_equal(target_list_equal(&a, &b), row->expected);
	assert_int_equal(target_list_equal(&b, &a), row->expected);
}

static void test_memory_runs_out(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_(labels_unrefp) struct labels *l = make_labels("a=1");
	bool failed = true;

	(void)state;
	for (size_t nth = 1; failed; nth++) {
		size_t n = list.n;

		alloc_fail_arm(nth);
		int r = target_list_add(&list, labels_ref(l));
		failed = alloc_fail_disarm();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		assert_int_equal(list.n, n + !failed);
	}
	assert_int_equal(l->n_refs, 1 + list.n);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_equal, rows, name),
	TEST(test_grows),
	TEST(test_ceiling),
	TEST(test_memory_runs_out),
};

TEST_MAIN(tests)
