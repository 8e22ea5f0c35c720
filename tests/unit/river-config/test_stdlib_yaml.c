/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.from_yaml: types, anchors, merges, mistakes. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/stdlib_test.h"

#include <stdio.h>

/* Texts have line breaks, so rows are named by their line. */
#define NAME_OF(line) "line " #line
#define NAME(line) NAME_OF(line)
#define Y(text, expected)                                                  \
	{                                                                  \
		NAME(__LINE__), "encoding.from_yaml(`" text "`)", expected \
	}
#define YBAD(text, expected)                                           \
	{                                                              \
		NAME(__LINE__), "encoding.from_yaml(`" text "`)",      \
			"1:1: encoding.from_yaml yaml: " expected "\n" \
	}
#define OTHER_MAP "capsule(\"map[interface {}]interface {}\")"

static const struct row rows[] = {
	Y("foo: bar", "{foo = \"bar\"}"),
	Y("[0, 1, 2]", "[0, 1, 2]"),
	Y("[0.0, 1.0, 2.5]", "[0, 1, 2.5]"),
	Y("a: [x, y]\nb:\n  - 1\n  - c: d\n", "{a = [\"x\", \"y\"], b = [1, {c = \"d\"}]}"),
	Y("15", "15"),
	Y("", "null"),
	Y("# nothing", "null"),
	Y("a:\nb: ~", "{a = null, b = null}"),
	OK("yaml_decode(\"foo: bar\")", "{foo = \"bar\"}"),
	OK("yaml_decode(plain)", "\"open\""),
	OK("encoding.from_yaml(5)", "5"),
	/* scalars */
	Y("[yes, no, on, off, y, n]", "[\"yes\", \"no\", \"on\", \"off\", \"y\", \"n\"]"),
	Y("[true, True, TRUE, false, False, FALSE, tRUE]",
	  "[true, true, true, false, false, false, \"tRUE\"]"),
	Y("[~, null, Null, NULL, nUll, '']", "[null, null, null, null, \"nUll\", \"\"]"),
	Y("[0x1F, 0X1f, -0x10, 0o17, 017, 0b101, -0b11, 1_000, +12, -5, 0]",
	  "[31, 31, -16, 15, 15, 5, -3, 1000, 12, -5, 0]"),
	Y("[08, 0o8, 0x, 0xg, 1__0, _1, 1_, '5', 5a]",
	  "[8, \"0o8\", \"0x\", \"0xg\", 10, \"_1\", 1, \"5\", \"5a\"]"),
	Y("[1.5, 1., .5, 1e3, 1E-3, -.5, +1.5e+1, 1.2.3]",
	  "[1.5, 1, 0.5, 1000, 0.001, -0.5, 15, \"1.2.3\"]"),
	Y("[.inf, -.INF, +.Inf, .nan, .iNf]", "[+Inf, -Inf, +Inf, NaN, \".iNf\"]"),
	Y("[9223372036854775807, 9223372036854775808, 18446744073709551615, 18446744073709551616]",
	  "[9223372036854775807, 9223372036854775808, 18446744073709551615, 18446744073709552000]"),
	Y("[1:30, 12:30:45, 1e400, '1']", "[\"1:30\", \"12:30:45\", \"1e400\", \"1\"]"),
	Y("\"a\\u00e4\\n\\x41\\0\"", "\"a\xc3\xa4\\nA\\x00\""),
	Y("'it''s'", "\"it's\""),
	Y("|\n  a\n   b\n", "\"a\\n b\\n\""),
	Y(">-\n  a\n  b\n", "\"a b\""),
	/* dates become what Go prints for them */
	Y("2020-01-02", "\"2020-01-02T00:00:00Z\""),
	Y("2020-1-2", "\"2020-01-02T00:00:00Z\""),
	Y("2020-01-02T03:04:05.120+02:30", "\"2020-01-02T03:04:05.12+02:30\""),
	Y("2020-1-2t3:4:5-01:00", "\"2020-01-02T03:04:05-01:00\""),
	Y("2020-01-02 03:04:05.5", "\"2020-01-02T03:04:05.5Z\""),
	Y("2020-01-02T03:04:05+00:00", "\"2020-01-02T03:04:05Z\""),
	Y("2020-01-02T03:04:05.1234567891Z", "\"2020-01-02T03:04:05.123456789Z\""),
	Y("2020-02-29", "\"2020-02-29T00:00:00Z\""),
	Y("2021-02-29", "\"2021-02-29\""),
	Y("1900-02-29", "\"1900-02-29\""),
	Y("2020-13-01", "\"2020-13-01\""),
	Y("2020-01-02T24:00:00Z", "\"2020-01-02T24:00:00Z\""),
	Y("2020-01-02T03:04:05", "\"2020-01-02T03:04:05\""),
	Y("'2020-01-02'", "\"2020-01-02\""),
	/* tags */
	Y("!!str 5", "\"5\""),
	Y("!!int '5'", "5"),
	Y("!!float 3", "3"),
	Y("!!null ''", "null"),
	Y("!!binary aGk=", "\"hi\""),
	Y("!own 5", "\"5\""),
	Y("!!set {a, b}", "{a = null, b = null}"),
	YBAD("!!int abc", "cannot decode !!str `abc` as a !!int"),
	/* anchors, merges */
	Y("a: &x [1]\nb: *x\n", "{a = [1], b = [1]}"),
	Y("- &a 1\n- &a 2\n- *a\n", "[1, 2, 2]"),
	Y("a: &x {k: v, z: 1}\nb:\n  <<: *x\n  z: 2\n",
	  "{a = {k = \"v\", z = 1}, b = {k = \"v\", z = 2}}"),
	Y("a: &x {k: v}\nc: &y {k: w, q: r}\nb:\n  <<: [*x, *y]\n",
	  "{a = {k = \"v\"}, b = {k = \"v\", q = \"r\"}, c = {k = \"w\", q = \"r\"}}"),
	Y("z: 1\n<<: {z: 2, <<: {z: 3, y: 4}}\n", "{y = 4, z = 1}"),
	Y("\"<<\": {a: 1}", "{\"<<\" = {a = 1}}"),
	YBAD("<<: 5", "map merge requires map or sequence of maps as the value"),
	YBAD("a: *u", "line 1: unknown anchor 'u' referenced"),
	YBAD("&a [*a]", "anchor 'a' value contains itself"),
	YBAD("&a\n<<: *a", "anchor 'a' value contains itself"),
	/* maps */
	Y("1: a", OTHER_MAP),
	Y("{a: 1, true: 2}", OTHER_MAP),
	Y("x: {1: a}", "{x = " OTHER_MAP "}"),
	Y("'1': a", "{\"1\" = \"a\"}"),
	Y("a b: 1\n'': 2\n", "{\"\" = 2, \"a b\" = 1}"),
	YBAD("{[1, a]: b}", "invalid map key: [1, \"a\"]"),
	YBAD("{{a: 1}: b}", "invalid map key: {a = 1}"),
	YBAD("a: 1\nb: 2\na: 3\n",
	     "unmarshal errors:\n  line 3: mapping key \"a\" already defined at line 1"),
	YBAD("x:\n  a: 1\n  a: 2\n  \"a\": 3\n", "unmarshal errors:\n  line 3: mapping key \"a\" "
						 "already defined at line 2\n  line 4: mapping "
						 "key \"a\" already defined at line 2\n  line 4: "
						 "mapping key \"a\" already defined at line 3"),
	/* documents */
	Y("--- a\n--- b\n", "\"a\""),
	Y("---\n...\n", "null"),
	Y("%YAML 1.1\n---\na: 1\n", "{a = 1}"),
	/* what does not parse */
	YBAD("a: b: c", "line 1: mapping values are not allowed in this context"),
	YBAD("a: 1\nb: c: d", "line 2: mapping values are not allowed in this context"),
	YBAD("[1, 2", "line 2: did not find expected ',' or ']'"),
	YBAD("- a\nb: c", "line 2: did not find expected '-' indicator"),
	YBAD("a:\n\t- b", "line 2: found character that cannot start any token"),
	YBAD("'abc", "line 1: found unexpected end of stream"),
	YBAD("@x", "line 1: found character that cannot start any token"),
	BAD("encoding.from_yaml(\"\\xff\")",
	    "1:1: encoding.from_yaml yaml: line 1: invalid leading UTF-8 octet"),
	BAD("encoding.from_yaml(\"a\\x01\")",
	    "1:1: encoding.from_yaml yaml: line 1: control characters are not allowed"),
	BAD("encoding.from_yaml(secret)", "1:20: secret should be string, got capsule"),
	BAD("yaml_decode([])", "1:13: [] should be string, got array"),
};

