/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two decoded blocks hold the same arguments: each kind, decoded from two texts. */
#include <string.h>

#include "agent/component/args_equal.h"
#include "agent/component/target_maps.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct inner {
	const char *name;
	int64_t n;
};

struct all {
	const char *string, *secret;
	bool boolean;
	int64_t integer, duration;
	uint64_t natural;
	double real;
	struct river_strings strings;
	struct river_string_map map;
	struct river_string_maps maps;
	struct river_foreigns targets;
	void *capsule;
	struct river_capsules capsules;
	struct river_secret optional;
	struct river_list_map lists;
	const struct river_value *value;
	struct inner object;
	struct inner block;
	struct inner *pointer;
	struct river_blocks blocks;
};

static const struct river_field inner_fields[] = {
	RIVER_FIELD_STRING(struct inner, name, "name"),
	RIVER_FIELD_INT(struct inner, n, "n"),
};
static const struct river_schema inner_schema = RIVER_SCHEMA(struct inner, "inner", inner_fields);

static const struct river_field all_fields[] = {
	RIVER_FIELD_STRING(struct all, string, "string"),
	RIVER_FIELD_SECRET(struct all, secret, "secret"),
	RIVER_FIELD_BOOL(struct all, boolean, "boolean"),
	RIVER_FIELD_INT(struct all, integer, "integer"),
	RIVER_FIELD_UINT(struct all, natural, "natural"),
	RIVER_FIELD_DURATION(struct all, duration, "duration"),
	RIVER_FIELD_FLOAT(struct all, real, "real"),
	RIVER_FIELD_STRING_LIST(struct all, strings, "strings"),
	RIVER_FIELD_STRING_MAP(struct all, map, "map"),
	RIVER_FIELD_STRING_MAP_LIST(struct all, maps, "maps"),
	TARGETS_FIELD(struct all, targets, "targets"),
	RIVER_FIELD_CAPSULE(struct all, capsule, "capsule", "C"),
	RIVER_FIELD_CAPSULE_LIST(struct all, capsules, "capsules", "C"),
	RIVER_FIELD_OPTIONAL_SECRET(struct all, optional, "optional"),
	RIVER_FIELD_SECRET_LIST_MAP(struct all, lists, "lists"),
	RIVER_FIELD_VALUE(struct all, value, "value"),
	RIVER_FIELD_OBJECT(struct all, object, "object", &inner_schema),
	RIVER_FIELD_BLOCK(struct all, block, "block", &inner_schema),
	RIVER_FIELD_BLOCK_PTR(struct all, pointer, "pointer", &inner_schema),
	RIVER_FIELD_BLOCKS(struct all, blocks, "blocks", &inner_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "ignored", 0),
};
static const struct river_schema all_schema = RIVER_SCHEMA(struct all, "all", all_fields);

