/* SPDX-License-Identifier: Apache-2.0 */
/* Values from the host's side: making, looking into, copying, writing; and numbers as text. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include "river-config/number.h"

static const struct river_value *sample(struct river_arena *a)
{
	const struct river_value *items[] = {
		river_value_int(a, -1),
		river_value_null(a),
		river_value_string(a, "x\"y\0z", 5),
	};
	const struct river_member members[] = {
		{ "zeta", river_value_array(a, items, 3) },
		{ "a b", river_value_bool(a, true) },
		{ "alpha", river_value_float(a, 0.5) },
		{ "zeta", river_value_array(a, items, 2) },
		{ "token", river_value_secret(a, "s3cret", 6) },
		{ "cap", river_value_capsule(a, "T", a) },
	};

	return river_value_object(a, members, ARRAY_LEN(members));
}

static void test_look_into(void **state)
{
	const struct river_value *v, *list;
	struct river_arena a;
	size_t len;

	(void)state;
	river_arena_init(&a, TEST_ARENA_BYTES);
	v = sample(&a);
	assert_int_equal(river_value_type(v), RIVER_TYPE_OBJECT);
	assert_int_equal(river_value_len(v), 5);
	assert_string_equal(river_value_key(v, 0), "a b");
	assert_string_equal(river_value_key(v, 4), "zeta");
	assert_null(river_value_key(v, 5));
	assert_true(river_value_get_bool(river_value_member(v, 0)));
	list = river_value_find(v, "zeta");
	assert_int_equal(river_value_len(list), 2); /* the later one */
	assert_int_equal(river_value_get_int(river_value_item(list, 0)), -1);
	assert_null(river_value_item(list, 2));
	assert_null(river_value_find(v, "nope"));
	assert_string_equal(river_value_get_string(river_value_find(v, "token"), &len), "");
	assert_int_equal(len, 0);
	assert_true(river_value_is_secret(river_value_find(v, "token")));
	assert_string_equal(river_value_get_secret_text(river_value_find(v, "token"), &len),
			    "s3cret");
	assert_int_equal(len, 6);
	assert_string_equal(river_value_get_secret_text(river_value_string(&a, "", 0), NULL), "");
	assert_null(river_value_get_secret_text(list, &len));
	assert_int_equal(len, 0);
	assert_null(river_value_get_secret_text(river_value_find(v, "cap"), NULL));
	assert_non_null(river_value_get_capsule(river_value_find(v, "cap"), "T"));
	assert_null(river_value_get_capsule(river_value_find(v, "cap"), "U"));
	assert_null(river_value_get_capsule(river_value_find(v, "token"), "T"));
	assert_string_equal(
		river_value_get_string(river_value_optional_secret(&a, "o", 1, false), &len), "o");
	assert_int_equal(river_value_get_int(river_value_float(&a, 1e300)), INT64_MAX);
	assert_int_equal(river_value_get_int(river_value_float(&a, -1e300)), INT64_MIN);
	assert_int_equal(river_value_get_int(river_value_uint(&a, UINT64_MAX)), INT64_MAX);
	assert_true(river_value_get_float(river_value_uint(&a, 3)) == 3.0);
	river_arena_fini(&a);
}

static void test_copy_outlives(void **state)
{
	struct output before = { .len = 0 }, after = { .len = 0 };
	const struct river_value *v, *copy;
	struct river_arena a, b;

	(void)state;
	river_arena_init(&a, TEST_ARENA_BYTES);
	river_arena_init(&b, TEST_ARENA_BYTES);
	v = sample(&a);
	copy = river_value_copy(&b, v);
	assert_true(river_value_equal(v, copy));
	assert_int_equal(river_value_write(v, RIVER_LAYOUT_LINE, &a, output_write, &before), 0);
	river_arena_fini(&a);
	assert_int_equal(river_value_write(copy, RIVER_LAYOUT_LINE, &b, output_write, &after), 0);
	assert_string_equal(before.data, after.data);
	assert_string_equal(
		after.data,
		"{\"a b\" = true, alpha = 0.5, cap = capsule(\"T\"), token = \"(secret)\", "
		"zeta = [-1, null]}");
	river_arena_fini(&b);
}

