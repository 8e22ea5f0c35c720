/* SPDX-License-Identifier: Apache-2.0 */
/* Who is held back, and who never is, whatever others do. */
#include "agent/dwarf/blame.h"
#include "tests/support/unit.h"

#define BEGIN_NS (1000 * NS_PER_S)
#define ROOT_FS 7
#define CONTAINER_FS 8

static const struct dwarf_owner nobody = { DWARF_OWNER_NOBODY, 0 };
static const struct dwarf_owner root = { DWARF_OWNER_ROOT, ROOT_FS };
static const struct dwarf_owner container = { DWARF_OWNER_ROOT, CONTAINER_FS };
static const struct dwarf_owner alice = { DWARF_OWNER_USER, 1000 };
static const struct dwarf_owner bob = { DWARF_OWNER_USER, 1001 };

static void fail_times(struct dwarf_blame *b, struct dwarf_owner owner, int n, uint64_t now_ns)
{
	for (int i = 0; i < n; i++)
		dwarf_blame_add(b, owner, now_ns);
}

static void a_user_is_one_wherever_his_files_are(void **state)
{
	struct dwarf_owner here = dwarf_owner_of(1000, ROOT_FS);
	struct dwarf_owner there = dwarf_owner_of(1000, CONTAINER_FS);

	(void)state;
	assert_true(here.kind == DWARF_OWNER_USER && there.kind == DWARF_OWNER_USER);
	assert_int_equal(here.id, there.id);
	here = dwarf_owner_of(0, ROOT_FS);
	there = dwarf_owner_of(0, CONTAINER_FS);
	assert_true(here.kind == DWARF_OWNER_ROOT && there.kind == DWARF_OWNER_ROOT);
	assert_int_not_equal(here.id, there.id);
}

static void who_fails_is_held_back_for_a_minute(void **state)
{
	struct dwarf_blame b = { 0 };

	(void)state;
	assert_false(dwarf_blame_holds_back(&b, alice, BEGIN_NS));
	fail_times(&b, alice, DWARF_MAX_FAILURES_EACH - 1, BEGIN_NS);
	assert_false(dwarf_blame_holds_back(&b, alice, BEGIN_NS));
	fail_times(&b, alice, 1, BEGIN_NS + 1);
	assert_true(dwarf_blame_holds_back(&b, alice, BEGIN_NS + 1));
	assert_true(dwarf_blame_holds_back(&b, alice, BEGIN_NS + DWARF_BLAME_NS - 1));
	assert_false(dwarf_blame_holds_back(&b, alice, BEGIN_NS + DWARF_BLAME_NS));
}

static void others_are_not(void **state)
{
	struct dwarf_blame b = { 0 };

	(void)state;
	fail_times(&b, alice, DWARF_MAX_FAILURES_EACH, BEGIN_NS);
	assert_false(dwarf_blame_holds_back(&b, bob, BEGIN_NS));
	assert_false(dwarf_blame_holds_back(&b, root, BEGIN_NS));
	fail_times(&b, container, DWARF_MAX_FAILURES_EACH, BEGIN_NS);
	assert_true(dwarf_blame_holds_back(&b, container, BEGIN_NS));
	assert_false(dwarf_blame_holds_back(&b, root, BEGIN_NS));
	assert_false(dwarf_blame_holds_back(&b, bob, BEGIN_NS));
}

/* One person with many ids. */
static void all_users_do_not_take_the_turn_of_root(void **state)
{
	struct dwarf_blame b = { 0 };
	size_t n = 0;

	(void)state;
	for (uint64_t id = 100000; id < 101000; id++) {
		struct dwarf_owner one = { DWARF_OWNER_USER, id };

		if (dwarf_blame_holds_back(&b, one, BEGIN_NS))
			continue;
		dwarf_blame_add(&b, one, BEGIN_NS);
		n++;
	}
	assert_int_equal(n, DWARF_MAX_FAILURES);
	assert_true(dwarf_blame_holds_back(&b, bob, BEGIN_NS));
	assert_false(dwarf_blame_holds_back(&b, root, BEGIN_NS));
	assert_false(dwarf_blame_holds_back(&b, bob, BEGIN_NS + DWARF_BLAME_NS));
}

static void a_server_that_fails_holds_all_back(void **state)
{
	struct dwarf_blame b = { 0 };

	(void)state;
	fail_times(&b, nobody, DWARF_MAX_FAILURES - 1, BEGIN_NS);
	assert_false(dwarf_blame_holds_back(&b, root, BEGIN_NS));
	fail_times(&b, nobody, 1, BEGIN_NS);
	assert_true(dwarf_blame_holds_back(&b, root, BEGIN_NS));
	assert_true(dwarf_blame_holds_back(&b, alice, BEGIN_NS));
	assert_false(dwarf_blame_holds_back(&b, root, BEGIN_NS + DWARF_BLAME_NS));
}

/* Beyond that the oldest is forgotten. */
static void memory_is_bounded(void **state)
{
	struct dwarf_blame b = { 0 };

	(void)state;
	fail_times(&b, alice, DWARF_MAX_FAILURES_EACH, BEGIN_NS);
	for (uint64_t dev = 100; dev < 100 + DWARF_BLAME_ENTRIES - DWARF_MAX_FAILURES_EACH; dev++)
		dwarf_blame_add(&b, (struct dwarf_owner){ DWARF_OWNER_ROOT, dev }, BEGIN_NS);
	assert_true(dwarf_blame_holds_back(&b, alice, BEGIN_NS));
	fail_times(&b, container, 1, BEGIN_NS);
	assert_false(dwarf_blame_holds_back(&b, alice, BEGIN_NS));
}

static const struct unit_test tests[] = {
	TEST(a_user_is_one_wherever_his_files_are),
	TEST(who_fails_is_held_back_for_a_minute),
	TEST(others_are_not),
	TEST(all_users_do_not_take_the_turn_of_root),
	TEST(a_server_that_fails_holds_all_back),
	TEST(memory_is_bounded),
};

TEST_MAIN(tests)
