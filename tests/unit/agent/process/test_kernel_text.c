/* SPDX-License-Identifier: Apache-2.0 */
/* What has come and gone in the kernel, gathered. */
#include <string.h>

#include "agent/process/kernel_text.h"
#include "tests/support/unit.h"

static void add(struct kernel_text *text, uint64_t time_ns, uint64_t begin, const char *name)
{
	kernel_text_add(
		text,
		&(struct kernel_text_change){ .time_ns = time_ns, .begin = begin, .n_bytes = 10 },
		name);
}

/* Rings are read one after the other. */
static void they_are_taken_in_order_of_time(void **state)
{
	static const char *const expected[] = { "first", "second", "third", "fourth" };
	struct kernel_text text, taken;

	(void)state;
	kernel_text_init(&text);
	add(&text, 10, 1, "first");
	add(&text, 30, 1, "third");
	add(&text, 20, 2, "second");
	add(&text, 30, 2, "fourth");
	kernel_text_take(&text, &taken);
	assert_int_equal(text.n, 0);
	assert_int_equal(taken.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(kernel_text_name(&taken, &taken.items[i]), expected[i]);
	assert_false(taken.is_incomplete);
	kernel_text_fini(&taken);
	add(&text, 40, 1, "later");
	kernel_text_take(&text, &taken);
	assert_int_equal(taken.n, 1);
	kernel_text_fini(&taken);
}

static void names_are_as_in_kallsyms(void **state)
{
	char longest[2 * KERNEL_TEXT_NAME_MAX] = { 0 };
	struct kernel_text text;

	(void)state;
	kernel_text_init(&text);
	add(&text, 1, 1, "bpf prog\n\xff");
	memset(longest, 'x', sizeof(longest) - 1);
	add(&text, 2, 2, longest);
	assert_string_equal(kernel_text_name(&text, &text.items[0]), "bpf?prog??");
	assert_int_equal(strlen(kernel_text_name(&text, &text.items[1])), KERNEL_TEXT_NAME_MAX - 1);
	kernel_text_fini(&text);
}

static void too_many_are_told_as_incomplete(void **state)
{
	struct kernel_text text, taken;

	(void)state;
	kernel_text_init(&text);
	for (int i = 0; i < KERNEL_TEXT_MAX_CHANGES; i++)
		add(&text, 1, 1, "x");
	assert_false(text.is_incomplete);
	add(&text, 1, 1, "x");
	assert_true(text.is_incomplete);
	kernel_text_take(&text, &taken);
	assert_true(taken.is_incomplete);
	assert_false(text.is_incomplete);
	kernel_text_fini(&taken);
}

static void too_long_names_are_told_as_incomplete(void **state)
{
	char longest[KERNEL_TEXT_NAME_MAX] = { 0 };
	struct kernel_text text;

	(void)state;
	kernel_text_init(&text);
	memset(longest, 'x', sizeof(longest) - 1);
	while (!text.is_incomplete)
		add(&text, 1, 1, longest);
	assert_in_range(text.names.len, KERNEL_TEXT_MAX_NAMES_BYTES - KERNEL_TEXT_NAME_MAX,
			KERNEL_TEXT_MAX_NAMES_BYTES);
	assert_in_range(text.n, 1, KERNEL_TEXT_MAX_CHANGES - 1);
	kernel_text_fini(&text);
}

static const struct unit_test tests[] = {
	TEST(they_are_taken_in_order_of_time),
	TEST(names_are_as_in_kallsyms),
	TEST(too_many_are_told_as_incomplete),
	TEST(too_long_names_are_told_as_incomplete),
};

TEST_MAIN(tests)