static void test_layouts(void **state)
{
	struct output out = { .len = 0 };
	struct river_arena a;
	struct river_member members[] = {
		{ "a", NULL }, { "bcd", NULL }, { "e", NULL }, { "fgh", NULL }
	};

	(void)state;
	river_arena_init(&a, TEST_ARENA_BYTES);
	members[0].value = river_value_int(&a, 1);
	members[1].value = river_value_object(&a, members, 1);
	members[2].value = river_value_string(&a, "\x01\xc3\xa4\xff\xe2\x80\xa8", 7);
	members[3].value = river_value_object(&a, NULL, 0);
	assert_int_equal(river_value_write(river_value_object(&a, members, 4), RIVER_LAYOUT_LINES,
					   &a, output_write, &out),
			 0);
	assert_string_equal(out.data, "{\n\ta   = 1,\n\tbcd = {\n\t\ta = 1,\n\t},\n\te   = "
				      "\"\\x01\xc3\xa4\\xff\\u2028\",\n"
				      "\tfgh = {},\n}");
	river_arena_fini(&a);
}

static void test_equal(void **state)
{
	struct river_arena a;
	int x, y;

	(void)state;
	river_arena_init(&a, TEST_ARENA_BYTES);
	assert_true(river_value_equal(river_value_int(&a, 5), river_value_float(&a, 5)));
	assert_true(river_value_equal(river_value_uint(&a, 5), river_value_int(&a, 5)));
	assert_false(river_value_equal(river_value_int(&a, 0), river_value_null(&a)));
	assert_true(river_value_equal(river_value_capsule(&a, "T", &x),
				      river_value_capsule(&a, "T", &x)));
	assert_false(river_value_equal(river_value_capsule(&a, "T", &x),
				       river_value_capsule(&a, "T", &y)));
	assert_false(river_value_equal(river_value_capsule(&a, "T", &x),
				       river_value_capsule(&a, "U", &x)));
	assert_false(
		river_value_equal(river_value_secret(&a, "a", 1), river_value_secret(&a, "b", 1)));
	assert_false(river_value_equal(river_value_optional_secret(&a, "a", 1, true),
				       river_value_optional_secret(&a, "a", 1, false)));
	assert_false(river_value_equal(river_value_string(&a, "a", 1),
				       river_value_string(&a, "a\0", 2)));
	river_arena_fini(&a);
}

struct duration_row {
	const char *name;
	int64_t expected_ns;
	enum river_duration_status status;
};

static const struct duration_row duration_rows[] = {
	{ "0", 0, RIVER_DURATION_OK },
	{ "-0", 0, RIVER_DURATION_OK },
	{ "5s", 5000000000, RIVER_DURATION_OK },
	{ "+5ms", 5000000, RIVER_DURATION_OK },
	{ "-1.5h", -5400000000000, RIVER_DURATION_OK },
	{ "1h2m3s4ms5us6ns", 3723004005006, RIVER_DURATION_OK },
	{ ".5s", 500000000, RIVER_DURATION_OK },
	{ "1.s", 1000000000, RIVER_DURATION_OK },
	{ "3\xc2\xb5s", 3000, RIVER_DURATION_OK },
	{ "9223372036854775807ns", INT64_MAX, RIVER_DURATION_OK },
	{ "-9223372036854775808ns", INT64_MIN, RIVER_DURATION_OK },
	{ "9223372036854775808ns", 0, RIVER_DURATION_INVALID },
	{ "2562048h", 0, RIVER_DURATION_INVALID },
	{ "99999999999999999999s", 0, RIVER_DURATION_INVALID },
	{ "", 0, RIVER_DURATION_INVALID },
	{ "-", 0, RIVER_DURATION_INVALID },
	{ ".s", 0, RIVER_DURATION_INVALID },
	{ "s", 0, RIVER_DURATION_INVALID },
	{ "5", 0, RIVER_DURATION_MISSING_UNIT },
	{ "1h5", 0, RIVER_DURATION_MISSING_UNIT },
	{ "5d", 0, RIVER_DURATION_UNKNOWN_UNIT },
	{ "5 s", 0, RIVER_DURATION_UNKNOWN_UNIT },
};

