/* SPDX-License-Identifier: Apache-2.0 */
/* String views, numbers, UTF-8. */
#include <errno.h>
#include <string.h>

#include "agent/util/str.h"
#include "tests/support/unit.h"

#define S(lit)                         \
	{                              \
		(lit), sizeof(lit) - 1 \
	}

struct number_row {
	const char *name;
	struct str text;
	unsigned int base;
	uint64_t max;
	int expected;
	uint64_t value;
};

static const struct number_row number_rows[] = {
	{ "number_zero", S("0"), 10, UINT64_MAX, 0, 0 },
	{ "number_leading_zeros", S("000007"), 10, 10, 0, 7 },
	{ "number_decimal", S("1234567890"), 10, UINT64_MAX, 0, 1234567890 },
	{ "number_largest", S("18446744073709551615"), 10, UINT64_MAX, 0, UINT64_MAX },
	{ "number_too_large", S("18446744073709551616"), 10, UINT64_MAX, -ERANGE, 0 },
	{ "number_much_too_large", S("99999999999999999999999999"), 10, UINT64_MAX, -ERANGE, 0 },
	{ "number_at_max", S("255"), 10, 255, 0, 255 },
	{ "number_above_max", S("256"), 10, 255, -ERANGE, 0 },
	{ "number_max_smaller_than_a_digit", S("9"), 10, 8, -ERANGE, 0 },
	{ "number_max_zero", S("0"), 10, 0, 0, 0 },
	{ "number_max_zero_exceeded", S("1"), 10, 0, -ERANGE, 0 },
	{ "number_hex", S("dEadBeef"), 16, UINT64_MAX, 0, 0xdeadbeef },
	{ "number_hex_largest", S("ffffffffffffffff"), 16, UINT64_MAX, 0, UINT64_MAX },
	{ "number_hex_too_large", S("10000000000000000"), 16, UINT64_MAX, -ERANGE, 0 },
	{ "number_hex_prefix", S("0x10"), 16, UINT64_MAX, -EINVAL, 0 },
	{ "number_octal", S("755"), 8, UINT64_MAX, 0, 0755 },
	{ "number_not_octal", S("78"), 8, UINT64_MAX, -EINVAL, 0 },
	{ "number_empty", S(""), 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_null", { NULL, 0 }, 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_minus", S("-1"), 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_plus", S("+1"), 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_blank_before", S(" 1"), 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_blank_behind", S("1 "), 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_word", S("12x"), 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_hex_digit_in_decimal", S("1a"), 10, UINT64_MAX, -EINVAL, 0 },
	{ "number_nul_inside", S("1\0002"), 10, UINT64_MAX, -EINVAL, 0 },
};

static void test_number(void **state)
{
	const struct number_row *row = *state;
	uint64_t value = 4711;

	assert_int_equal(str_parse_u64(row->text, row->base, row->max, &value), row->expected);
	assert_int_equal(value, row->expected == 0 ? row->value : 4711);
}

static void test_scan_cuts_off(void **state)
{
	struct str s = S("12-ab");
	uint64_t value;

	(void)state;
	assert_int_equal(str_scan_u64(&s, 10, 100, &value), 0);
	assert_int_equal(value, 12);
	assert_true(str_eq(s, STR_LIT("-ab")));
	assert_int_equal(str_scan_u64(&s, 10, 100, &value), -EINVAL);
	assert_true(str_eq(s, STR_LIT("-ab")));
	s = STR_LIT("101x");
	assert_int_equal(str_scan_u64(&s, 10, 100, &value), -ERANGE);
	assert_true(str_eq(s, STR_LIT("101x")));
	assert_int_equal(value, 12);
}

struct split_row {
	const char *name;
	struct str text;
	const char *joined; /* the pieces, each in brackets */
};

static const struct split_row split_rows[] = {
	{ "split_two", S("a,b"), "[a][b]" },
	{ "split_one", S("abc"), "[abc]" },
	{ "split_last_is_empty", S("a,b,"), "[a][b][]" },
	{ "split_first_is_empty", S(",a"), "[][a]" },
	{ "split_separators_only", S(",,"), "[][][]" },
	{ "split_empty", S(""), "[]" },
	{ "split_null", { NULL, 0 }, "" },
};

static void test_split(void **state)
{
	const struct split_row *row = *state;
	struct str rest = row->text;
	struct str piece;
	char joined[64] = "";
	size_t at = 0;

	while (str_split(&rest, ',', &piece)) {
		joined[at++] = '[';
		memcpy(joined + at, piece.p, piece.n);
		at += piece.n;
		joined[at++] = ']';
	}
	assert_string_equal(joined, row->joined);
}

static void test_views(void **state)
{
	(void)state;
	assert_true(str_eq(str_trim(STR_LIT(" \t\r\na b\n ")), STR_LIT("a b")));
	assert_int_equal(str_trim(STR_LIT(" \n")).n, 0);
	assert_int_equal(str_trim(STR_LIT("")).n, 0);
	assert_true(str_eq(str_basename(STR_LIT("/usr/bin/env")), STR_LIT("env")));
	assert_true(str_eq(str_basename(STR_LIT("env")), STR_LIT("env")));
	assert_int_equal(str_basename(STR_LIT("/usr/bin/")).n, 0);
	assert_int_equal(str_basename(str_from(NULL)).n, 0);
	assert_true(str_starts_with(STR_LIT("abc"), STR_LIT("ab")));
	assert_true(str_starts_with(STR_LIT("abc"), STR_LIT("")));
	assert_false(str_starts_with(STR_LIT("ab"), STR_LIT("abc")));
	assert_true(str_ends_with(STR_LIT("abc"), STR_LIT("bc")));
	assert_true(str_ends_with(STR_LIT("abc"), STR_LIT("abc")));
	assert_false(str_ends_with(STR_LIT("c"), STR_LIT("bc")));
	assert_false(str_eq(STR_LIT("abc"), STR_LIT("abd")));
	assert_false(str_eq(STR_LIT("abc"), STR_LIT("ab")));
	assert_true(str_eq(str_from(NULL), STR_LIT("")));
}

struct utf8_row {
	const char *name;
	struct str text;
	size_t first; /* length of the first sequence, 0: invalid */
	const char *copy;
};

#define BAD "\xef\xbf\xbd"

static const struct utf8_row utf8_rows[] = {
	{ "utf8_ascii", S("abc"), 1, "abc" },
	{ "utf8_two_bytes", S("\xc3\xa4"), 2, "\xc3\xa4" },
	{ "utf8_three_bytes", S("\xe2\x82\xac"), 3, "\xe2\x82\xac" },
	{ "utf8_four_bytes", S("\xf0\x9f\x94\xa5"), 4, "\xf0\x9f\x94\xa5" },
	{ "utf8_last_code_point", S("\xf4\x8f\xbf\xbf"), 4, "\xf4\x8f\xbf\xbf" },
	{ "utf8_beyond_the_last", S("\xf4\x90\x80\x80"), 0, BAD BAD BAD BAD },
	{ "utf8_five_bytes", S("\xf8\x88\x80\x80\x80"), 0, BAD BAD BAD BAD BAD },
	{ "utf8_overlong_two", S("\xc0\xaf"), 0, BAD BAD },
	{ "utf8_overlong_c1", S("\xc1\xbf"), 0, BAD BAD },
	{ "utf8_overlong_three", S("\xe0\x9f\xbf"), 0, BAD BAD BAD },
	{ "utf8_smallest_three", S("\xe0\xa0\x80"), 3, "\xe0\xa0\x80" },
	{ "utf8_overlong_four", S("\xf0\x8f\xbf\xbf"), 0, BAD BAD BAD BAD },
	{ "utf8_smallest_four", S("\xf0\x90\x80\x80"), 4, "\xf0\x90\x80\x80" },
	{ "utf8_surrogate", S("\xed\xa0\x80"), 0, BAD BAD BAD },
	{ "utf8_before_surrogates", S("\xed\x9f\xbf"), 3, "\xed\x9f\xbf" },
	{ "utf8_stray_tail", S("\x80z"), 0, BAD "z" },
	{ "utf8_cut", S("\xe2\x82"), 0, BAD BAD },
	{ "utf8_cut_before_ascii", S("\xe2\x82z"), 0, BAD BAD "z" },
	{ "utf8_byte_ff", S("\xff"), 0, BAD },
	{ "utf8_empty", S(""), 0, "" },
	{ "utf8_nul", S("a\0z"), 1, "a?z" },
	{ "utf8_control", S("\x01\x1f\x7f\n"), 1, "????" },
	{ "utf8_control_of_c1", S("\xc2\x80 \xc2\x9b[2J\xc2\x9f\xc2\xa0"), 2, "? ?[2J?\xc2\xa0" },
};

static void test_utf8(void **state)
{
	const struct utf8_row *row = *state;
	bool valid = !strstr(row->copy, BAD);
	char copy[64];

	assert_int_equal(str_utf8_len(row->text), row->first);
	assert_int_equal(str_is_utf8(row->text), valid);
	str_copy_utf8(copy, sizeof(copy), row->text);
	assert_string_equal(copy, row->copy);
}

/* What does not fit as a whole sequence is left out. */
static void test_copy_that_does_not_fit(void **state)
{
	char copy[5] = "####";

	(void)state;
	str_copy_utf8(copy, 5, STR_LIT("abcdef"));
	assert_string_equal(copy, "abcd");
	str_copy_utf8(copy, 5, STR_LIT("abc\xc3\xa4"));
	assert_string_equal(copy, "abc");
	str_copy_utf8(copy, 5, STR_LIT("ab\xff"));
	assert_string_equal(copy, "ab");
	str_copy_utf8(copy, 1, STR_LIT("ab"));
	assert_string_equal(copy, "");
	copy[0] = '#';
	str_copy_utf8(copy, 0, STR_LIT("ab"));
	assert_int_equal(copy[0], '#');
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_number, number_rows, name),
	TEST_ROWS(test_split, split_rows, name),
	TEST_ROWS(test_utf8, utf8_rows, name),
	TEST(test_scan_cuts_off),
	TEST(test_views),
	TEST(test_copy_that_does_not_fit),
};

TEST_MAIN(tests)
