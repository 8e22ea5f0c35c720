/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: what is valid, what is repaired, where it may be cut. */
#include <string.h>

#include "pprof/utf8.h"
#include "tests/support/unit.h"

#define FFFD "\xEF\xBF\xBD"

struct row {
	const char *name;
	const char *input;
	const char *repaired;
};

static void test_repair(void **state)
{
	const struct row *row = *state;
	size_t n = strlen(row->input);
	char out[256];
	size_t n_out = pprof_utf8_repair(row->input, n, out);

	assert_int_equal(n_out, strlen(row->repaired));
	assert_memory_equal(out, row->repaired, n_out);
	assert_int_equal(pprof_utf8_valid(row->input, n), strcmp(row->input, row->repaired) == 0);
	assert_true(pprof_utf8_valid(out, n_out));
}

static struct row rows[] = {
	{ "empty", "", "" },
	{ "ascii", "main", "main" },
	{ "control characters", "\x01\x7F", "\x01\x7F" },
	{ "two bytes, first", "\xC2\x80", "\xC2\x80" },
	{ "two bytes, last", "\xDF\xBF", "\xDF\xBF" },
	{ "three bytes, first", "\xE0\xA0\x80", "\xE0\xA0\x80" },
	{ "before the surrogates", "\xED\x9F\xBF", "\xED\x9F\xBF" },
	{ "after the surrogates", "\xEE\x80\x80", "\xEE\x80\x80" },
	{ "three bytes, last", "\xEF\xBF\xBF", "\xEF\xBF\xBF" },
	{ "four bytes, first", "\xF0\x90\x80\x80", "\xF0\x90\x80\x80" },
	{ "last code point", "\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF" },
	{ "lone continuation", "a\x80z", "a" FFFD "z" },
	{ "byte that never occurs", "\xC0\xC1\xF5\xFF", FFFD FFFD FFFD FFFD },
	{ "overlong slash", "\xC0\xAF", FFFD FFFD },
	{ "overlong in three", "\xE0\x9F\xBF", FFFD FFFD FFFD },
	{ "overlong in four", "\xF0\x8F\xBF\xBF", FFFD FFFD FFFD FFFD },
	{ "surrogate", "\xED\xA0\x80", FFFD FFFD FFFD },
	{ "past the last code point", "\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD },
	{ "cut in two", "\xC3", FFFD },
	{ "cut in three", "\xE2\x82", FFFD FFFD },
	{ "cut in four", "\xF0\x9F\x98", FFFD FFFD FFFD },
	{ "cut, then text", "\xE2\x82(", FFFD FFFD "(" },
	{ "latin-1", "gr\xFC\xDF", "gr" FFFD FFFD },
	{ "valid around", "\xC3\xBC\xFF\xC3\xBC", "\xC3\xBC" FFFD "\xC3\xBC" },
};

static void test_tail(void **state)
{
	(void)state;
	assert_int_equal(pprof_utf8_tail("abcdef", 6, 6), 0);
	assert_int_equal(pprof_utf8_tail("abcdef", 6, 4), 2);
	assert_int_equal(pprof_utf8_tail("a\xC3\xBCz", 4, 2), 3);
	assert_int_equal(pprof_utf8_tail("a\xC3\xBCz", 4, 3), 1);
	assert_int_equal(pprof_utf8_tail("\xF0\x9F\x98\x80z", 5, 4), 4);
	/* Garbage is not skipped without end. */
	assert_int_equal(pprof_utf8_tail("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 7), 4);
	assert_int_equal(pprof_utf8_tail("\x80\x80", 2, 1), 2);
}

static const struct unit_test tests[] = {
	TEST(test_tail),
	TEST_ROWS(test_repair, rows, name),
};

TEST_MAIN(tests)
