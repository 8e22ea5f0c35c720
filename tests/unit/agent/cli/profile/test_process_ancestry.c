/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of parents. */
#include "agent/cli/profile/process_ancestry.h"
#include "tests/support/unit.h"

#define ROOT 100

/* pid → parent, ends with 0. */
struct family {
	uint32_t pid;
	uint32_t parent;
};

static uint32_t parent_of(uint32_t pid, void *data)
{
	for (const struct family *f = data; f->pid; f++)
		if (f->pid == pid)
			return f->parent;
	return 0;
}

static void test_family(void **state)
{
	struct family family[] = { { 101, ROOT }, { 102, 101 }, { 103, 102 }, { 200, 1 },
				   { 201, 200 },  { ROOT, 50 }, { 0, 0 } };
	_cleanup_(process_ancestry_freep) struct process_ancestry *d = NULL;

	(void)state;
	assert_int_equal(process_ancestry_new(ROOT, &d), 0);
	assert_true(process_ancestry_has(d, ROOT, parent_of, family));
	assert_true(process_ancestry_has(d, 103, parent_of, family));
	assert_true(process_ancestry_has(d, 101, parent_of, family));
	assert_false(process_ancestry_has(d, 50, parent_of, family));
	assert_false(process_ancestry_has(d, 201, parent_of, family));
	assert_false(process_ancestry_has(d, 999, parent_of, family));
	assert_false(process_ancestry_has(d, 0, parent_of, family));
}

/* 102 was on the way to 103, so its later children belong when it is gone. */
static void test_parents_that_ended(void **state)
{
	struct family before[] = { { 102, ROOT }, { 103, 102 }, { 0, 0 } };
	struct family after[] = { { 103, 1 }, { 104, 102 }, { 105, 106 }, { 0, 0 } };
	_cleanup_(process_ancestry_freep) struct process_ancestry *d = NULL;

	(void)state;
	assert_int_equal(process_ancestry_new(ROOT, &d), 0);
	assert_true(process_ancestry_has(d, 103, parent_of, before));
	assert_true(process_ancestry_has(d, 103, parent_of, after));
	assert_true(process_ancestry_has(d, 104, parent_of, after));
	assert_false(process_ancestry_has(d, 105, parent_of, after));
}

static uint32_t one_less(uint32_t pid, void *data)
{
	(void)data;
	return pid - 1;
}

static uint32_t itself(uint32_t pid, void *data)
{
	(void)data;
	return pid;
}

static void test_depth_ceiling(void **state)
{
	_cleanup_(process_ancestry_freep) struct process_ancestry *d = NULL;

	(void)state;
	assert_int_equal(process_ancestry_new(ROOT, &d), 0);
	assert_false(
		process_ancestry_has(d, ROOT + PROCESS_ANCESTRY_MAX_DEPTH + 1, one_less, NULL));
	assert_true(process_ancestry_has(d, ROOT + PROCESS_ANCESTRY_MAX_DEPTH, one_less, NULL));
	assert_false(process_ancestry_has(d, 7, itself, NULL));
}

static void test_pid_ceiling(void **state)
{
	struct family family[] = { { PROCESS_ANCESTRY_MAX_PID - 1, ROOT },
				   { PROCESS_ANCESTRY_MAX_PID, ROOT },
				   { 0, 0 } };
	_cleanup_(process_ancestry_freep) struct process_ancestry *d = NULL;

	(void)state;
	assert_int_equal(process_ancestry_new(ROOT, &d), 0);
	assert_true(process_ancestry_has(d, PROCESS_ANCESTRY_MAX_PID - 1, parent_of, family));
	assert_true(process_ancestry_has(d, PROCESS_ANCESTRY_MAX_PID, parent_of, family));
	assert_true(process_ancestry_has(d, PROCESS_ANCESTRY_MAX_PID - 1, itself, NULL));
	assert_false(process_ancestry_has(d, PROCESS_ANCESTRY_MAX_PID, itself, NULL));
}

static const struct unit_test tests[] = {
	TEST(test_family),
	TEST(test_parents_that_ended),
	TEST(test_depth_ceiling),
	TEST(test_pid_ceiling),
};

TEST_MAIN(tests)
