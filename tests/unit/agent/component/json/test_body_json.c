/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded arguments and values as JSON: one row a kind of field. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/decode.h"

#include <stdlib.h>

#include "agent/component/json/body_json.h"

struct inner {
	const char *label;
	const char *text;
	int64_t number;
};

static const struct river_field inner_fields[] = {
	RIVER_FIELD_LABEL(struct inner, label),
	RIVER_FIELD_STRING(struct inner, text, "text"),
	RIVER_FIELD_INT(struct inner, number, "number", .def = "7"),
};
static const struct river_schema inner_schema = RIVER_SCHEMA(struct inner, "inner", inner_fields);

struct plain {
	const char *text;
	const char *password;
};

static const struct river_field plain_fields[] = {
	RIVER_FIELD_STRING(struct plain, text, "text"),
	RIVER_FIELD_SECRET(struct plain, password, "password"),
};
static const struct river_schema plain_schema = RIVER_SCHEMA(struct plain, "plain", plain_fields);

struct all {
	const char *string, *needed, *secret;
	bool flag, on;
	int64_t number, duration;
	uint64_t count;
	double ratio;
	struct river_secret maybe;
	struct river_strings list;
	struct river_string_map map;
	struct river_string_maps maps;
	struct river_list_map headers;
	struct river_capsules receivers;
	void *receiver;
	const struct river_value *any;
	struct plain object, block;
	struct plain *pointer;
	struct river_blocks blocks;
};

/* Not in the order of the alphabet: the table's order is what comes out. */
static const struct river_field all_fields[] = {
	RIVER_FIELD_STRING(struct all, string, "string", .def = "given"),
	RIVER_FIELD_STRING(struct all, needed, "needed", .flags = RIVER_REQUIRED, .def = "x"),
	RIVER_FIELD_SECRET(struct all, secret, "secret"),
	RIVER_FIELD_BOOL(struct all, flag, "flag"),
	RIVER_FIELD_BOOL(struct all, on, "on", .def = "true"),
	RIVER_FIELD_INT(struct all, number, "number"),
	RIVER_FIELD_DURATION(struct all, duration, "duration", .def = "15s"),
	RIVER_FIELD_UINT(struct all, count, "count"),
	RIVER_FIELD_FLOAT(struct all, ratio, "ratio"),
	RIVER_FIELD_OPTIONAL_SECRET(struct all, maybe, "maybe"),
	RIVER_FIELD_STRING_LIST(struct all, list, "list"),
	RIVER_FIELD_STRING_MAP(struct all, map, "map"),
	RIVER_FIELD_STRING_MAP_LIST(struct all, maps, "maps"),
	RIVER_FIELD_SECRET_LIST_MAP(struct all, headers, "headers"),
	RIVER_FIELD_CAPSULE_LIST(struct all, receivers, "receivers", "T"),
	RIVER_FIELD_CAPSULE(struct all, receiver, "receiver", "T"),
	RIVER_FIELD_VALUE(struct all, any, "any"),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "ignored", 0),
	RIVER_FIELD_OBJECT(struct all, object, "object", &plain_schema),
	RIVER_FIELD_BLOCK(struct all, block, "block", &plain_schema),
	RIVER_FIELD_BLOCK_PTR(struct all, pointer, "a.pointer", &plain_schema),
	RIVER_FIELD_BLOCKS(struct all, blocks, "blocks", &inner_schema),
};
static const struct river_schema all_schema = RIVER_SCHEMA(struct all, "all", all_fields);

static const struct river_value *lookup(void *ctx, struct river_arena *a, const char *name)
{
	if (strcmp(name, "s") == 0)
		return river_value_secret(a, "hunter2", 7);
	return strcmp(name, "c") == 0 ? river_value_capsule(a, "T", ctx) : NULL;
}

#define ATTR(name, value) "{\"name\":\"" name "\",\"type\":\"attr\",\"value\":" value "}"
#define VALUE(type, value) "{\"type\":\"" type "\",\"value\":" value "}"
#define TEXT(text) VALUE("string", "\"" text "\"")
#define KEY(key, value) "{\"key\":\"" key "\",\"value\":" value "}"
#define HIDDEN VALUE("capsule", "\"(secret)\"")
#define T_CAPSULE VALUE("capsule", "\"capsule(\\\"T\\\")\"")
#define BLOCK(name, rest) "{\"name\":\"" name "\",\"type\":\"block\"," rest "}"
#define PLAIN_OBJECT(text, password) \
	VALUE("object", "[" KEY("text", text) "," KEY("password", password) "]")

