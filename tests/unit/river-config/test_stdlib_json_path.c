/* SPDX-License-Identifier: Apache-2.0 */
/* json_path: fragments, filters, mistakes, and what must not take long. */
#include "tests/support/unit.h"
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
	P("5", "$..a", "[]"),
	/* filters */
	P(STORE, "$.book[?(@.p > 10)].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?@.p > 10].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?(@.c == 'x' && @.p < 10)].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.t == 'A' || @.t == \\\"C\\\")].t", "[\"A\", \"C\"]"),
	P(STORE, "$.book[?(@.i)].t", "[\"B\", \"C\"]"),
	P(STORE, "$.book[?(!@.i)].t", "[\"A\"]"),
	P(STORE, "$.book[?(@.i == null)].t", "[\"C\"]"),
	P(STORE, "$.book[?(@.p != 12)].t", "[\"A\", \"C\"]"),
	P(STORE, "$.book[?(@.p <= 12.0)].t", "[\"A\", \"B\"]"),
	P(STORE, "$.book[?(@.p > $.bike.p)].t", "[\"C\"]"),
	P(STORE, "$.book[?(!(@.p > 10))].t", "[\"A\"]"),
	P(STORE, "$[?(@.p == 20)]", "[{p = 20}]"),
	P("[1,2,3]", "$[?(1==1)]", "[1, 2, 3]"),
	P("[1,2,3]", "[?(@ > 1)]", "[2, 3]"),
	P("[\"a\", \"b\"]", "$[?(@ < 'b')]", "[\"a\"]"),
	P("[\"a\", 1]", "$[?(@ < 2)]", "[1]"),
	P("{\"a\": {\"k\": 1}, \"b\": {\"k\": 2}}", "$[?(@.k > 0)].k", "[1, 2]"),
	/* numbers stay what they are */
	OK("json_path(\"[7, 7.0]\", \"$[0]\")[0] / 2", "3"),
	OK("json_path(\"[7, 7.0]\", \"$[1]\")[0] / 2", "3.5"),
	/* mistakes: the path is looked at before the text */
	PBAD("$[", "expected a text in quotes, a number, a slice, * or ? at 3"),
	PBAD("abc.", "expected a name or * at 5"),
	PBAD("abc.+", "expected a name or * at 5"),
	PBAD("abc..+", "expected a name or * at 6"),
	PBAD("..", "expected a name or * at 3"),
	PBAD("]", "expected . or [ at 1"),
	PBAD("$a", "expected . or [ at 2"),
	PBAD("[]", "expected a text in quotes, a number, a slice, * or ? at 2"),
	PBAD("[**", "expected ] at 3"),
	PBAD("['x'z]", "expected ] at 5"),
	PBAD("['x", "expected ' at 4"),
	BAD("json_path(\"[]\", \"['\\\\n']\")",
	    "1:1: json_path only \\, ' and \" can stand behind a \\ at 4 in ['\\n']"),
	PBAD("[(x)]", "expected a text in quotes, a number, a slice, * or ? at 2"),
	PBAD("[-x]", "expected a number at 3"),
	PBAD("[0x]", "expected ] at 3"),
	PBAD("[1,", "expected a text in quotes, a number, a slice, * or ? at 4"),
	PBAD("[1:2:-x", "expected a number at 7"),
	PBAD("[2,3x", "expected ] at 5"),
	PBAD("[1,2:3]", "expected ] at 5"),
	PBAD("[?", "expected a path, a number, a text, true, false or null at 3"),
	PBAD("[?(@.x == 3)", "expected ] at 13"),
	PBAD("[?(@.x == trux)]", "expected a path, a number, a text, true, false or null at 11"),
	PBAD("[?(@.x =", "expected ==, !=, <, <=, > or >= at 8"),
	PBAD("[?(@.x == 1.2e)]", "expected a path, a number, a text, true, false or null at 11"),
	PBAD("[?(@.x == 1]", "expected ) at 12"),
	PBAD("[?(1)]", "expected ==, !=, <, <=, > or >= at 5"),
	PBAD("[?true]", "expected ==, !=, <, <=, > or >= at 7"),
	PBAD("[?@.* == 1]", "a path in a filter is of single names and numbers at 6"),
	PBAD("[?@..x]", "a path in a filter is of single names and numbers at 7"),
	PBAD("[?@[0,1]]", "a path in a filter is of single names and numbers at 9"),
	PBAD("[?@[?@.x]]", "a path in a filter is of single names and numbers at 6"),
	PBAD("[?@ =~ /x/]", "expected ==, !=, <, <=, > or >= at 5"),
	PBAD("[?@ in [1]]", "expected ==, !=, <, <=, > or >= at 5"),
	PBAD("[?length(@) == 1]", "expected a path, a number, a text, true, false or null at 3"),
	PBAD("[?@.a + 1 == 2]", "expected ==, !=, <, <=, > or >= at 7"),
	PBAD("[?@ == [1]]", "expected a path, a number, a text, true, false or null at 8"),
	BAD("json_path(\"[\", \"$\")", "1:1: json_path unexpected end of JSON input"),
	BAD("json_path(\"[\", \"$[\")",
	    "1:1: json_path expected a text in quotes, a number, a slice, * or ? at 3 in $["),
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
	{ "json_path(\"[]\", \"$[?", "(", "1:1: json_path more than 512 conditions at " },
	{ "json_path(\"[]\", \"$[?", "!", "1:1: json_path more than 512 conditions at " },
	{ "json_path(\"[]\", \"$[?@", "||@", "1:1: json_path more than 512 conditions at " },
	{ "json_path(\"[]\", \"$[?", "@[?", "1:1: json_path a path in a filter is of " },
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

static const struct unit_test tests[] = {
	TEST_ROWS(test_stdlib_row, rows, name),
	TEST_ROWS(test_stdlib_row, hostile_rows, name),
	TEST(test_depth),
};

TEST_MAIN(tests)
