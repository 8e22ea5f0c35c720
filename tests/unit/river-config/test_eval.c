/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: operators, access, calls, the standard library, and the texts of what goes wrong. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

/*
 * Names of the host: `obj` = {a = {b = "deep"}, list = [1, "x"], n = 7}, `secret`, `maybe` (a
 * secret), `plain` (an optional secret that is none), `cap`, `max` (the largest unsigned number),
 * `one` (an unsigned 1), `nothing` (null).
 */
static const struct river_value *test_object(struct river_arena *a)
{
	const struct river_value *items[] = { river_value_int(a, 1),
					      river_value_string(a, "x", 1) };
	const struct river_member inner[] = { { "b", river_value_string(a, "deep", 4) } };
	const struct river_member outer[] = {
		{ "a", river_value_object(a, inner, 1) },
		{ "list", river_value_array(a, items, 2) },
		{ "n", river_value_int(a, 7) },
	};

	return river_value_object(a, outer, ARRAY_LEN(outer));
}

static const struct river_value *test_lookup(void *ctx, struct river_arena *a, const char *name)
{
	(void)ctx;
	if (strcmp(name, "obj") == 0)
		return test_object(a);
	if (strcmp(name, "secret") == 0)
		return river_value_secret(a, "pass", 4);
	if (strcmp(name, "maybe") == 0)
		return river_value_optional_secret(a, "hush", 4, true);
	if (strcmp(name, "plain") == 0)
		return river_value_optional_secret(a, "open", 4, false);
	if (strcmp(name, "cap") == 0)
		return river_value_capsule(a, "pyroscope.Appendable", (void *)1);
	if (strcmp(name, "max") == 0)
		return river_value_uint(a, UINT64_MAX);
	if (strcmp(name, "one") == 0)
		return river_value_uint(a, 1);
	if (strcmp(name, "nothing") == 0)
		return river_value_null(a);
	return NULL;
}

static const char *test_env(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "SET") == 0 ? "value" : NULL;
}

static const struct river_scope scope = {
	.lookup = test_lookup,
	.env = test_env,
	.version = "v1.2",
	.hostname = "box",
};

static void test_eval(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	const struct river_value *value;
	const struct river_expr *e;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse_expr("t", row->input, strlen(row->input), &arena, &diags, &e),
			 RIVER_OK);
	if (river_eval(e, &scope, &arena, &diags, &value) == RIVER_OK)
		assert_int_equal(
			river_value_write(value, RIVER_LAYOUT_LINE, &arena, output_write, &out), 0);
	else
		output_diags(&out, &diags);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

#define OK(input, expected)            \
	{                              \
		input, input, expected \
	}
#define BAD(input, expected)                \
	{                                   \
		input, input, expected "\n" \
	}