static void test_duration(void **state)
{
	const struct duration_row *row = *state;
	const char *unit;
	size_t unit_len;
	int64_t ns = 0;

	assert_int_equal(river_parse_duration(row->name, strlen(row->name), &ns, &unit, &unit_len),
			 row->status);
	if (row->status == RIVER_DURATION_OK)
		assert_true(ns == row->expected_ns);
}

static void test_numbers(void **state)
{
	double f;
	int64_t i;
	uint64_t u;

	(void)state;
	assert_true(river_parse_int("-9223372036854775808", 20, 10, &i) && i == INT64_MIN);
	assert_false(river_parse_int("9223372036854775808", 19, 10, &i));
	assert_true(river_parse_uint("18446744073709551615", 20, 10, &u) && u == UINT64_MAX);
	assert_false(river_parse_uint("18446744073709551616", 20, 10, &u));
	assert_false(river_parse_uint("", 0, 10, &u));
	assert_false(river_parse_uint("1x", 2, 10, &u));
	assert_true(river_parse_uint("0777", 4, 0, &u) && u == 511);
	assert_true(river_parse_float("1.5e3", 5, &f) && f == 1500);
	assert_false(river_parse_float("nan", 3, &f));
	assert_false(river_parse_float("0x1p3", 5, &f));
	assert_false(river_parse_float("1e", 2, &f));
	assert_false(river_parse_float(".", 1, &f));
	assert_false(river_parse_float("1e400", 5, &f));
}

/* Longer than any buffer: every digit is looked at, none overruns. */
static void test_long_numbers(void **state)
{
	char text[3000];
	double f;

	(void)state;
	memset(text, '3', sizeof(text));
	memcpy(text, "0.", 2);
	assert_true(river_parse_float(text, sizeof(text), &f) && f == 1.0 / 3);
	memset(text, '0', sizeof(text));
	memcpy(text + sizeof(text) - 6, "1e2990", 6);
	assert_true(river_parse_float(text, sizeof(text) - 2, &f) && f == 1e29);
	assert_false(river_parse_float(text, sizeof(text), &f));
	memset(text, '1', sizeof(text));
	assert_false(river_parse_float(text, sizeof(text), &f));
	assert_true(river_parse_float(text, 127, &f) && river_parse_float(text, 128, &f));
}

struct identifier_row {
	const char *text;
	bool expected;
};

static void test_identifiers(void **state)
{
	static const struct identifier_row names[] = {
		{ "a", true },
		{ "_", true },
		{ "a9_B", true },
		{ "\xc3\xa4\xd9\xa3", true },
		{ "nul", true },
		{ "nulll", true },
		{ "True", true },
		{ "if", true },
		{ "", false },
		{ "9a", false },
		{ "a-b", false },
		{ "a.b", false },
		{ "a ", false },
		{ "\xd9\xa3", false },
		{ "null", false },
		{ "true", false },
		{ "false", false },
		{ "a\xff", false },
		{ "\xe2\x82\xac", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(river_is_identifier(names[i].text, strlen(names[i].text)),
				 names[i].expected);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_duration, duration_rows, name),
	TEST(test_look_into),
	TEST(test_copy_outlives),
	TEST(test_layouts),
	TEST(test_equal),
	TEST(test_numbers),
	TEST(test_long_numbers),
	TEST(test_identifiers),
};

TEST_MAIN(tests)