/* `needed` is given in each and first. */
static const struct row {
	const char *name, *text, *expected;
} rows[] = {
	{ "nothing", "", "" },
	{ "all defaults",
	  "string = \"given\"\nflag = false\non = true\nnumber = 0\nduration = \"15000ms\"\ncount "
	  "= 0\nratio = 0\n",
	  "" },
	{ "string", "string = \"a\\\"\u00e4\"", ATTR("string", TEXT("a\\\"\u00e4")) },
	{ "empty where the default is not", "string = \"\"", ATTR("string", TEXT("")) },
	{ "secret", "secret = \"hunter2\"", ATTR("secret", HIDDEN) },
	{ "secret of a secret", "secret = s", ATTR("secret", HIDDEN) },
	{ "empty secret", "secret = \"\"", "" },
	{ "bool", "flag = true\non = false",
	  ATTR("flag", VALUE("bool", "true")) "," ATTR("on", VALUE("bool", "false")) },
	{ "int", "number = -5", ATTR("number", VALUE("number", "-5")) },
	{ "large int", "number = 9007199254740993",
	  ATTR("number", VALUE("number", "9007199254740993")) },
	{ "uint", "count = 5", ATTR("count", VALUE("number", "5")) },
	{ "float", "ratio = 0.5", ATTR("ratio", VALUE("number", "0.5")) },
	{ "whole float", "ratio = 3.0", ATTR("ratio", VALUE("number", "3")) },
	{ "duration", "duration = \"90s\"", ATTR("duration", TEXT("1m30s")) },
	{ "no duration", "duration = \"0s\"", ATTR("duration", TEXT("0s")) },
	{ "optional secret", "maybe = s", ATTR("maybe", HIDDEN) },
	{ "no optional secret", "maybe = \"a\"", ATTR("maybe", VALUE("capsule", "\"\\\"a\\\"\"")) },
	{ "list", "list = [\"b\", \"a\"]",
	  ATTR("list", VALUE("array", "[" TEXT("b") "," TEXT("a") "]")) },
	{ "empty list", "list = []", ATTR("list", VALUE("array", "[]")) },
	{ "map, sorted", "map = {\"b\" = \"2\", \"a\" = \"1\"}",
	  ATTR("map", VALUE("object", "[" KEY("a", TEXT("1")) "," KEY("b", TEXT("2")) "]")) },
	{ "maps", "maps = [{\"a\" = \"1\"}, {}]",
	  ATTR("maps", VALUE("array", "[" VALUE("object", "[" KEY("a", TEXT("1")) "]") "," VALUE(
					      "object", "[]") "]")) },
	{ "lists of secrets", "headers = {\"X\" = [\"hunter2\", s]}",
	  ATTR("headers",
	       VALUE("object", "[" KEY("X", VALUE("array", "[" HIDDEN "," HIDDEN "]")) "]")) },
	{ "capsules", "receivers = [c, null]",
	  ATTR("receivers", VALUE("array", "[" T_CAPSULE "," VALUE("null", "null") "]")) },
	{ "capsule", "receiver = c", ATTR("receiver", T_CAPSULE) },
	{ "no capsule", "receiver = null", "" },
	{ "any value", "any = [1, null, {\"b\" = s, \"a\" = 1.5}, string.trim]",
	  ATTR("any",
	       VALUE("array",
		     "[" VALUE("number", "1") "," VALUE("null", "null") "," VALUE(
			     "object", "[" KEY("a", VALUE("number", "1.5")) "," KEY(
					       "b", HIDDEN) "]") "," VALUE("function",
									   "\"function\"") "]")) },
	{ "any value that is null", "any = null", "" },
	{ "ignored", "ignored = 1", "" },
	{ "object, in the order of its table", "object = {password = \"hunter2\", text = \"t\"}",
	  ATTR("object", PLAIN_OBJECT(TEXT("t"), HIDDEN)) },
	{ "block", "block {\npassword = \"hunter2\"\n}",
	  BLOCK("block", "\"body\":[" ATTR("password", HIDDEN) "]") },
	{ "block that is not there", "", "" },
	{ "dotted block", "a.pointer {\ntext = \"t\"\n}",
	  BLOCK("a.pointer", "\"body\":[" ATTR("text", TEXT("t")) "]") },
	{ "empty block", "a.pointer { }", BLOCK("a.pointer", "\"body\":[]") },
	{ "blocks with labels", "blocks \"l\" {\nnumber = 7\n}\nblocks \"m\" {\nnumber = 8\n}",
	  BLOCK("blocks", "\"label\":\"l\",\"body\":[]") "," BLOCK(
		  "blocks",
		  "\"label\":\"m\",\"body\":[" ATTR("number", VALUE("number", "8")) "]") },
	{ "the table's order", "ratio = 2\nstring = \"s\"\nblock {\ntext = \"t\"\n}\nflag = true",
	  ATTR("string", TEXT("s")) "," ATTR("flag", VALUE("bool", "true")) "," ATTR(
		  "ratio",
		  VALUE("number", "2")) "," BLOCK("block",
						  "\"body\":[" ATTR("text", TEXT("t")) "]") },
};