static const struct row rows[] = {
	/* literals */
	OK("null", "null"),
	OK("true", "true"),
	OK("010", "8"),
	OK("08", "8"),
	OK("9223372036854775807", "9223372036854775807"),
	OK("18446744073709551615", "18446744073709551615"),
	OK("18446744073709551616", "18446744073709552000"),
	OK("1e21", "1000000000000000000000"),
	OK("1.5e-7", "0.00000015"),
	OK("0.1", "0.1"),
	OK("100.0", "100"),
	BAD("1e999", "t:1:1: strconv.ParseFloat: parsing \"1e999\": value out of range"),
	OK("\"a\\tb\\x41\\u00e4\\101\"", "\"a\\tbA\xc3\xa4"
					 "A\""),
	OK("`a\\n\r\"`", "\"a\\\\n\\\"\""),
	OK("\"\\xff\"", "\"\\xff\""),
	OK("[1, [2], {}]", "[1, [2], {}]"),
	OK("{b = 1, a = 2, b = 3}", "{a = 2, b = 3}"),
	OK("{\"x y\" = 1, \"z\" = 2}", "{\"x y\" = 1, z = 2}"),
	/* arithmetic */
	OK("1 + 2 * 3", "7"),
	OK("7 / 2", "3"),
	OK("-7 / 2", "-3"),
	OK("-7 % 3", "-1"),
	OK("7 / 2.0", "3.5"),
	OK("7.5 % 2", "1.5"),
	OK("1 + 0.5", "1.5"),
	OK("-2 ^ 2", "4"),
	OK("2 ^ 3 ^ 2", "512"),
	OK("2 ^ 0.5 > 1.41", "true"),
	OK("5 ^ 0", "1"),
	OK("0 ^ 5", "0"),
	OK("5 ^ -2", "5"),
	OK("1 ^ 9223372036854775807", "1"),
	OK("3 ^ 9223372036854775807 != 0", "true"),
	OK("9223372036854775807 + 1", "-9223372036854775808"),
	OK("(0 - 9223372036854775807 - 1) / -1", "-9223372036854775808"),
	OK("(0 - 9223372036854775807 - 1) % -1", "0"),
	OK("max", "18446744073709551615"),
	OK("max / one", "18446744073709551615"),
	OK("max + one", "0"),
	OK("max / 2", "0"),
	OK("-one", "-1"),
	OK("-max", "1"),
	OK("-1.5", "-1.5"),
	OK("\"a\" + \"b\"", "\"ab\""),
	BAD("1 / 0", "t:1:5: 0 divide by zero error"),
	BAD("1.0 / 0.0", "t:1:7: 0.0 divide by zero error"),
	BAD("1 % (1 - 1)", "t:1:5: (1 - 1) divide by zero error"),
	BAD("1 + \"a\"", "t:1:5: \"a\" should be number, got string"),
	BAD("\"a\" + 1", "t:1:7: 1 should be string, got number"),
	BAD("true + 1",
	    "t:1:1: true should be one of [number string capsule] for binop +, got bool"),
	BAD("1 - \"a\"", "t:1:5: \"a\" should be one of [number] for binop -, got string"),
	BAD("[] * 1", "t:1:1: [] should be one of [number] for binop *, got array"),
	BAD("{} ^ []", "t:1:1: {} should be one of [number] for binop ^, got object"),
	BAD("-\"a\"", "t:1:2: \"a\" should be number, got string"),
	OK("-7 % -3", "-1"),
	OK("7 % -3", "1"),
	OK("7.5 % -2", "1.5"),
	OK("-0.5 % 1", "-0.5"),
	OK("9223372036854775807 * 2", "-2"),
	OK("max - one - max", "18446744073709551615"),
	OK("max + 1", "0"),
	OK("max + 1.5", "18446744073709552000"),
	OK("-9223372036854775808", "-9223372036854775808"),
	OK("9223372036854775808 / 2", "-4611686018427387904"),
	OK("2 ^ 63", "-9223372036854775808"),
	OK("2 ^ 64", "0"),
	OK("0 ^ -1", "0"),
	OK("0 ^ 0", "1"),
	OK("1 ^ -5", "1"),
	OK("-3 ^ -2", "-3"),
	OK("-3 ^ 3", "-27"),
	OK("2.0 ^ 3", "8"),
	OK("2 ^ -1.0", "0.5"),
	OK("1e308 * 10", "+Inf"),
	OK("-1e308 * 10", "-Inf"),
	OK("0.1 + 0.2", "0.30000000000000004"),
	OK("1.0", "1"),
	OK("00", "0"),
	OK("09.5", "9.5"),
	OK("1e-7", "0.0000001"),
	OK("5e-324 > 0", "true"),
	OK("1e-400", "0"),
	OK("\"\" + \"\"", "\"\""),
	OK("-(-1)", "1"),
	OK("!!true", "true"),
	BAD("1 / 0.0", "t:1:5: 0.0 divide by zero error"),
	BAD("1.5 % 0", "t:1:7: 0 divide by zero error"),
	BAD("max % (one - one)", "t:1:7: (one - one) divide by zero error"),
	BAD("1 / -0.0", "t:1:5: -0.0 divide by zero error"),
	BAD("1 + true",
	    "t:1:5: true should be one of [number string capsule] for binop +, got bool"),
	BAD("\"a\" - true", "t:1:1: \"a\" should be one of [number] for binop -, got string"),
	BAD("1 % \"a\"", "t:1:5: \"a\" should be one of [number] for binop %, got string"),
	BAD("null / 1", "t:1:1: null should be one of [number] for binop /, got null"),
	BAD("1 + env",
	    "t:1:5: env should be one of [number string capsule] for binop +, got function"),
	BAD("-null", "t:1:2: null should be number, got null"),
	BAD("-secret", "t:1:2: secret should be number, got capsule"),
	/* comparison */
	OK("1 < 2", "true"),
	OK("2 <= 2.0", "true"),
	OK("\"b\" > \"a\"", "true"),
	OK("\"a\" < \"aa\"", "true"),
	OK("\"a\" >= \"b\"", "false"),
	OK("max > one", "true"),
	BAD("1 < \"a\"", "t:1:5: \"a\" should be number, got string"),
	BAD("true < true", "t:1:1: true should be one of [number string] for binop <, got bool"),
	OK("5 == 5.0", "true"),
	OK("5 == \"5\"", "false"),
	OK("5 != \"5\"", "true"),
	OK("null == null", "true"),
	OK("[1, {a = [2.0]}] == [1.0, {a = [2]}]", "true"),
	OK("[1] == [1, 2]", "false"),
	OK("{a = 1} == {b = 1}", "false"),
	OK("{a = 1, b = 2} == {b = 2, a = 1}", "true"),
	OK("sys.env == sys.env", "false"),
	OK("cap == cap", "true"),
	OK("cap == secret", "false"),
	OK("\"\\xff\" > \"a\"", "true"),
	OK("\"\" < \"\\x00\"", "true"),
	OK("\"a\" <= \"a\"", "true"),
	OK("2 >= 2.5", "false"),
	OK("max == -1", "true"),
	OK("max == 18446744073709551615", "true"),
	OK("null == false", "false"),
	OK("null != 0", "true"),
	OK("[] == {}", "false"),
	OK("[env] == [env]", "false"),
	OK("env != env", "true"),
	OK("\"5\" == 5", "false"),
	OK("{a = 1, a = 2} == {a = 2}", "true"),
	OK("[null] == [null]", "true"),
	BAD("[] < []", "t:1:1: [] should be one of [number string] for binop <, got array"),
	BAD("1 >= null", "t:1:6: null should be one of [number string] for binop >=, got null"),
	BAD("\"a\" > 1", "t:1:7: 1 should be string, got number"),
	BAD("secret < \"a\"",
	    "t:1:1: secret should be one of [number string] for binop <, got capsule"),
	/* logic */
	OK("true || false", "true"),
	OK("true && false", "false"),
	OK("!true", "false"),
	BAD("true || missing", "t:1:9: identifier \"missing\" does not exist"),
	BAD("false && 1", "t:1:10: 1 should be one of [bool] for binop &&, got number"),
	BAD("!1", "t:1:2: 1 should be bool, got number"),
	BAD("1 || true", "t:1:1: 1 should be one of [bool] for binop ||, got number"),
	BAD("null && true", "t:1:1: null should be one of [bool] for binop &&, got null"),
	BAD("false && 1 / 0 == 1", "t:1:14: 0 divide by zero error"),
	BAD("!null", "t:1:2: null should be bool, got null"),
	/* secrets */
	OK("plain < \"p\"", "true"),
	OK("\"z\" > plain", "true"),
	OK("plain == secret", "false"),
	OK("maybe == \"hush\"", "true"),
	OK("maybe == maybe", "true"),
	OK("secret == secret", "true"),
	OK("secret == maybe", "false"),
	OK("secret != \"pass\"", "false"),
	OK("secret == null", "false"),
	OK("maybe + \"a\"", "\"(secret)\""),
	OK("maybe + secret", "\"(secret)\""),
	OK("nonsensitive(plain + maybe)", "\"openhush\""),
	OK("plain + plain", "\"openopen\""),
	OK("(plain + \"a\") == \"opena\"", "true"),
	OK("[secret, {a = secret}]", "[\"(secret)\", {a = \"(secret)\"}]"),
	OK("cap", "capsule(\"pyroscope.Appendable\")"),
	BAD("plain + 1", "t:1:9: 1 should be string, got number"),
	BAD("plain - 1", "t:1:1: plain should be one of [number] for binop -, got string"),
	BAD("1 + secret", "t:1:5: secret should be number, got capsule"),
	BAD("\"a\" + cap", "t:1:7: cap should be string, got capsule"),
	BAD("!plain", "t:1:2: plain should be bool, got capsule"),
	OK("secret", "\"(secret)\""),
	OK("maybe", "\"(secret)\""),
	OK("plain", "\"open\""),
	OK("\"a\" + secret", "\"(secret)\""),
	OK("secret + \"a\"", "\"(secret)\""),
	OK("plain + \"a\"", "\"opena\""),
	OK("plain + maybe", "\"(secret)\""),
	OK("plain + secret", "\"(secret)\""),
	OK("convert.nonsensitive(\"a\" + secret)", "\"apass\""),
	OK("nonsensitive(maybe)", "\"hush\""),
	OK("nonsensitive(\"x\")", "\"x\""),
	OK("secret == \"pass\"", "true"),
	OK("\"open\" == plain", "true"),
	OK("plain == \"other\"", "false"),
	BAD("nonsensitive(1)", "t:1:14: 1 should be capsule, got number"),
	BAD("sys.env(secret)", "t:1:9: secret should be string, got capsule"),
	OK("sys.env(plain)", "\"\""),
	BAD("cap + \"a\"", "t:1:7: \"a\" should be capsule, got string"),
	BAD("secret + cap",
	    "t:1:10: cap should be one of [number string] for binop +, got capsule"),
	BAD("secret + 1", "t:1:10: 1 should be capsule, got number"),
	/* access and index */
	OK("obj.a.b", "\"deep\""),
	OK("obj[\"a\"][\"b\"]", "\"deep\""),
	OK("obj[\"zz\"]", "null"),
	OK("obj.list[1]", "\"x\""),
	OK("obj.list[1.9]", "\"x\""),
	OK("{a = 5}.a", "5"),
	BAD("obj.zz", "t:1:5: field \"zz\" does not exist"),
	BAD("obj.n.x", "t:1:1: obj.n cannot access field \"x\" on value of type number"),
	BAD("nothing.x", "t:1:1: nothing cannot access field \"x\" on value of type null"),
	BAD("obj.list[2]", "t:1:10: 2 index 2 is out of range of array with length 2"),
	BAD("obj.list[-1]", "t:1:10: -1 index -1 is out of range of array with length 2"),
	BAD("obj.list[\"x\"]", "t:1:10: \"x\" should be number, got string"),
	BAD("obj[1]", "t:1:5: 1 should be number, got number"),
	BAD("obj.n[0]", "t:1:1: obj.n expected object or array, got number"),
	BAD("cap.x", "t:1:1: cap expected object or array or a capsule convertible to an object, "
		     "got capsule"),
	BAD("cap[0]", "t:1:1: cap expected object or array or a capsule convertible to an object, "
		      "got capsule"),
	BAD("missing.a.b", "t:1:1: identifier \"missing\" does not exist"),
	OK("{\"a\" = 1}[\"a\\x00b\"]", "null"),
	OK("{a = {b = [1, 2]}}.a.b[1]", "2"),
	OK("[1, 2][0.5 + 0.5]", "2"),
	OK("obj[\"list\"][0]", "1"),
	OK("{\"\" = 1}", "{\"\\\"\\\"\" = 1}"),
	OK("{\"a\\tb\" = 1}", "{\"a\\\\tb\" = 1}"),
	OK("{\"true\" = 1, \"null\" = 2, nul = 3}", "{nul = 3, \"null\" = 2, \"true\" = 1}"),
	BAD("\"abc\"[0]", "t:1:1: \"abc\" expected object or array, got string"),
	BAD("null[0]", "t:1:1: null expected object or array, got null"),
	BAD("env[0]", "t:1:1: env expected object or array, got function"),
	BAD("\"a\".b", "t:1:1: \"a\" cannot access field \"b\" on value of type string"),
	BAD("[1].b", "t:1:1: [1] cannot access field \"b\" on value of type array"),
	BAD("env.b", "t:1:1: env cannot access field \"b\" on value of type function"),
	BAD("obj[\"zz\"].a", "t:1:1: obj[\"zz\"] cannot access field \"a\" on value of type null"),
	BAD("[][0]", "t:1:4: 0 index 0 is out of range of array with length 0"),
	BAD("[1][true]", "t:1:5: true should be number, got bool"),
	BAD("[1][null]", "t:1:5: null should be number, got null"),
	BAD("obj[null]", "t:1:5: null should be number, got null"),
	BAD("secret.x",
	    "t:1:1: secret expected object or array or a capsule convertible to an object, "
	    "got capsule"),
	/* calls */
	BAD("1()", "t:1:1: 1 should be function, got number"),
	BAD("null(missing)", "t:1:1: null should be function, got null"),
	BAD("sys.env(missing, 1)", "t:1:9: identifier \"missing\" does not exist"),
	BAD("obj()", "t:1:1: obj should be function, got object"),
	BAD("env()", "t:1:1: env expected 1 args, got 0"),
	BAD("string.join([], \",\", 1)", "t:1:1: string.join expected 2 args, got 3"),
	BAD("string.nope(1)", "t:1:8: field \"nope\" does not exist"),
	OK("string.format(\"x\")", "\"x\""),
	OK("json_path(\"{}\", \"a\")", "[]"),
	/* standard library */
	OK("sys.env(\"SET\")", "\"value\""),
	OK("env(\"SET\")", "\"value\""),
	OK("env(\"UNSET\")", "\"\""),
	OK("constants.hostname", "\"box\""),
	OK("constants.os", "\"linux\""),
	OK("constants.version", "\"v1.2\""),
	OK("constants.arch != \"\"", "true"),
	OK("coalesce()", "null"),
	OK("coalesce(null, 0, false, \"\", [], {}, \"x\", \"y\")", "\"x\""),
	OK("coalesce(null, 0)", "0"),
	OK("coalesce(plain, 1)", "\"open\""),
	BAD("coalesce(1, missing)", "t:1:13: identifier \"missing\" does not exist"),
	OK("concat()", "[]"),
	OK("array.concat([1], [], [2, [3]])", "[1, 2, [3]]"),
	BAD("concat([1], 2)", "t:1:13: 2 should be array, got number"),
	OK("string.join([\"a\", 1, 2.5], \"-\")", "\"a-1-2.5\""),
	BAD("join([\"a\", true], \"-\")", "t:1:12: true should be string, got bool"),
	BAD("join(concat([[]]), \"-\")", "t:1:14: [] should be string, got array"),
	BAD("join(obj.list + 1, \"-\")",
	    "t:1:6: obj.list should be one of [number string capsule] for binop +, got array"),
	OK("string.replace(\"aXbXc\", \"X\", \"--\")", "\"a--b--c\""),
	OK("replace(\"ab\", \"\", \"-\")", "\"-a-b-\""),
	OK("string.split(\"a,b,,c\", \",\")", "[\"a\", \"b\", \"\", \"c\"]"),
	OK("split(\"\", \",\")", "[\"\"]"),
	OK("split(\"a\xc3\xa4\", \"\")", "[\"a\", \"\xc3\xa4\"]"),
	OK("string.to_lower(\"A\xc3\x84\xce\xa9\")", "\"a\xc3\xa4\xcf\x89\""),
	OK("to_upper(\"a\xc3\xa4\xcf\x89\")", "\"A\xc3\x84\xce\xa9\""),
	OK("string.trim(\"--a-b--\", \"-\")", "\"a-b\""),
	OK("trim(\"\xc3\xa4"
	   "b\xc3\xb6\", \"\xc3\xb6\xc3\xa4\")",
	   "\"b\""),
	OK("trim(\"aaa\", \"a\")", "\"\""),
	OK("string.trim_prefix(\"foobar\", \"foo\")", "\"bar\""),
	OK("trim_prefix(\"fo\", \"foo\")", "\"fo\""),
	OK("string.trim_suffix(\"foobar\", \"bar\")", "\"foo\""),
	OK("string.trim_space(\" \\t\\u00a0a b\\n\")", "\"a b\""),
};

