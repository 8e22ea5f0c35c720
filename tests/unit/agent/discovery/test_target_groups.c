/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of target groups, right and wrong. */
#include <errno.h>
#include <string.h>

#include "agent/discovery/target_groups.h"
#include "tests/support/unit.h"

#define JSON TARGET_GROUPS_JSON
#define YAML TARGET_GROUPS_YAML

static const struct row {
	const char *name;
	enum target_groups_format format;
	const char *text;
	const char *expected; /* name=value of each label, a target a line; or the mistake */
	int error;
} rows[] = {
	{ "two targets", JSON, "[{\"targets\":[\"a:1\",\"b:2\"],\"labels\":{\"x\":\"y\"}}]",
	  "__address__=a:1 from=f x=y\n__address__=b:2 from=f x=y\n", 0 },
	{ "groups in order", JSON, "[{\"targets\":[\"b\"]},{\"targets\":[\"a\"]}]",
	  "__address__=b from=f\n__address__=a from=f\n", 0 },
	{ "no groups", JSON, "[]", "", 0 },
	{ "null", JSON, "null", "", 0 },
	{ "no targets", JSON, "[{\"targets\":[],\"labels\":{}}]", "", 0 },
	{ "members may be absent", JSON, "[{\"labels\":{\"a\":\"b\"}},{}]", "", 0 },
	{ "members may be null", JSON, "[{\"labels\":null,\"targets\":null}]", "", 0 },
	{ "capitals", JSON, "[{\"Targets\":[\"a\"],\"LABELS\":{\"x\":\"y\"}}]",
	  "__address__=a from=f x=y\n", 0 },
	{ "a target's address is its own", JSON,
	  "[{\"targets\":[\"a\"],\"labels\":{\"__address__\":\"b\",\"from\":\"x\"}}]",
	  "__address__=a from=f\n", 0 },
	{ "labels that select", JSON,
	  "[{\"targets\":[\"a\"],\"labels\":{\"__process_pid__\":\"7\",\"_x9\":\"\"}}]",
	  "__address__=a __process_pid__=7 from=f\n", 0 },
	{ "without an address", JSON, "[{\"targets\":[\"\"],\"labels\":{\"x\":\"y\"}}]",
	  "from=f x=y\n", 0 },
	{ "YAML", YAML, "- targets: ['a:1', b:2]\n  labels:\n    x: y\n- targets:\n  - c\n",
	  "__address__=a:1 from=f x=y\n__address__=b:2 from=f x=y\n__address__=c from=f\n", 0 },
	{ "YAML scalars", YAML, "- targets: [1]\n  labels: {a: 1.10, b: true, c: ~}\n",
	  "__address__=1 a=1.10 b=true from=f\n", 0 },
	{ "YAML empty", YAML, "", "", 0 },
	{ "YAML null members", YAML, "- labels:\n  targets:\n", "", 0 },
	{ "YAML merges", YAML, "- &d\n  targets: [a]\n  labels: {x: y}\n- <<: *d\n  targets: [b]\n",
	  "__address__=a from=f x=y\n__address__=b from=f x=y\n", 0 },

	{ "JSON mistake", JSON, "[\n{\"targets\": ]",
	  "line 2, column 13: unexpected token near ']'", -EINVAL },
	{ "JSON end", JSON, "", "this is empty, expected a list of target groups", -EINVAL },
	{ "more than JSON", JSON, "[] []", "line 1, column 4: end of file expected near '['",
	  -EINVAL },
	{ "NUL", JSON, "[{\"targets\":[\"a\\u0000\"]}]",
	  "line 1, column 22: \\u0000 is not allowed without JSON_ALLOW_NUL near '\"a\\u0000\"'",
	  -EINVAL },
	{ "YAML mistake", YAML, "- targets: [a\n",
	  "line 2, column 1: did not find expected ',' or ']'", -EINVAL },
	{ "YAML key twice", YAML, "- targets: [a]\n  targets: [b]\n",
	  "line 2, column 3: key \"targets\" already set in map", -EINVAL },
	{ "no list", JSON, "{}", "this is a mapping, expected a list of target groups", -EINVAL },
	{ "a text", YAML, "x", "this is a text, expected a list of target groups", -EINVAL },
	{ "a number", JSON, "7", "this is a number, expected a list of target groups", -EINVAL },
	{ "null group", JSON, "[{\"targets\":[]},null]", "group 2: nil target group item found",
	  -EINVAL },
	{ "a group that is a text", JSON, "[\"a\"]",
	  "group 1: is a text, expected a mapping with targets and labels", -EINVAL },
	{ "unknown field", JSON, "[{\"target\":[]}]",
	  "group 1: unknown field \"target\", expected targets and labels", -EINVAL },
	{ "YAML capitals", YAML, "- Targets: []",
	  "group 1: unknown field \"Targets\", expected targets and labels", -EINVAL },
	{ "targets as text", YAML, "- targets: a", "group 1: targets is a text, expected a list",
	  -EINVAL },
	{ "target as number", JSON, "[{\"targets\":[\"a\",7]}]",
	  "group 1: target 2 is a number, expected a text", -EINVAL },
	{ "target as null", JSON, "[{\"targets\":[null]}]",
	  "group 1: target 1 is null, expected a text", -EINVAL },
	{ "labels as list", JSON, "[{\"labels\":[]}]",
	  "group 1: labels is a list, expected a mapping", -EINVAL },
	{ "label as number", JSON, "[{\"labels\":{\"a\":1.5}}]",
	  "group 1: label a is a number, expected a text", -EINVAL },
	{ "label as boolean", JSON, "[{\"labels\":{\"a\":true}}]",
	  "group 1: label a is a boolean, expected a text", -EINVAL },
	{ "label as list", YAML, "- labels: {a: [b]}\n",
	  "group 1: label a is a list, expected a text", -EINVAL },
	{ "label name", JSON, "[{},{\"labels\":{\"a-b\":\"c\"}}]",
	  "group 2: \"a-b\" is not a valid label name", -EINVAL },
	{ "label name begins with a digit", JSON, "[{\"labels\":{\"1\":\"c\"}}]",
	  "group 1: \"1\" is not a valid label name", -EINVAL },
	{ "empty label name", JSON, "[{\"labels\":{\"\":\"c\"}}]",
	  "group 1: \"\" is not a valid label name", -EINVAL },
};

