/* SPDX-License-Identifier: Apache-2.0 */
/* YAML becomes the tree that JSON would be, or a mistake with its place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/yaml_json.h"
#include "river-config/yaml_node.h"
#include "tests/support/unit.h"

static const struct row {
	const char *name, *yaml;
	const char *expected; /* JSON, or the mistake */
	int error;
} rows[] = {
	{ "empty", "", "null", 0 },
	{ "comments only", "# nothing\n", "null", 0 },
	{ "one scalar", "text", "\"text\"", 0 },
	{ "scalars keep their text", "[1.10, 0x10, true, no, 2026-01-01, 'a', \"b\\n\"]",
	  "[\"1.10\",\"0x10\",\"true\",\"no\",\"2026-01-01\",\"a\",\"b\\n\"]", 0 },
	{ "nothing is null", "[~, null, Null, NULL, ]", "[null,null,null,null]", 0 },
	{ "nothing of a key", "a:\nb: ''\n", "{\"a\":null,\"b\":\"\"}", 0 },
	{ "quoted null is text", "['~', \"null\", !!str null]", "[\"~\",\"null\",\"null\"]", 0 },
	{ "nested", "a:\n- b: c\n  d: [e, {f: g}]\n",
	  "{\"a\":[{\"b\":\"c\",\"d\":[\"e\",{\"f\":\"g\"}]}]}", 0 },
	{ "block texts", "a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{\"a\":\"x\\ny\\n\",\"b\":\"x y\"}",
	  0 },
	{ "JSON is YAML", "{\"a\": [\"b\", null]}", "{\"a\":[\"b\",null]}", 0 },
	{ "alias", "a: &x [1, 2]\nb: *x\n", "{\"a\":[\"1\",\"2\"],\"b\":[\"1\",\"2\"]}", 0 },
	{ "the last anchor of a name", "[&x a, &x b, *x]", "[\"a\",\"b\",\"b\"]", 0 },
	{ "merged", "a: &x {k: v, w: 1}\nb: {k: own, <<: *x}\n",
	  "{\"a\":{\"k\":\"v\",\"w\":\"1\"},\"b\":{\"k\":\"own\",\"w\":\"1\"}}", 0 },
	{ "merged before", "a: &x {k: v}\nb:\n  <<: *x\n  k: own\n",
	  "{\"a\":{\"k\":\"v\"},\"b\":{\"k\":\"own\"}}", 0 },
	{ "merged list", "- &x {a: 1}\n- &y {a: 2, b: 2}\n- {<<: [*x, *y]}\n",
	  "[{\"a\":\"1\"},{\"a\":\"2\",\"b\":\"2\"},{\"a\":\"1\",\"b\":\"2\"}]", 0 },
	{ "quoted << is a key", "\"<<\": 1", "{\"<<\":\"1\"}", 0 },
	{ "the first document", "a\n---\nb: [\n", "\"a\"", 0 },
	{ "UTF-8", "ü: 日本", "{\"ü\":\"日本\"}", 0 },

	{ "not closed", "a: [1\n", "line 2, column 1: did not find expected ',' or ']'", -EINVAL },
	{ "tab", "a:\n\t- b", "line 2, column 1: found character that cannot start any token",
	  -EINVAL },
	{ "key twice", "a: 1\nb: 2\na: 3\n", "line 3, column 1: key \"a\" already set in map",
	  -EINVAL },
	{ "list as a key", "? [a]\n: b\n", "line 1, column 3: a key must be a text", -EINVAL },
	{ "unknown anchor", "a: *x", "line 1, column 4: unknown anchor 'x' referenced", -EINVAL },
	{ "holds itself", "&a [*a]", "line 1, column 1: more than 64 levels", -E2BIG },
	{ "merges a text", "<<: a",
	  "line 1, column 1: \"<<\" merges mappings, or lists of them, only", -EINVAL },
	{ "merges a list of texts", "<<: [a]",
	  "line 1, column 1: \"<<\" merges mappings, or lists of them, only", -EINVAL },
	{ "NUL", "a: \"x\\0\"", "line 1, column 4: a text holds a NUL", -EINVAL },
	{ "NUL in a key", "\"x\\0\": a", "line 1, column 1: a text holds a NUL", -EINVAL },
	{ "no UTF-8", "a: \xff", "line 1, column 1: invalid leading UTF-8 octet", -EINVAL },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	json_t *json = NULL;
	char *text;

	assert_int_equal(yaml_to_json(row->yaml, strlen(row->yaml), &why, &json), row->error);
	if (row->error < 0) {
		assert_null(json);
		assert_string_equal(buf_str(&why), row->expected);
		return;
	}
	text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
	assert_string_equal(text, row->expected);
	free(text);
	json_decref(json);
}

static int read_text(const struct buf *text, struct buf *why)
{
	json_t *json = NULL;
	int r;

	assert_false(text->failed);
	r = yaml_to_json(buf_str(text), text->len, why, &json);
	json_decref(json);
	return r;
}

static int read_nested(size_t depth, struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1000);

	for (size_t i = 0; i < depth; i++)
		(void)buf_append_char(&text, '[');
	for (size_t i = 0; i < depth; i++)
		(void)buf_append_char(&text, ']');
	return read_text(&text, why);
}

static void test_depth(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	(void)state;
	assert_int_equal(read_nested(YAML_JSON_MAX_DEPTH, &why), 0);
	assert_int_equal(read_nested(YAML_JSON_MAX_DEPTH + 1, &why), -E2BIG);
	assert_string_equal(buf_str(&why), "line 1, column 65: more than 64 levels");
}

/* Each level is ten of the one before: seven are ten million. */
static void test_nodes(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	(void)state;
	(void)buf_append_str(&text, "- &a0 x\n");
	for (int i = 1; i < 8; i++) {
		(void)buf_printf(&text, "- &a%d [", i);
		for (int k = 0; k < 10; k++)
			(void)buf_printf(&text, "*a%d,", i - 1);
		(void)buf_append_str(&text, "]\n");
	}
	assert_int_equal(read_text(&text, &why), -E2BIG);
	assert_non_null(strstr(buf_str(&why), "more than 1000000 values"));
}

static int read_anchors(size_t n, struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1000000);

	for (size_t i = 0; i < n; i++)
		(void)buf_printf(&text, "- &a%zu x\n", i);
	return read_text(&text, why);
}

static void test_anchors(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	(void)state;
	assert_int_equal(read_anchors(RIVER_YAML_ANCHORS_MAX, &why), 0);
	assert_int_equal(read_anchors(RIVER_YAML_ANCHORS_MAX + 1, &why), -EINVAL);
	assert_string_equal(buf_str(&why), "line 10001, column 3: more than 10000 anchors");
}

static const struct unit_test tests[] = {
	TEST(test_depth),
	TEST(test_nodes),
	TEST(test_anchors),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
