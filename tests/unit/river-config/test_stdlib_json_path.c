/* SPDX-License-Identifier: Apache-2.0 */
/* json_path: fragments, filters, mistakes, and what must not take long. */
#include "tests/unit/river-config/stdlib_test.h"

#define P(json, path, expected) OK("json_path(`" json "`, \"" path "\")", expected)
#define PBAD(path, expected) \
	BAD("json_path(\"[]\", \"" path "\")", "1:1: json_path " expected " in " path)

#define LIST "[1,2,3,4,5,6]"
#define STORE                                                                               \
	"{\"book\": [{\"t\": \"A\", \"p\": 8.95, \"c\": \"x\"}, {\"t\": \"B\", \"p\": 12, " \
	"\"i\": \"0-1\"}, {\"t\": \"C\", \"p\": 22.5, \"c\": \"x\", \"i\": null}], "        \
	"\"bike\": {\"p\": 20}}"

static const struct row rows[] = {
	/* names */
	P("{\"a\": \"b\"}", ".a", "[\"b\"]"),
	P("{\"a\": \"b\"}", "a", "[\"b\"]"),
	P("{\"a\": \"b\"}", "$.a", "[\"b\"]"),
	P("{\"a\": \"b\"}", "@.a", "[\"b\"]"),
	P("{\"a\": \"b\"}", ".nonexists", "[]"),
	P("{\"a\": \"b\"}", "$", "[{a = \"b\"}]"),
	P("{\"a\": \"b\"}", "", "[]"),
	OK("json_path(`{\"a\": \"b\"}`, \".a\")[0]", "\"b\""),
	P("{\"a\": {\"b\": null}}", "$.a.b", "[null]"),
	P("{\"a\": 5}", "$.a.b", "[]"),
	P("{\"a-b\": 1}", "$['a-b']", "[1]"),
	P("{\"a'b\": 1}", "$['a\\\\'b']", "[1]"),
	P("{\"\\u00e4\": 1}", "$.\xc3\xa4", "[1]"),
	P("{\"\\u00e4\": 1}", "$['\\\\u00e4']", "[1]"),
	P("{\"a\": 1}", "$[ 'a' ]", "[1]"),
	P("[1]", "$.length", "[]"),
	/* items */
	P(LIST, "[1]", "[2]"),
	P(LIST, "$[-1]", "[6]"),
	P(LIST, "$[6]", "[]"),
	P(LIST, "$[-7]", "[]"),
	P(LIST, "$[0,2,-1,9,0]", "[1, 3, 6, 1]"),
	P("{\"a\": 1, \"b\": 2}", "$['b','a','c']", "[2, 1]"),
	P("[1,2,3]", "['x',-1]", "[3]"),
	P("{\"x\": 1}", "[0,'x']", "[1]"),
	P(LIST, "$[99999999999999999999]", "[]"),
	/* all */
	P("{\"b\": 1, \"a\": [2]}", "$.*", "[[2], 1]"),
	P("[1,[2],{\"a\":3}]", "$[*]", "[1, [2], {a = 3}]"),
	P("[1,[2],{\"a\":3}]", "*.*", "[2, 3]"),
	P("5", "$.*", "[]"),
	/* slices */
	P(LIST, "$[1:3]", "[2, 3]"),
	P(LIST, "$[:2]", "[1, 2]"),
	P(LIST, "$[4:]", "[5, 6]"),
	P(LIST, "$[:]", "[1, 2, 3, 4, 5, 6]"),
	P(LIST, "$[::]", "[1, 2, 3, 4, 5, 6]"),
	P(LIST, "$[::2]", "[1, 3, 5]"),
	P(LIST, "$[1:5:2]", "[2, 4]"),
	P(LIST, "$[::0]", "[]"),
	P(LIST, "$[10:]", "[]"),
	P(LIST, "$[-4:-3]", "[3]"),
	P(LIST, "$[-4:2]", "[]"),
	P("[1,2,3]", "$[-4:]", "[1, 2, 3]"),
	P(LIST, "$[-1:1:-2]", "[6, 4]"),
	P(LIST, "$[:-10:-1]", "[1]"),
	P(LIST, "$[1:10]", "[2, 3, 4, 5, 6]"),
	P(LIST, "$[01:03:01]", "[2, 3]"),
	P("{\"a\": 1}", "$[0:1]", "[]"),
	/* descent: children before their parent */
	P("{\"a\": 1, \"c\": {\"a\": 3}}", "$..a", "[3, 1]"),
	P("{\"x\": [0, 1], \"y\": [{\"x\": 0}, {\"x\": 42}]}", "$..[1].x", "[42]"),
	P("{\"o\": {\"x\": 3}, \"x\": 4}", "..x", "[3, 4]"),
	P("[[1, 2], 3]", "$..*", "[1, 2, [1, 2], 3]"),
	P("[1, [2]]", "..", "[1, [2], 2, [1, [2]]]"),
	P("5", "$..a", "[]"),
	/* filters */
	P(STORE, "$.book[?(@.p > 10)].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?@.p > 10].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?(@.c == 'x' && @.p < 10)].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.t == 'A' || @.t == \\\"C\\\")].t", "[\"A\", \"C\"]"),
	P(STORE, "$.book[?(@.i)].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?(!@.i)].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.i == null)].t", "[\"C\"]"),
	P(STORE, "$.book[?(@.i == Nothing)].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.i has false)].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.i exists true)].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?(@.p != 12)].t", "[\"A\", \"C\"]"),
	P(STORE, "$.book[?(@.p <= 12.0)].t", "[\"A\", \"B\"]"),
	P(STORE, "$.book[?(@.p > $.bike.p)].t", "[\"C\"]"),
	P(STORE, "$.book[?(@.t in ['A', 'B', 3])].t", "[\"A\", \"B\"]"),
	P(STORE, "$.book[?(@.t in [])].t", "[]"),
	P(STORE, "$.book[?(@.i =~ /^\\\\d-\\\\d$/)].t", "[\"B\"]"),
	P(STORE, "$.book[?(@.t ~= '[AC]')].t", "[\"A\", \"C\"]"),
	P(STORE, "$.book[?(match(@.i, '0'))].t", "[]"),
	P(STORE, "$.book[?(search(@.i, '0'))].t", "[\"B\"]"),
	P(STORE, "$.book[?(length(@) == 4)].t", "[\"C\"]"),
	P(STORE, "$.book[?(count(@.*) < 4)].t", "[\"A\", \"B\"]"),
	P(STORE, "$.book[?(@.p * 2 + 1 > 25)].t", "[\"C\"]"),
	P(STORE, "$.book[?((@.p + 1) * 2 > 25)].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?(!(@.p > 10))].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.p > 1 == true)].t", "[\"A\", \"B\", \"C\"]"),
	P(STORE, "$[?(@.p == 20)]", "[{p = 20}]"),
	P(STORE, "$.book[?(@.t + 'x' == 'Ax')].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.p / 0 == Nothing)].t", "[\"A\", \"B\", \"C\"]"),
	P(STORE, "$[?(@[*].p > 22)][0].t", "[\"A\"]"),
	P("[1,2,3]", "$[?(1==1)]", "[1, 2, 3]"),
	P("[1,2,3]", "[?(@ > 1)]", "[2, 3]"),
	P("[7, 8]", "$[?(@ / 2 == 3)]", "[7]"),
	P("[[1,2],[]]", "$[?(@ empty false)]", "[[1, 2]]"),
	P("[[1],[1,2]]", "$[?(@ == [1])]", "[[1]]"),
	P("[[1,5],[2]]", "$[?(@[?(@ > 4)])]", "[[1, 5]]"),
	P("[\"a\", \"b\"]", "$[?(@ < 'b')]", "[\"a\"]"),
	P("[\"a\", 1]", "$[?(@ < 2)]", "[1]"),
	P("{\"a\": {\"k\": 1}, \"b\": {\"k\": 2}}", "$[?(@.k > 0)].k", "[1, 2]"),
	/* numbers stay what they are */
	OK("json_path(\"[7, 7.0]\", \"$[0]\")[0] / 2", "3"),
	OK("json_path(\"[7, 7.0]\", \"$[1]\")[0] / 2", "3.5"),
	/* mistakes: the path is looked at before the text */
	PBAD("$[", "not terminated at 3"),
	PBAD("abc.", "not terminated at 5"),
	PBAD("abc.+", "an expression fragment can not start with a '+' at 6"),
	PBAD("abc..+", "parse error at 6"),
	PBAD("]", "parse error at 1"),
	PBAD("[]", "parse error at 2"),
	PBAD("[**", "not terminated at 4"),
	PBAD("['x'z]", "invalid bracket fragment at 6"),
	PBAD("[(x)]", "scripts not implemented yet at 3"),
	PBAD("[-x]", "expected a number at 4"),
	PBAD("[0x]", "invalid bracket fragment at 4"),
	PBAD("[x]", "parse error at 2"),
	PBAD("[1,", "not terminated at 4"),
	PBAD("[:", "not terminated at 3"),
	PBAD("[1:2:", "not terminated at 6"),
	PBAD("[1:2:-x", "expected a number at 8"),
	PBAD("[2,3x", "invalid union syntax at 6"),
	PBAD("[2,x", "invalid union syntax at 5"),
	PBAD("[?", "not terminated at 3"),
	PBAD("[?(@.x == 3)", "not terminated at 13"),
	PBAD("[?(@.x == trux)]", "expected true at 11"),
	PBAD("[?(@.x == x)]", "expected a value at 11"),
	PBAD("[?(@.x =", "equation not terminated at 9"),
	PBAD("[?(@ = 1)]", "'=' is not a valid operation at 7"),
	PBAD("[?(- == 1)]", "strconv.ParseInt: parsing \"-\": invalid syntax at 5"),
	PBAD("[?(@.x == 1.2e", "expected a number at 15"),
	PBAD("[?(lengt(@))]", "expected a length function at 4"),
	PBAD("[?(@ =~ /(/)]", "error parsing regexp: missing closing parenthesis: `(` at 12"),
	BAD("json_path(\"[\", \"$\")", "1:1: json_path unexpected end of JSON input"),
	BAD("json_path(\"[\", \"$[\")", "1:1: json_path not terminated at 3 in $["),
	BAD("json_path(secret, \"$\")", "1:11: secret should be string, got capsule"),
	BAD("json_path(\"[]\")", "1:1: json_path expected 2 args, got 1"),
	OK("json_path(plain_json, \"$.a\")", "[1]"),
};