static void write_targets(const struct target_list *list, struct buf *out)
{
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < list->items[i]->n; k++)
			(void)buf_printf(out, "%s%s=%s%s", k > 0 ? " " : "",
					 list->items[i]->items[k].name,
					 list->items[i]->items[k].value,
					 k + 1 == list->items[i]->n ? "\n" : "");
}

static const struct label origin = { "from", "f" };

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	int r = target_groups_read(str_from(row->text), row->format, &origin, &why, &list);

	assert_string_equal(buf_str(&why), row->error < 0 ? row->expected : "");
	assert_int_equal(r, row->error);
	write_targets(&list, &text);
	if (r == 0)
		assert_string_equal(buf_str(&text), row->expected);
}

static int read_many(const char *begin, const char *each, size_t n, const char *end,
		     struct buf *why)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)4 << 20);

	(void)buf_append_str(&text, begin);
	for (size_t i = 0; i < n; i++)
		(void)buf_printf(&text, "%s\"l%zu\"%s", i > 0 ? "," : "", i, each);
	(void)buf_append_str(&text, end);
	assert_false(text.failed);
	return target_groups_read((struct str){ buf_str(&text), text.len }, JSON, &origin, why,
				  &list);
}

static void test_limits(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	(void)state;
	assert_int_equal(read_many("[{\"targets\":[", "", TARGET_LIST_MAX, "]}]", &why), 0);
	assert_int_equal(read_many("[{\"targets\":[", "", TARGET_LIST_MAX + 1, "]}]", &why),
			 -E2BIG);
	assert_string_equal(buf_str(&why), "group 1: more than 100000 targets");
	buf_reset(&why);
	assert_int_equal(read_many("[{\"targets\":[\"a\"],\"labels\":{", ":\"v\"",
				   LABELS_RAW_MAX - 2, "}}]", &why),
			 0);
	assert_int_equal(read_many("[{\"targets\":[\"a\"],\"labels\":{", ":\"v\"",
				   LABELS_RAW_MAX - 1, "}}]", &why),
			 -EINVAL);
	assert_string_equal(buf_str(&why), "group 1: more than 510 labels");
}

static const struct unit_test tests[] = {
	TEST(test_limits),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
