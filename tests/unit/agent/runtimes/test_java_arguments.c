/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of methods, those of processes that lie among them, with every room that there can be. */
#include <string.h>

#include "agent/runtimes/java_arguments.h"
#include "tests/support/unit.h"

static const struct row {
	const char *name, *descriptor, *expected;
} rows[] = {
	{ "none", "()V", "()" },
	{ "one", "(I)V", "(int)" },
	{ "all_primitives", "(BCDFIJSZ)J",
	  "(byte, char, double, float, int, long, short, boolean): long" },
	{ "classes", "(Ljava/lang/String;LT;J)V", "(String, T, long)" },
	{ "inner_class", "(Ljava/util/Map$Entry;)V", "(Map$Entry)" },
	{ "arrays", "([I[[Ljava/lang/Object;)[J", "(int[], Object[][]): long[]" },
	{ "returns_a_class", "()Ljava/util/Map$Entry;", "(): Map$Entry" },
	{ "returns_nothing_known", "(I)Q", "(int)" },
	{ "returns_a_class_without_an_end", "(I)Ljava/lang/Str", "(int)" },
	{ "returns_an_array_of_nothing", "(I)[[", "(int)" },
	{ "returns_nothing", "(I)", "(int)" },
	{ "hidden_class", "(La/B$$Lambda$14+0x0000000800066840;)V", "(B$$Lambda)" },
	{ "hidden_class_of_11", "(La/B$$Lambda$14/0x0000000800066840;)V", "(B$$Lambda)" },
	{ "beyond_ascii",
	  "(La/Gr\xc3\xb6\xc3\x9f"
	  "e;)V",
	  "(Größe)" },
	{ "parentheses_in_a_class", "(La/B(C);I)V", "(B(C), int)" },
	{ "empty", "", "(…)" },
	{ "no_parenthesis", "IJ", "(…)" },
	{ "no_end", "(IJ", "(int, long…)" },
	{ "void_argument", "(IV)V", "(int, …)" },
	{ "unknown_type", "(Q)V", "(…)" },
	{ "class_without_an_end", "(ILjava/lang/Str", "(int, …)" },
	{ "array_of_nothing", "([[[", "(…)" },
	{ "parenthesis_alone", "(", "(…)" },
	{ "class_without_a_name", "(L;I)V", "(, int)" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	size_t n = strlen(row->expected);
	char to[128];

	assert_int_equal(
		java_arguments(row->descriptor, strlen(row->descriptor), to, 0, sizeof(to)), n);
	assert_memory_equal(to, row->expected, n);
}

/* Behind what is there, and never behind the room. */
static void test_no_room(void **state)
{
	const struct row *row = *state;
	char to[128];

	for (size_t n_to = 2; n_to < sizeof(to); n_to++) {
		memset(to, '.', sizeof(to));
		size_t end = java_arguments(row->descriptor, strlen(row->descriptor), to, 2, n_to);

		assert_in_range(end, 2, n_to);
		for (size_t i = 0; i < sizeof(to); i++)
			if (i < 2 || i >= end)
				assert_int_equal(to[i], '.');
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST_ROWS(test_no_room, rows, name),
};

TEST_MAIN(tests)