static const struct row {
	const char *name, *a, *b;
	bool expected;
} rows[] = {
	{ "nothing", "", "", true },
	{ "same string", "string = \"a\"", "string = \"a\"", true },
	{ "other string", "string = \"a\"", "string = \"b\"", false },
	{ "string or none", "string = \"a\"", "", false },
	{ "empty string is none", "string = \"\"", "", true },
	{ "same secret", "secret = \"a\"", "secret = \"a\"", true },
	{ "other secret", "secret = \"a\"", "secret = \"b\"", false },
	{ "same bool", "boolean = true", "boolean = true", true },
	{ "other bool", "boolean = true", "boolean = false", false },
	{ "same int", "integer = 1", "integer = 2 - 1", true },
	{ "other int", "integer = 1", "integer = 2", false },
	{ "other uint", "natural = 1", "natural = 2", false },
	{ "same duration", "duration = \"60s\"", "duration = \"1m\"", true },
	{ "other duration", "duration = \"61s\"", "duration = \"1m\"", false },
	{ "same float", "real = 0.5", "real = 0.25 + 0.25", true },
	{ "other float", "real = 0.5", "real = 0.25", false },
	{ "same list", "strings = [\"a\", \"b\"]", "strings = [\"a\", \"b\"]", true },
	{ "other order", "strings = [\"a\", \"b\"]", "strings = [\"b\", \"a\"]", false },
	{ "longer list", "strings = [\"a\"]", "strings = [\"a\", \"b\"]", false },
	{ "same map", "map = { \"b\" = \"2\", \"a\" = \"1\" }",
	  "map = { \"a\" = \"1\", \"b\" = \"2\" }", true },
	{ "other key", "map = { \"a\" = \"1\" }", "map = { \"b\" = \"1\" }", false },
	{ "other value", "map = { \"a\" = \"1\" }", "map = { \"a\" = \"2\" }", false },
	{ "larger map", "map = { \"a\" = \"1\" }", "map = { \"a\" = \"1\", \"b\" = \"2\" }",
	  false },
	{ "same maps", "maps = [{ \"a\" = \"1\" }, {}]", "maps = [{ \"a\" = \"1\" }, {}]", true },
	{ "other maps", "maps = [{ \"a\" = \"1\" }]", "maps = [{ \"a\" = \"2\" }]", false },
	{ "more maps", "maps = [{ \"a\" = \"1\" }]", "maps = [{ \"a\" = \"1\" }, {}]", false },
	{ "same empty maps", "maps = []", "maps = []", true },
	{ "empty maps or none", "maps = []", "", false },
	{ "same targets", "targets = [{ \"a\" = \"1\" }, {}]", "targets = [{ \"a\" = \"1\" }, {}]",
	  true },
	{ "an empty label is none", "targets = [{ \"a\" = \"1\", \"b\" = \"\" }]",
	  "targets = [{ \"a\" = \"1\" }]", true },
	{ "other targets", "targets = [{ \"a\" = \"1\" }]", "targets = [{ \"a\" = \"2\" }]",
	  false },
	{ "more targets", "targets = [{ \"a\" = \"1\" }]", "targets = [{ \"a\" = \"1\" }, {}]",
	  false },
	{ "empty targets or none", "targets = []", "", false },
	{ "same capsule", "capsule = one", "capsule = one", true },
	{ "other capsule", "capsule = one", "capsule = two", false },
	{ "null capsule", "capsule = one", "capsule = null", false },
	{ "same capsules", "capsules = [one, two]", "capsules = [one, two]", true },
	{ "other capsules", "capsules = [one, two]", "capsules = [two, one]", false },
	{ "fewer capsules", "capsules = [one]", "capsules = []", false },
	{ "same empty capsules", "capsules = []", "capsules = []", true },
	{ "same value", "value = { a = [1, \"x\"] }", "value = { a = [1, \"x\"] }", true },
	{ "other value", "value = { a = [1, \"x\"] }", "value = { a = [1, \"y\"] }", false },
	{ "value or none", "value = 1", "", false },
	{ "same optional secret", "optional = \"a\"", "optional = \"a\"", true },
	{ "other optional secret", "optional = \"a\"", "optional = \"b\"", false },
	{ "secret or not", "optional = hidden", "optional = \"a\"", false },
	{ "same lists", "lists = { a = [\"1\"] }", "lists = { a = [\"1\"] }", true },
	{ "other key of lists", "lists = { a = [\"1\"] }", "lists = { b = [\"1\"] }", false },
	{ "other item of lists", "lists = { a = [\"1\"] }", "lists = { a = [\"2\"] }", false },
	{ "more lists", "lists = { a = [] }", "lists = { a = [], b = [] }", false },
	{ "same object", "object = { n = 1 }", "object = { n = 1 }", true },
	{ "other object", "object = { n = 1 }", "object = { n = 2 }", false },
	{ "same block", "block { n = 1 }", "block { n = 1 }", true },
	{ "other block", "block { n = 1 }", "block { n = 2 }", false },
	{ "block of defaults", "block { }", "", true },
	{ "same pointer", "pointer { n = 1 }", "pointer { n = 1 }", true },
	{ "other pointer", "pointer { n = 1 }", "pointer { n = 2 }", false },
	{ "pointer or none", "pointer { }", "", false },
	{ "same blocks", "blocks { n = 1 }\nblocks { n = 2 }", "blocks { n = 1 }\nblocks { n = 2 }",
	  true },
	{ "other blocks", "blocks { n = 1 }\nblocks { n = 2 }",
	  "blocks { n = 1 }\nblocks { n = 3 }", false },
	{ "more blocks", "blocks { n = 1 }\nblocks { n = 2 }", "blocks { n = 1 }", false },
	{ "what is ignored", "ignored = 1", "ignored = 2", true },
};

static const struct river_value *lookup(void *ctx, struct river_arena *arena, const char *name)
{
	char *capsules = ctx;

	if (strcmp(name, "one") == 0)
		return river_value_capsule(arena, "C", &capsules[0]);
	if (strcmp(name, "hidden") == 0)
		return river_value_optional_secret(arena, "a", 1, true);
	return strcmp(name, "two") == 0 ? river_value_capsule(arena, "C", &capsules[1]) : NULL;
}

static void decode(const char *text, struct river_arena *arena, char *capsules, struct all *ret)
{
	const struct river_scope scope = { .lookup = lookup, .ctx = capsules };
	const struct river_file *file = NULL;
	const struct river_range nowhere = { 0 };
	struct river_diags diags;

	river_diags_init(&diags, arena);
	assert_int_equal(river_parse("a", text, strlen(text), arena, &diags, &file), RIVER_OK);
	assert_int_equal(
		river_decode_body(&file->body, &nowhere, &all_schema, &scope, arena, &diags, ret),
		RIVER_OK);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct river_arena arenas[2];
	struct all a, b;
	char capsules[2];

	/* Two arenas, as two loads have. */
	river_arena_init(&arenas[0], (size_t)1 << 20);
	river_arena_init(&arenas[1], (size_t)1 << 20);
	decode(row->a, &arenas[0], capsules, &a);
	decode(row->b, &arenas[1], capsules, &b);
	assert_int_equal(args_equal(&all_schema, &a, &b), row->expected);
	assert_int_equal(args_equal(&all_schema, &b, &a), row->expected);
	assert_true(args_equal(&all_schema, &a, &a));
	river_arena_fini(&arenas[0]);
	river_arena_fini(&arenas[1]);
}

/* A kind that this table forgets would be compared by nobody. */
static void test_every_kind_is_here(void **state)
{
	bool seen[RIVER_KIND_MAX] = { [RIVER_KIND_LABEL] = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_fields); i++)
		seen[all_fields[i].kind] = true;
	for (size_t i = 0; i < RIVER_KIND_MAX; i++)
		assert_true(seen[i]);
}

static const struct unit_test tests[] = {
	TEST(test_every_kind_is_here),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