/* The operands of a message keep their place when they stand on lines of their own. */
static const struct row text_rows[] = {
	{ "array over lines", "[\n1,2,\n\t3,\n] + 1",
	  "t:1:1: [\n\t1, 2,\n\t3,\n] should be one of [number string capsule] for binop +, got "
	  "array\n" },
	{ "object over lines", "!{\na=1,\n\"b c\" = [],\n}",
	  "t:1:2: {\n\ta     = 1,\n\t\"b c\" = [],\n} should be bool, got object\n" },
};

static int count_references(void *ctx, const struct river_reference *ref)
{
	struct output *out = ctx;

	for (size_t i = 0; i < ref->n_parts; i++) {
		output_str(out, i ? "." : "");
		output_str(out, ref->parts[i].text);
	}
	switch (river_stdlib_find(ref)) {
	case RIVER_STDLIB_NONE:
		break;
	case RIVER_STDLIB_CURRENT:
		output_str(out, "*");
		break;
	case RIVER_STDLIB_DEPRECATED:
		output_str(out, "!");
		break;
	}
	output_str(out, " ");
	return strcmp(ref->parts[0].text, "stop") == 0 ? 5 : 0;
}

static void test_references(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;
	int r;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", row->input, strlen(row->input), &arena, &diags, &file),
			 RIVER_OK);
	r = river_body_references(&file->body, count_references, &out);
	assert_int_equal(r, strstr(row->input, "stop") ? 5 : 0);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

static const struct row reference_rows[] = {
	{ "references: none", "a = 1", "" },
	{ "references: chain", "a = b.c.d", "b.c.d " },
	{ "references: in order", "a = [b.c, {d = e.f}] \n x { y = (g) + -h }", "b.c e.f g h " },
	{ "references: index ends a chain", "a = b.c[d.e].f", "b.c d.e " },
	{ "references: call ends a chain", "a = sys.env(b.c).d", "sys.env* b.c " },
	{ "references: standard library", "a = [env(\"x\"), constants, string.nope, concat([])]",
	  "env! constants* string.nope concat! " },
	{ "references: not through parentheses", "a = (b).c", "b " },
	{ "references: stopped", "a = [b, stop, c]", "b stop " },
};

static const struct unit_test tests[] = {
	TEST_ROWS(test_eval, rows, name),
	TEST_ROWS(test_eval, text_rows, name),
	TEST_ROWS(test_references, reference_rows, name),
};

TEST_MAIN(tests)
