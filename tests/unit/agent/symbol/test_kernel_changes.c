/* SPDX-License-Identifier: Apache-2.0 */
/* What is laid over the index of the kernel's symbols. */
#include <errno.h>
#include <stdio.h>

#include "agent/symbol/kernel_changes.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define A 0xffffffffc0001000ULL
#define B 0xffffffffc0001080ULL

struct change {
	uint64_t time_ns, begin;
	uint32_t n_bytes;
	const char *name;
	bool is_gone;
};

struct row {
	const char *name;
	struct change first[4]; /* told in one interval, in this order */
	struct change then[4];	/* in the next one */
	uint64_t pc;
	const char *here; /* NULL: nobody */
	const char *gone;
	bool hides; /* what the index has at A */
};

static const struct row rows[] = {
	{ "nothing was told", { { 0 } }, { { 0 } }, A, NULL, NULL, false },
	{ "one came", { { 1, A, 100, "a", 0 } }, { { 0 } }, A, "a", NULL, true },
	{ "its last byte", { { 1, A, 100, "a", 0 } }, { { 0 } }, A + 99, "a", NULL, true },
	{ "behind it", { { 1, A, 100, "a", 0 } }, { { 0 } }, A + 100, NULL, NULL, true },
	{ "before it", { { 1, A, 100, "a", 0 } }, { { 0 } }, A - 1, NULL, NULL, true },
	{ "it came an interval ago", { { 0 } }, { { 1, A, 100, "a", 0 } }, A, "a", NULL, true },
	{ "one of the index went", { { 0 } }, { { 1, A, 100, "a", 1 } }, A, NULL, "a", true },
	{ "one came and went",
	  { { 0 } },
	  { { 1, A, 100, "a", 0 }, { 2, A, 100, "a", 1 } },
	  A,
	  NULL,
	  "a",
	  true },
	{ "it went an interval ago", { { 1, A, 100, "a", 1 } }, { { 0 } }, A, NULL, "a", true },
	{ "another came in its place",
	  { { 1, A, 100, "a", 0 } },
	  { { 2, A, 100, "a", 1 }, { 3, A, 50, "b", 0 } },
	  A + 10,
	  "b",
	  "a",
	  true },
	{ "behind the shorter one",
	  { { 1, A, 100, "a", 0 } },
	  { { 2, A, 100, "a", 1 }, { 3, A, 50, "b", 0 } },
	  A + 60,
	  NULL,
	  "a",
	  true },
	{ "another came and nobody told that the first went",
	  { { 1, A, 200, "a", 0 } },
	  { { 3, B, 100, "b", 0 } },
	  A,
	  NULL,
	  NULL,
	  false },
	{ "that one is there",
	  { { 1, A, 200, "a", 0 } },
	  { { 3, B, 100, "b", 0 } },
	  B,
	  "b",
	  NULL,
	  false },
	{ "neighbours are left alone",
	  { { 1, A, 128, "a", 0 }, { 1, B + 16, 100, "c", 0 } },
	  { { 3, B, 16, "b", 0 } },
	  A + 127,
	  "a",
	  NULL,
	  true },
	{ "came is told after went, which was later",
	  { { 0 } },
	  { { 2, A, 100, "a", 1 }, { 1, A, 100, "a", 0 } },
	  A,
	  NULL,
	  "a",
	  true },
	{ "the same over two intervals",
	  { { 2, A, 100, "a", 1 } },
	  { { 1, A, 100, "a", 0 } },
	  A,
	  NULL,
	  "a",
	  true },
	{ "went is told after the next has come",
	  { { 1, A, 100, "a", 0 }, { 3, A, 90, "b", 0 } },
	  { { 2, A, 100, "a", 1 } },
	  A,
	  "b",
	  NULL,
	  true },
	{ "an older one over a newer one",
	  { { 3, A, 100, "b", 0 } },
	  { { 2, A + 50, 100, "a", 0 } },
	  A + 60,
	  "b",
	  NULL,
	  true },
	{ "one without a length", { { 1, A, 0, "a", 0 } }, { { 0 } }, A, NULL, NULL, false },
};

static int apply(struct kernel_changes *changes, const struct change *list, size_t n)
{
	struct kernel_text text;

	kernel_text_init(&text);
	for (size_t i = 0; i < n && list[i].name; i++)
		kernel_text_add(&text,
				&(struct kernel_text_change){ .time_ns = list[i].time_ns,
							      .begin = list[i].begin,
							      .n_bytes = list[i].n_bytes,
							      .is_gone = list[i].is_gone },
				list[i].name);
	int r = kernel_changes_apply(changes, &text);
	kernel_text_fini(&text);
	return r;
}

static bool always(uint64_t begin, void *data)
{
	(void)begin;
	(void)data;
	return true;
}

static bool never(uint64_t begin, void *data)
{
	(void)begin;
	(void)data;
	return false;
}