/* What would run for years, or off the stack, ends soon and says so. */
static const struct row hostile_rows[] = {
	{ "all of all of all",
	  "json_path(string.format(\"%s1%s\", string.replace(string.format(\"%0200d\", 0), \"0\", "
	  "\"[\"), string.replace(string.format(\"%0200d\", 0), \"0\", \"]\")), "
	  "\"$..*..*..*..*..*..*..*..*\")",
	  "1:1: json_path more than 2000000 steps\n" },
	{ "many of many",
	  "json_path(string.format(\"[[%s1]]\", string.replace(string.format(\"%0300d\", 0), "
	  "\"0\", "
	  "\"1,\")), \"$[?(@[*] + @[*] + @[*] + @[*] == 0)]\")",
	  "1:1: json_path more than 2000000 steps\n" },
	{ "a pattern that tries",
	  "json_path(string.format(\"[\\\"%040dx\\\"]\", 0), \"$[?(@ =~ /^(0+)+$/)]\")", "[]" },
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

static const struct {
	const char *begin;
	const char *piece;
	const char *expected; /* the beginning */
} deep_rows[] = {
	{ "json_path(\"[]\", \"$[?", "(", "1:1: json_path nested deeper than 512 levels at " },
	{ "json_path(\"[]\", \"$[?", "!", "1:1: json_path nested deeper than 512 levels at " },
	{ "json_path(\"[]\", \"$[?1", "+1", "1:1: json_path nested deeper than 512 levels at " },
	{ "json_path(\"[]\", \"$[?", "@[?", "1:1: json_path nested deeper than 512 levels at " },
	{ "json_path(\"[]\", \"$", "[*]", "1:1: json_path more than 512 fragments at " },
};

static void test_depth(void **state)
{
	struct output *out = malloc(sizeof(*out));

	(void)state;
	assert_non_null(out);
	for (size_t i = 0; i < ARRAY_LEN(deep_rows); i++) {
		char *text = repeated(deep_rows[i].begin, deep_rows[i].piece, 5000, "\")");

		stdlib_eval(text, TEST_ARENA_BYTES, RIVER_STABILITY_GENERALLY_AVAILABLE, out);
		assert_memory_equal(out->data, deep_rows[i].expected,
				    strlen(deep_rows[i].expected));
		free(text);
	}
	free(out);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(hostile_rows) + 1];
	size_t n = add_rows(tests, rows, ARRAY_LEN(rows), test_stdlib_row);

	n += add_rows(tests + n, hostile_rows, ARRAY_LEN(hostile_rows), test_stdlib_row);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_depth);
	return cmocka_run_group_tests_name("river-config/stdlib_json_path", tests, NULL, NULL);
}
