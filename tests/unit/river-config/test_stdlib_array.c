/* SPDX-License-Identifier: Apache-2.0 */
/* array.*, and how far a function must have come to be used. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/stdlib_test.h"

static const struct row rows[] = {
	OK("array.concat()", "[]"),
	OK("array.concat([1])", "[1]"),
	OK("array.concat([true, \"foo\"], [], [false, 1])", "[true, \"foo\", false, 1]"),
	OK("concat([[1]], [[2]])", "[[1], [2]]"),
	BAD("array.concat([1], {})", "1:19: {} should be array, got object"),
	BAD("array.concat(null)", "1:14: null should be array, got null"),
	/* combine_maps */
	OK("array.combine_maps([{\"a\" = \"a1\", \"b\" = \"b1\"}], [{\"a\" = \"a1\", \"c\" = "
	   "\"c1\"}], [\"a\"])",
	   "[{a = \"a1\", b = \"b1\", c = \"c1\"}]"),
	OK("array.combine_maps([{a = 1, b = 2}], [{a = 1.0, b = \"3\"}], [\"a\"])",
	   "[{a = 1, b = \"3\"}]"),
	OK("array.combine_maps([{a = 1}], [{a = \"1\"}], [\"a\"])", "[]"),
	OK("array.combine_maps([{l = \"q\", p = \"a\"}, {l = \"q\", p = \"b\"}], "
	   "[{l = \"q\", p = \"c\"}, {l = \"q\", p = \"d\"}], [\"l\"])",
	   "[{l = \"q\", p = \"c\"}, {l = \"q\", p = \"d\"}, {l = \"q\", p = \"c\"}, {l = \"q\", p "
	   "= \"d\"}]"),
	OK("array.combine_maps([{a = 1, b = 3}, {b = 3}], [{a = 1}, {a = 1, b = 3, n = 2}], "
	   "[\"a\", \"b\"])",
	   "[{a = 1, b = 3, n = 2}]"),
	OK("array.combine_maps([{a = [1, {x = 1}]}], [{a = [1, {x = 1}], c = 1}], [\"a\"])",
	   "[{a = [1, {x = 1}], c = 1}]"),
	OK("array.combine_maps([], [{a = 1}], [\"a\"])", "[]"),
	OK("array.combine_maps([{a = secret}], [{a = secret, b = 1}], [\"a\"])",
	   "[{a = \"(secret)\", b = 1}]"),
	OK("array.combine_maps([{a = 1}, {d = 2}], [{a = 2}, {a = 1, x = 1}, {a = 3}], [\"a\"], "
	   "true)",
	   "[{a = 1, x = 1}, {d = 2}]"),
	OK("array.combine_maps([{a = 1}], [], [\"a\"], true)", "[{a = 1}]"),
	OK("array.combine_maps([{a = 1}], [{a = 2}], [\"a\"], false)", "[]"),
	BAD("array.combine_maps([{a = 1}], [{a = 1}], [])",
	    "1:42: [] combine_maps: merge conditions must not be empty"),
	BAD("array.combine_maps([], [])", "1:1: combine_maps: expected 3 arguments, got 2"),
	BAD("array.combine_maps()", "1:1: combine_maps: expected 3 arguments, got 0"),
	BAD("array.combine_maps([], [], [\"a\"], true, 1)",
	    "1:1: combine_maps: expected 3 arguments, got 5"),
	BAD("array.combine_maps([{a = 1}], \"a\", [\"a\"])",
	    "1:31: \"a\" should be array, got string"),
	BAD("array.combine_maps([{a = 1}], [\"a\"], [\"a\"])",
	    "1:32: \"a\" should be object, got string"),
	BAD("array.combine_maps(encoding.from_json(\"[1]\"), [], [\"a\"])",
	    "1:20: encoding.from_json(\"[1]\")[0] should be object, got number"),
	BAD("array.combine_maps([], [], \"a\")", "1:28: \"a\" should be array, got string"),
	BAD("array.combine_maps([], [], [1])", "1:29: 1 should be string, got number"),
	BAD("array.combine_maps([], [], [\"a\"], 1)", "1:35: 1 should be bool, got number"),
	/* group_by */
	OK("array.group_by([{t = \"b\", n = 1}, {t = \"a\", n = 2}, {t = \"b\", n = 3}], \"t\", "
	   "true)",
	   "[{items = [{n = 1, t = \"b\"}, {n = 3, t = \"b\"}], t = \"b\"}, {items = [{n = 2, t = "
	   "\"a\"}], t = \"a\"}]"),
	OK("array.group_by([{t = \"b\"}, {n = 2}], \"t\", true)",
	   "[{items = [{t = \"b\"}], t = \"b\"}]"),
	OK("array.group_by([{n = 2}, {t = \"\"}], \"t\", false)",
	   "[{items = [{n = 2}, {t = \"\"}], t = \"\"}]"),
	OK("array.group_by([], \"t\", false)", "[]"),
	OK("array.group_by([{items = \"x\"}], \"items\", true)", "[{items = [{items = \"x\"}]}]"),
	BAD("array.group_by([], \"t\")", "1:1: group_by: expected 3 arguments, got 2"),
	BAD("array.group_by({}, \"t\", true)", "1:16: {} should be array, got object"),
	BAD("array.group_by([], 1, true)", "1:20: 1 should be string, got number"),
	BAD("array.group_by([], \"t\", 1)", "1:25: 1 should be bool, got number"),
	BAD("array.group_by([1], \"t\", true)", "1:17: 1 should be object, got number"),
	BAD("array.group_by([{t = 5}], \"t\", true)", "1:22: 5 should be string, got number"),
	BAD("array.group_by(encoding.from_json(\"[{\\\"t\\\":5}]\"), \"t\", true)",
	    "1:16: encoding.from_json(\"[{\\\"t\\\":5}]\")[0].t should be string, got number"),
};