static void assert_code(const struct kernel_code *code, const char *name)
{
	assert_int_equal(code != NULL, name != NULL);
	if (code)
		assert_string_equal(code->name, name);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct kernel_changes changes;

	kernel_changes_init(&changes);
	assert_int_equal(apply(&changes, row->first, ARRAY_SIZE(row->first)), 0);
	kernel_changes_end(&changes, never, NULL);
	assert_int_equal(apply(&changes, row->then, ARRAY_SIZE(row->then)), 0);
	assert_code(kernel_changes_find(&changes, row->pc), row->here);
	assert_code(kernel_changes_find_gone(&changes, row->pc), row->gone);
	assert_int_equal(kernel_changes_hide(&changes, A), row->hides);
	kernel_changes_fini(&changes);
	assert_int_equal(kernel_changes_bytes(&changes), 0);
}

/* Where the index still has what went, it stays hidden. */
static void what_went_is_forgotten(void **state)
{
	const struct change went = { 1, A, 100, "a", true };
	struct kernel_changes changes;

	(void)state;
	kernel_changes_init(&changes);
	assert_int_equal(apply(&changes, &went, 1), 0);
	kernel_changes_end(&changes, always, NULL);
	assert_code(kernel_changes_find_gone(&changes, A), "a");
	kernel_changes_end(&changes, always, NULL);
	assert_code(kernel_changes_find_gone(&changes, A), NULL);
	for (int i = 0; i < 10; i++)
		kernel_changes_end(&changes, always, NULL);
	assert_true(kernel_changes_hide(&changes, A));
	kernel_changes_end(&changes, never, NULL);
	assert_false(kernel_changes_hide(&changes, A));
	kernel_changes_fini(&changes);
}

/* In the place of those that went long ago, and are hidden still, one has come and gone that was longer. */
static void what_went_long_ago_hides_no_name(void **state)
{
	const struct change wide = { 2, A, 100, "wide", true };
	struct kernel_changes changes;

	(void)state;
	kernel_changes_init(&changes);
	for (uint64_t i = 1; i <= 20; i++)
		assert_int_equal(apply(&changes, &(struct change){ 1, A + i, 1, "old", true }, 1),
				 0);
	kernel_changes_end(&changes, always, NULL);
	kernel_changes_end(&changes, always, NULL);
	assert_int_equal(apply(&changes, &wide, 1), 0);
	assert_code(kernel_changes_find_gone(&changes, A), "wide");
	assert_code(kernel_changes_find_gone(&changes, A + 1), "wide");
	assert_code(kernel_changes_find_gone(&changes, A + 15), "wide");
	/* No more than a few are passed. */
	assert_code(kernel_changes_find_gone(&changes, A + 16), NULL);
	assert_code(kernel_changes_find_gone(&changes, A - 1), NULL);
	kernel_changes_fini(&changes);
}

/* However many come and go, only those that are there take memory. */
static void coming_and_going_takes_no_memory(void **state)
{
	struct kernel_changes changes;

	(void)state;
	kernel_changes_init(&changes);
	for (uint64_t i = 0; i < 3 * KERNEL_CHANGES_MAX; i++) {
		const struct change both[] = { { 2 * i + 1, A + i * 64, 32, "a", false },
					       { 2 * i + 2, A + i * 64, 32, "a", true } };

		assert_int_equal(apply(&changes, both, 2), 0);
		kernel_changes_end(&changes, never, NULL);
		assert_in_range(changes.gone.n, 0, 1);
		assert_int_equal(changes.here.n, 0);
	}
	kernel_changes_fini(&changes);
}

static void too_many_are_an_error(void **state)
{
	struct kernel_changes changes;

	(void)state;
	kernel_changes_init(&changes);
	for (uint64_t i = 0; i < KERNEL_CHANGES_MAX; i++)
		assert_int_equal(
			apply(&changes, &(struct change){ 1, A + i * 64, 32, "a", false }, 1), 0);
	assert_int_equal(apply(&changes, &(struct change){ 1, A - 64, 32, "b", false }, 1),
			 -ENOBUFS);
	assert_code(kernel_changes_find(&changes, A), "a");
	kernel_changes_fini(&changes);
}

/* There is no room for what comes, but there is for what goes. */
static void what_goes_needs_no_room(void **state)
{
	const struct change list[] = { { 2, A - 64, 32, "b", false }, { 2, A, 32, "a", true } };
	struct kernel_changes changes;

	(void)state;
	kernel_changes_init(&changes);
	for (uint64_t i = 0; i < KERNEL_CHANGES_MAX; i++)
		assert_int_equal(
			apply(&changes, &(struct change){ 1, A + i * 64, 32, "a", false }, 1), 0);
	assert_int_equal(apply(&changes, list, ARRAY_SIZE(list)), -ENOBUFS);
	assert_code(kernel_changes_find(&changes, A), NULL);
	assert_code(kernel_changes_find_gone(&changes, A), "a");
	kernel_changes_fini(&changes);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(what_went_is_forgotten),
	TEST(what_went_long_ago_hides_no_name),
	TEST(coming_and_going_takes_no_memory),
	TEST(too_many_are_an_error),
	TEST(what_goes_needs_no_room),
};

TEST_MAIN(tests)