static void expect(const char *yaml, size_t arena_bytes, const char *expected)
{
	size_t size = strlen(yaml) + 32;
	struct output *out = malloc(sizeof(*out));
	char *text = malloc(size);

	assert_non_null(out);
	assert_non_null(text);
	assert_true(snprintf(text, size, "encoding.from_yaml(`%s`)", yaml) < (int)size);
	stdlib_eval(text, arena_bytes, RIVER_STABILITY_GENERALLY_AVAILABLE, out);
	assert_string_equal(out->data, expected);
	free(text);
	free(out);
}

/* Lists of nine aliases of the list before: nine to the power of ten is not reached. */
static void test_laughs(void **state)
{
	char yaml[4096] = "a0: &a0 [x, x]\n", line[128];

	(void)state;
	for (int i = 1; i < 12; i++) {
		(void)snprintf(line, sizeof(line),
			       "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
			       i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
		(void)strncat(yaml, line, sizeof(yaml) - strlen(yaml) - 1);
	}
	expect(yaml, (size_t)256 << 20,
	       "1:1: encoding.from_yaml yaml: document contains excessive aliasing\n");
}

static void test_merged_laughs(void **state)
{
	char yaml[4096] = "a0: &a0 {x: y}\n", line[128];

	(void)state;
	for (int i = 1; i < 12; i++) {
		(void)snprintf(line, sizeof(line),
			       "a%d: &a%d {<<: [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]}\n", i, i,
			       i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
		(void)strncat(yaml, line, sizeof(yaml) - strlen(yaml) - 1);
	}
	expect(yaml, (size_t)256 << 20,
	       "1:1: encoding.from_yaml yaml: document contains excessive aliasing\n");
}

static void test_depth(void **state)
{
	static char yaml[200001], chain[65536];
	size_t len = 0;

	(void)state;
	memset(yaml, '[', sizeof(yaml) - 1);
	expect(yaml, TEST_ARENA_BYTES,
	       "1:1: encoding.from_yaml yaml: line 1: exceeded max depth of 512\n");
	/* Each alias is one list deeper than the one before; what is no alias keeps their share small. */
	for (int i = 0; i < 4000; i++)
		len = (size_t)(stpcpy(chain + len, "- x\n") - chain);
	len += (size_t)snprintf(chain + len, sizeof(chain) - len, "- &a0 []\n");
	for (int i = 1; i < 600; i++)
		len += (size_t)snprintf(chain + len, sizeof(chain) - len, "- &a%d [*a%d]\n", i,
					i - 1);
	expect(chain, (size_t)256 << 20,
	       "1:1: encoding.from_yaml yaml: exceeded max depth of 512\n");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_stdlib_row, rows, name),
	TEST(test_laughs),
	TEST(test_merged_laughs),
	TEST(test_depth),
};

TEST_MAIN(tests)
