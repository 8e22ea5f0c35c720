/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.*: JSON, base64, URLs. YAML has a file of its own. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/stdlib_test.h"

/* The text of the row between back-ticks, so that it needs no escapes. */
#define J(text, expected) OK("encoding.from_json(`" text "`)", expected)
#define JBAD(text, expected) \
	BAD("encoding.from_json(`" text "`)", "1:1: encoding.from_json " expected)
#define QBAD(text, expected) \
	BAD("encoding.from_json(\"" text "\")", "1:1: encoding.from_json " expected)
#define B64BAD(text, at)                          \
	BAD("encoding.from_base64(\"" text "\")", \
	    "1:1: encoding.from_base64 illegal base64 data at input byte " at)

static const struct row rows[] = {
	/* from_json */
	J("{\"foo\": \"bar\"}", "{foo = \"bar\"}"),
	J("[0, 1, 2]", "[0, 1, 2]"),
	J(" 15 ", "15"),
	J("null", "null"),
	J("[0, null, true, false]", "[0, null, true, false]"),
	J("-0", "-0"),
	J("1.5e3", "1500"),
	J("-1.25E-2", "-0.0125"),
	J("1e-999", "0"),
	J("12345678901234567890", "12345678901234567000"),
	J("{}", "{}"),
	J("[]", "[]"),
	J("[[[]], {\"a\": {}}]", "[[[]], {a = {}}]"),
	J("{\"b\": 1, \"a\": 2, \"b\": 3}", "{a = 2, b = 3}"),
	J("{\"\": 1, \"a b\": 2}", "{\"\" = 1, \"a b\" = 2}"),
	J("\"\\u00e4\\n\\/\\\"\\\\\\b\\f\\r\\t\"", "\"\xc3\xa4\\n/\\\"\\\\\\b\\f\\r\\t\""),
	J("\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""),
	J("\"\\ud83d\"", "\"\xef\xbf\xbd\""),
	J("\"\\udc00\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\""),
	J("\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd"
				"A\""),
	J("\"\\u0000x\"", "\"\\x00x\""),
	OK("encoding.from_json(\"\\\"\\xff\\\"\")", "\"\xef\xbf\xbd\""),
	OK("encoding.from_json(\"\\t\\r\\n1\\n\")", "1"),
	OK("json_decode(\"[1]\")[0] / 2", "0.5"),
	OK("encoding.from_json(\"5\") == 5", "true"),
	OK("encoding.from_json(plain_json).a", "1"),
	OK("encoding.from_json(12)", "12"),
	JBAD("", "unexpected end of JSON input"),
	BAD("encoding.from_json(null)", "1:1: encoding.from_json unexpected end of JSON input"),
	JBAD("{", "unexpected end of JSON input"),
	JBAD("[1,", "unexpected end of JSON input"),
	JBAD("\"abc", "unexpected end of JSON input"),
	JBAD("{\"a\"", "unexpected end of JSON input"),
	JBAD("foo", "invalid character 'o' in literal false (expecting 'a')"),
	JBAD("tru", "invalid character ' ' in literal true (expecting 'e')"),
	JBAD("nulx", "invalid character 'x' in literal null (expecting 'l')"),
	JBAD("bar", "invalid character 'b' looking for beginning of value"),
	JBAD("'a'", "invalid character '\\'' looking for beginning of value"),
	JBAD("[1,]", "invalid character ']' looking for beginning of value"),
	JBAD("[1 2]", "invalid character '2' after array element"),
	JBAD("[\"a\" \"b\"]", "invalid character '\"' after array element"),
	JBAD("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
	JBAD("{\"a\": 1,}", "invalid character '}' looking for beginning of object key string"),
	JBAD("{\"a\" 1}", "invalid character '1' after object key"),
	JBAD("{\"a\": 1 2}", "invalid character '2' after object key:value pair"),
	JBAD("1 2", "invalid character '2' after top-level value"),
	JBAD("[]]", "invalid character ']' after top-level value"),
	JBAD("-", "invalid character ' ' in numeric literal"),
	JBAD("-a", "invalid character 'a' in numeric literal"),
	JBAD("01", "invalid character '1' after top-level value"),
	JBAD("1.", "invalid character ' ' after decimal point in numeric literal"),
	JBAD("1.x", "invalid character 'x' after decimal point in numeric literal"),
	JBAD("1e", "invalid character ' ' in exponent of numeric literal"),
	JBAD("+1", "invalid character '+' looking for beginning of value"),
	JBAD("\"\\q\"", "invalid character 'q' in string escape code"),
	JBAD("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
	JBAD("1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
	JBAD("[0, -1e999]", "json: cannot unmarshal number -1e999 into Go value of type float64"),
	QBAD("\\\"a\\tb\\\"", "invalid character '\\t' in string literal"),
	QBAD("\\xff", "invalid character '\xc3\xbf' looking for beginning of value"),
	QBAD("\\x00", "invalid character '\\x00' looking for beginning of value"),
	BAD("encoding.from_json(secret)", "1:20: secret should be string, got capsule"),
	BAD("json_decode(maybe)", "1:13: maybe should be string, got capsule"),
	BAD("encoding.from_json([])", "1:20: [] should be string, got array"),
	BAD("json_decode(\"{}\", 1)", "1:1: json_decode expected 1 args, got 2"),
	/* to_json */
	OK("encoding.to_json({})", "\"{}\""),
	OK("encoding.to_json({b = [1, 2.5, null], a = {\"x y\" = true}})",
	   "\"{\\\"a\\\":{\\\"x y\\\":true},\\\"b\\\":[1,2.5,null]}\""),
	OK("encoding.to_json({a = \"<&>\\u2028\\n\\x01\\\"\\\\\"})",
	   "\"{\\\"a\\\":"
	   "\\\"\\\\u003c\\\\u0026\\\\u003e\\\\u2028\\\\n\\\\u0001\\\\\\\"\\\\\\\\\\\"}\""),
	OK("encoding.to_json({a = \"\xc3\xa4\\xff\\x7f\\b\"})",
	   "\"{\\\"a\\\":\\\"\xc3\xa4\\\\ufffd\\x7f\\\\b\\\"}\""),
	OK("encoding.to_json({a = 1e21, b = 1e20, c = 1e-7, d = 0.000001, e = max, f = -0.0})",
	   "\"{\\\"a\\\":1e+21,\\\"b\\\":100000000000000000000,\\\"c\\\":1e-7,\\\"d\\\":0.000001,"
	   "\\\"e\\\":18446744073709551615,\\\"f\\\":-0}\""),
	OK("encoding.to_json({a = plain})", "\"{\\\"a\\\":\\\"open\\\"}\""),
	OK("encoding.from_json(encoding.to_json({a = [\"x\", {b = 1}]}))",
	   "{a = [\"x\", {b = 1}]}"),
	BAD("encoding.to_json(12)", "1:1: encoding.to_json jsonEncode only supports map"),
	BAD("encoding.to_json([])", "1:1: encoding.to_json jsonEncode only supports map"),
	BAD("encoding.to_json(null)", "1:1: encoding.to_json jsonEncode only supports map"),
	BAD("encoding.to_json({a = nan})", "1:1: encoding.to_json json: unsupported value: NaN"),
	BAD("encoding.to_json({a = inf})", "1:1: encoding.to_json json: unsupported value: +Inf"),
	BAD("encoding.to_json({a = -inf})", "1:1: encoding.to_json json: unsupported value: -Inf"),
	BAD("encoding.to_json({a = sys.env})",
	    "1:1: encoding.to_json json: unsupported type: func"),
	BAD("encoding.to_json({a = {b = secret}})", "1:28: secret should be string, got capsule"),
	BAD("encoding.to_json(secret)", "1:18: secret should be string, got capsule"),
	/* base64 */
	OK("encoding.from_base64(\"Zm9vYmFyMTIzIT8kKiYoKSctPUB+\")", "\"foobar123!?$*&()'-=@~\""),
	OK("encoding.from_URLbase64(\"c3RyaW5nMTIzIT8kKiYoKSctPUB-\")",
	   "\"string123!?$*&()'-=@~\""),
	OK("encoding.to_base64(\"string123!?$*&()'-=@~\")", "\"c3RyaW5nMTIzIT8kKiYoKSctPUB+\""),
	OK("encoding.to_URLbase64(\"string123!?$*&()'-=@~\")", "\"c3RyaW5nMTIzIT8kKiYoKSctPUB-\""),
	OK("encoding.to_base64(\"\")", "\"\""),
	OK("encoding.to_base64(\"a\")", "\"YQ==\""),
	OK("encoding.to_base64(\"ab\")", "\"YWI=\""),
	OK("encoding.to_base64(\"\\xfb\\xff\")", "\"+/8=\""),
	OK("encoding.to_URLbase64(\"\\xfb\\xff\")", "\"-_8=\""),
	OK("base64_decode(\"\")", "\"\""),
	OK("encoding.from_base64(\"YQ==\")", "\"a\""),
	OK("encoding.from_base64(\"Y\\nQ=\\r\\n=\\n\")", "\"a\""),
	OK("encoding.from_base64(\"YR==\")", "\"a\""),
	OK("encoding.from_base64(\"AAA=\")", "\"\\x00\\x00\""),
	OK("encoding.from_base64(encoding.to_base64(\"x\\x00y\"))", "\"x\\x00y\""),
	B64BAD("YQ", "0"),
	B64BAD("YWJjYQ", "4"),
	B64BAD("YQ=", "3"),
	B64BAD("YQ=x", "2"),
	B64BAD("YQ==x", "4"),
	B64BAD("YWI==", "4"),
	B64BAD("=", "0"),
	B64BAD("Y===", "1"),
	B64BAD("YW-_", "2"),
	B64BAD("Y Q=", "1"),
	B64BAD("YWJj\\x00", "4"),
	BAD("encoding.from_URLbase64(\"+/8=\")",
	    "1:1: encoding.from_URLbase64 illegal base64 data at input byte 0"),
	BAD("base64_decode(secret)", "1:15: secret should be string, got capsule"),
	BAD("encoding.to_base64(maybe)", "1:20: maybe should be string, got capsule"),
	/* URLs */
	OK("encoding.url_encode(\"string123!?$*&()'-=@~\")",
	   "\"string123%21%3F%24%2A%26%28%29%27-%3D%40~\""),
	OK("encoding.url_encode(\"a b+\xc3\xa4/\\x00\")", "\"a+b%2B%C3%A4%2F%00\""),
	OK("encoding.url_decode(\"string123%21%3f+%2B\")", "\"string123!? +\""),
	OK("encoding.url_decode(\"\")", "\"\""),
	OK("encoding.url_decode(\"%00%ff\")", "\"\\x00\\xff\""),
	BAD("encoding.url_decode(\"a%zzb\")",
	    "1:1: encoding.url_decode invalid URL escape \"%zz\""),
	BAD("encoding.url_decode(\"a%4\")", "1:1: encoding.url_decode invalid URL escape \"%4\""),
	BAD("encoding.url_decode(\"%\")", "1:1: encoding.url_decode invalid URL escape \"%\""),
	BAD("encoding.url_encode(secret)", "1:21: secret should be string, got capsule"),
};

static char *repeated(const char *begin, const char *piece, size_t n, const char *end)
{
	size_t len = strlen(piece);
	char *text = malloc(strlen(begin) + n * len + strlen(end) + 1), *at = text;

	assert_non_null(text);
	at = stpcpy(at, begin);
	for (size_t i = 0; i < n; i++)
		at = mempcpy(at, piece, len);
	stpcpy(at, end);
	return text;
}

/* Nesting up to the ceiling is a value, beyond it a diagnostic. */
static void test_depth(void **state)
{
	struct output *out = malloc(sizeof(*out));
	char *deep = repeated("encoding.from_json(`", "[", RIVER_DEPTH_MAX, "");
	char *closed = repeated(deep, "]", RIVER_DEPTH_MAX, "`)");
	char *deeper = repeated("encoding.from_json(`", "[", 200000, "`)");

	(void)state;
	assert_non_null(out);
	stdlib_eval(closed, TEST_ARENA_BYTES, RIVER_STABILITY_GENERALLY_AVAILABLE, out);
	assert_int_equal(out->len, 2 * RIVER_DEPTH_MAX);
	stdlib_eval(deeper, TEST_ARENA_BYTES, RIVER_STABILITY_GENERALLY_AVAILABLE, out);
	assert_string_equal(out->data, "1:1: encoding.from_json exceeded max depth\n");
	free(deep);
	free(closed);
	free(deeper);
	free(out);
}

/* Each allocation of a call fails once: a fault, nothing else, and at last the value. */
static void test_every_allocation_fails(void **state)
{
	static const char text[] =
		"encoding.to_json({a = encoding.from_json(`{\"x\": [1, \"y\"]}`), b = "
		"encoding.from_yaml(`{p: &a [1, 2], q: *a}`), c = json_path(`[{\"k\": 5}]`, "
		"\"$[?(@.k > 1 && @.k == 'x' || !@.l)].k\"), d = string.format(\"%08.3f "
		"%q\", 1.5, \"z\"), e = encoding.from_base64(\"aGk=\"), f = array.group_by([{g = "
		"\"h\"}], \"g\", true), i = file.path_join(\"a\", \"b\")})";
	struct output *out = malloc(sizeof(*out));
	size_t faults = 0;

	(void)state;
	assert_non_null(out);
	for (size_t bytes = 4096; bytes < 1 << 20; bytes += 64) {
		stdlib_eval(text, bytes, RIVER_STABILITY_EXPERIMENTAL, out);
		if (strcmp(out->data, "fault") != 0)
			break;
		faults++;
	}
	assert_true(faults > 10);
	assert_string_equal(
		out->data,
		"\"{\\\"a\\\":{\\\"x\\\":[1,\\\"y\\\"]},\\\"b\\\":{\\\"p\\\":[1,2],\\\"q\\\":[1,2]}"
		","
		"\\\"c\\\":[5],\\\"d\\\":\\\"0001.500 \\\\\\\"z\\\\\\\"\\\",\\\"e\\\":\\\"hi\\\","
		"\\\"f\\\":[{\\\"g\\\":\\\"h\\\",\\\"items\\\":[{\\\"g\\\":\\\"h\\\"}]}],"
		"\\\"i\\\":\\\"a/b\\\"}\"");
	free(out);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_stdlib_row, rows, name),
	TEST(test_depth),
	TEST(test_every_allocation_fails),
};

TEST_MAIN(tests)