static const struct {
	enum river_stability stability;
	const char *input;
	const char *expected;
} stability_rows[] = {
	{ RIVER_STABILITY_GENERALLY_AVAILABLE, "array.combine_maps([], [], [\"a\"])",
	  "1:1: array.combine_maps is at stability level \"experimental\", which is below the "
	  "minimum "
	  "allowed stability level \"generally-available\". Use --stability.level command-line "
	  "flag to "
	  "enable \"experimental\" features\n" },
	{ RIVER_STABILITY_PUBLIC_PREVIEW, "[array.group_by([], \"a\", true)]",
	  "1:2: array.group_by is at stability level \"experimental\", which is below the minimum "
	  "allowed stability level \"public-preview\". Use --stability.level command-line flag to "
	  "enable \"experimental\" features\n" },
	{ RIVER_STABILITY_EXPERIMENTAL, "array.group_by([], \"a\", true)", "[]" },
	{ RIVER_STABILITY_GENERALLY_AVAILABLE, "array.concat()", "[]" },
};

static void test_stability(void **state)
{
	struct output *out = malloc(sizeof(*out));

	(void)state;
	assert_non_null(out);
	for (size_t i = 0; i < ARRAY_LEN(stability_rows); i++) {
		stdlib_eval(stability_rows[i].input, TEST_ARENA_BYTES, stability_rows[i].stability,
			    out);
		assert_string_equal(out->data, stability_rows[i].expected);
	}
	free(out);
}

/* 4000 zeros. */
#define MANY "%01000[1]d%01000[1]d%01000[1]d%01000[1]d"

/* Lists that would be compared for minutes are refused at once. */
static void test_too_many_comparisons(void **state)
{
	struct output *out = malloc(sizeof(*out));

	(void)state;
	assert_non_null(out);
	stdlib_eval("array.combine_maps(encoding.from_json(string.replace(string.format(\"[" MANY
		    "{}]\", 0), \"0\", \"{},\")), encoding.from_json(string.replace(string.format("
		    "\"[" MANY "{}]\", 0), \"0\", \"{},\")), [\"a\"])",
		    TEST_ARENA_BYTES, RIVER_STABILITY_EXPERIMENTAL, out);
	assert_string_equal(
		out->data,
		"1:1: array.combine_maps combine_maps: more than 10000000 comparisons\n");
	free(out);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_stdlib_row, rows, name),
	TEST(test_stability),
	TEST(test_too_many_comparisons),
};

TEST_MAIN(tests)