#define NEEDED ATTR("needed", TEXT("x"))

/* `needed` stands behind `string` in the table. */
static void put_expected(struct buf *out, const char *expected)
{
	static const char string[] = "{\"name\":\"string\"";
	const char *rest = expected;

	if (strncmp(expected, string, strlen(string)) == 0)
		rest = strstr(expected, "}}") + 2;
	(void)buf_printf(out, "[%.*s%s%s%s%s]", (int)(rest - expected), expected,
			 rest > expected ? "," : "", NEEDED, *rest && *rest != ',' ? "," : "",
			 rest);
}

static void assert_dumps(json_t *json, const char *expected)
{
	_cleanup_free_ char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	json_decref(json);
	assert_non_null(text);
	assert_string_equal(text, expected);
}

static void test_body(void **state)
{
	const struct row *row = *state;
	int receiver;
	const struct river_scope scope = { .lookup = lookup, .ctx = &receiver };
	_cleanup_buf_ struct buf text = BUF_INIT(65536);
	_cleanup_buf_ struct buf expected = BUF_INIT(65536);
	struct decoded d;
	struct all all;

	(void)buf_printf(&text, "needed = \"x\"\n%s\n", row->text);
	decode(&d, &all_schema, &scope, buf_str(&text), &all);
	assert_string_equal(buf_str(&d.messages), "");
	put_expected(&expected, row->expected);
	assert_dumps(body_json(&all_schema, &all), buf_str(&expected));
	decoded_fini(&d);
}

static void test_numbers(void **state)
{
	struct river_arena arena;

	(void)state;
	river_arena_init(&arena, 65536);
	assert_dumps(value_json(river_value_float(&arena, __builtin_inf())),
		     VALUE("number", "null"));
	assert_dumps(value_json(river_value_float(&arena, __builtin_nan(""))),
		     VALUE("number", "null"));
	assert_dumps(value_json(river_value_float(&arena, -0.25)), VALUE("number", "-0.25"));
	assert_dumps(value_json(NULL), VALUE("null", "null"));
	river_arena_fini(&arena);
}

static void test_text(void **state)
{
	(void)state;
	assert_dumps(text_json("a\xff\xc3", 3), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_dumps(text_json(NULL, 0), "\"\"");
	assert_dumps(text_json("a\0b", 3), "\"a\\u0000b\"");
}

static void test_objects(void **state)
{
	struct river_arena arena;
	struct river_member members[2];

	(void)state;
	river_arena_init(&arena, 65536);
	members[0] = (struct river_member){ "b", river_value_bool(&arena, true) };
	members[1] = (struct river_member){ "a", river_value_secret(&arena, "hunter2", 7) };
	assert_dumps(body_json_of_object(river_value_object(&arena, members, 2)),
		     "[" ATTR("a", HIDDEN) "," ATTR("b", VALUE("bool", "true")) "]");
	assert_dumps(body_json_of_object(NULL), "[]");
	assert_dumps(body_json_of_object(river_value_bool(&arena, true)), "[]");
	river_arena_fini(&arena);
}

static const struct unit_test tests[] = {
	TEST(test_numbers),
	TEST(test_text),
	TEST(test_objects),
	TEST_ROWS(test_body, rows, name),
};

TEST_MAIN(tests)
