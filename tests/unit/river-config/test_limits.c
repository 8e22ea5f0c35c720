/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings: depth in every direction, memory at every single allocation, size of a file; and what
 * must not cost too much. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A text of `n` pieces between a head and a tail. */
static char *repeat(const char *head, const char *piece, size_t n, const char *tail)
{
	size_t head_len = strlen(head), piece_len = strlen(piece);
	char *text = malloc(head_len + n * piece_len + strlen(tail) + 1);

	assert_non_null(text);
	memcpy(text, head, head_len);
	for (size_t i = 0; i < n; i++)
		memcpy(text + head_len + i * piece_len, piece, piece_len);
	strcpy(text + head_len + n * piece_len, tail);
	return text;
}

struct depth_row {
	const char *name;
	const char *head;
	const char *piece;
	const char *tail;
};

static const struct depth_row depth_rows[] = {
	{ "parentheses", "a = ", "(", "" },
	{ "arrays", "a = ", "[", "" },
	{ "objects", "a = ", "{a = ", "" },
	{ "unary", "a = ", "!", "true" },
	{ "minus", "a = ", "-", "1" },
	{ "sums", "a = 1", " + 1", "" },
	{ "powers", "a = 1", " ^ 1", "" },
	{ "members", "a = b", ".c", "" },
	{ "indexes", "a = b", "[0]", "" },
	{ "calls", "a = b", "()", "" },
	{ "nested calls", "a = ", "b(", "" },
	{ "blocks", "", "a {\n", "" },
	{ "misplaced blocks", "", "a = b {\n", "" },
};

static int touch(void *ctx, const struct river_reference *ref)
{
	*(size_t *)ctx += ref->n_parts;
	return 0;
}

static void test_too_deep(void **state)
{
	const struct depth_row *row = *state;
	char *text = repeat(row->head, row->piece, 100000, row->tail);
	const struct river_file *file = NULL;
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;
	size_t n_parts = 0;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", text, strlen(text), &arena, &diags, &file),
			 RIVER_INVALID);
	free(text);
	output_diags(&out, &diags);
	assert_non_null(strstr(out.data, "nesting is deeper than 512 levels\n"));
	assert_int_equal(diags.n_items, 1);
	assert_int_equal(river_body_references(&file->body, touch, &n_parts), 0);
	river_arena_fini(&arena);
}

/* Just below the ceiling everything works, and no walk runs out of stack. */
static const struct depth_row deep_enough_rows[] = {
	{ "deep enough, parentheses", "", "(", ")" },
	{ "deep enough, arrays", "", "[", "]" },
	{ "deep enough, minus", "", "-", "" },
};

static void test_deep_enough(void **state)
{
	const struct depth_row *row = *state;
	char *tail = repeat("1", row->tail, RIVER_DEPTH_MAX - 2, "");
	char *text = repeat("", row->piece, RIVER_DEPTH_MAX - 2, tail);
	const struct river_value *value, *copy;
	struct river_scope scope = { 0 };
	struct output out = { .len = 0 };
	const struct river_expr *e;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse_expr("t", text, strlen(text), &arena, &diags, &e), RIVER_OK);
	assert_int_equal(river_eval(e, &scope, &arena, &diags, &value), RIVER_OK);
	copy = river_value_copy(&arena, value);
	assert_true(river_value_equal(copy, value));
	assert_int_equal(river_value_write(value, RIVER_LAYOUT_LINES, &arena, output_write, &out),
			 0);
	assert_int_equal(river_expr_write(e, &arena, output_write, &out), 0);
	assert_true(out.len > 0);
	river_arena_fini(&arena);
	free(text);
	free(tail);
}

struct settings {
	struct river_secret secret;
	struct river_list_map lists;
	struct river_string_maps maps;
	struct river_strings list;
	struct river_string_map map;
	const char *text;
};

static const struct river_field one_fields[] = {
	RIVER_FIELD_STRING(struct settings, text, "text"),
};
static const struct river_schema one_schema = RIVER_SCHEMA(struct settings, "one", one_fields);

static const struct river_field fields[] = {
	RIVER_FIELD_STRING_LIST(struct settings, list, "list"),
	RIVER_FIELD_STRING_MAP(struct settings, map, "map"),
	RIVER_FIELD_STRING(struct settings, text, "text"),
	RIVER_FIELD_OPTIONAL_SECRET(struct settings, secret, "secret"),
	RIVER_FIELD_SECRET_LIST_MAP(struct settings, lists, "lists"),
	RIVER_FIELD_STRING_MAP_LIST(struct settings, maps, "maps"),
	RIVER_FIELD_IGNORED(RIVER_KIND_OBJECT, "object", 0, .schema = &one_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_BLOCK, "one", 0, .schema = &one_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_BLOCKS, "many", 0, .schema = &one_schema, .length = 2),
};
static const struct river_schema schema = RIVER_SCHEMA(struct settings, "settings", fields);

static const char everything[] =
	"a \"l\" {\n\tlist = concat([\"a\", 1.5], string.split(\"a,b\", \",\"))\n"
	"\tmap = {\"x\" = string.to_upper(\"y\"), z = sys.env(\"HOME\")}\n"
	"\tsecret = \"s\"\n\tlists = {a = [\"b\"], c = null}\n\tmaps = [{d = \"e\"}]\n"
	"\tobject = {text = 5, nope = {}}\n\tmany { }\n\tmany {\n\t\ttext = 1\n\t}\n"
	"\ttext = join([true], \"\") // wrong\n\tnope = 1\n\ttex = 2\n}\n"
	"c {\n\tx = [1]\n\ty = 2\n\tx = 3\n}\nd {\n\tx = {y = 1}\n}\nb = \n";

/* Bodies without a table: one that is refused, one that is not. */
static int collect(const struct river_file *file, const struct river_scope *scope,
		   struct river_arena *arena, struct river_diags *diags)
{
	const struct river_value *object;
	int r = river_eval_attributes(&file->body.stmts[1]->body, scope, arena, diags, &object);

	if (r < 0)
		return r;
	assert_int_equal(r, RIVER_INVALID);
	r = river_eval_attributes(&file->body.stmts[2]->body, scope, arena, diags, &object);
	return r < 0 ? r : RIVER_INVALID;
}

/* A whole load in so many bytes; -ENOMEM or what it comes to. */
static int load(size_t max_bytes)
{
	const struct river_file *file;
	struct river_scope scope = { 0 };
	struct settings out;
	struct river_arena arena;
	struct river_diags diags;
	int r;

	river_arena_init(&arena, max_bytes);
	river_diags_init(&diags, &arena);
	r = river_parse("t", everything, strlen(everything), &arena, &diags, &file);
	if (r >= 0)
		r = river_decode_block(file->body.stmts[0], &schema, &scope, &arena, &diags, &out);
	if (r >= 0)
		r = collect(file, &scope, &arena, &diags);
	assert_true(arena.used_bytes <= max_bytes);
	river_arena_fini(&arena);
	return r;
}

static void test_memory_ceiling(void **state)
{
	(void)state;
	assert_int_equal(load(0), -ENOMEM);
	assert_int_equal(load(100), -ENOMEM);
	assert_int_equal(load(TEST_ARENA_BYTES), RIVER_INVALID);
}

/* More than the whole load takes. */
#define SPARE_BYTES_MAX ((size_t)48 << 10)

/* Leaves `spare` bytes of an arena that cannot grow, so that the failing allocation is another one
 * each time. */
static int load_with_spare(size_t spare)
{
	const struct river_file *file;
	struct river_scope scope = { 0 };
	struct settings out;
	struct river_arena arena;
	struct river_diags diags;
	size_t n = SPARE_BYTES_MAX;
	int r;

	river_arena_init(&arena, SPARE_BYTES_MAX);
	while (n > spare && river_arena_alloc(&arena, 16))
		n -= 16;
	river_diags_init(&diags, &arena);
	r = river_parse("t", everything, strlen(everything), &arena, &diags, &file);
	if (r >= 0)
		r = river_decode_block(file->body.stmts[0], &schema, &scope, &arena, &diags, &out);
	if (r >= 0)
		r = collect(file, &scope, &arena, &diags);
	river_arena_fini(&arena);
	return r;
}

static void test_every_allocation_fails(void **state)
{
	size_t n_failed = 0, spare = 0;

	(void)state;
	for (; spare < SPARE_BYTES_MAX && load_with_spare(spare) == -ENOMEM; spare += 16)
		n_failed++;
	assert_int_equal(load_with_spare(spare), RIVER_INVALID);
	assert_true(n_failed > 100);
}

static void test_too_large(void **state)
{
	const struct river_file *file = NULL;
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	/* The length alone decides; the text is not looked at. */
	assert_int_equal(river_parse("t", "", (size_t)1 << 30, &arena, &diags, &file),
			 RIVER_INVALID);
	output_diags(&out, &diags);
	assert_string_equal(out.data, "t: file is larger than 1 GiB\n");
	river_arena_fini(&arena);
}

/* Megabytes of mistakes: bounded diagnostics, bounded memory. */
static void test_garbage(void **state)
{
	static const char *const pieces[] = { "# ",  "\xff", "a = \n", "}\n", "\"\n", "/* ",
					      "a {", "[,",   "a \"",   "=\n", "''" };
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		char *text = repeat("", pieces[i], 200000, "");

		river_arena_init(&arena, (size_t)256 << 20);
		river_diags_init(&diags, &arena);
		assert_int_equal(river_parse("t", text, strlen(text), &arena, &diags, &file),
				 RIVER_INVALID);
		assert_true(diags.n_items <= RIVER_DIAGS_MAX);
		river_arena_fini(&arena);
		free(text);
	}
}

struct large_row {
	const char *name;
	const char *head;
	char filler;
	const char *tail;
	size_t n;
	const char *problem; /* the first diagnostic; NULL: none */
};

#define MB ((size_t)1 << 20)

/* Files of many MB that are one token, or nothing but what is refused. */
static const struct large_row large_rows[] = {
	{ "10 MB of a string", "a = \"", 'x', "\"\n", 10 * MB, NULL },
	{ "10 MB of a comment", "a = 1 /*", '*', "*/\n", 10 * MB, NULL },
	{ "10 MB of digits", "a = 1", '0', "\n", 10 * MB, "strconv.ParseFloat: parsing \"1000" },
	{ "10 MB of decimals", "a = 0.", '3', "\n", 10 * MB, NULL },
	{ "2 MB of NUL", "a = 1\n", '\0', "\n", 2 * MB, "illegal character NUL" },
	{ "2 MB of no UTF-8", "a = \"", '\xff', "\"\n", 2 * MB, "illegal UTF-8 encoding" },
};

static void test_large(void **state)
{
	const struct large_row *row = *state;
	size_t head_len = strlen(row->head), len = head_len + row->n + strlen(row->tail);
	char *text = malloc(len + 1);
	const struct river_value *value = NULL;
	const struct river_file *file = NULL;
	struct river_scope scope = { 0 };
	struct river_arena arena;
	struct river_diags diags;

	assert_non_null(text);
	memcpy(text, row->head, head_len);
	memset(text + head_len, row->filler, row->n);
	strcpy(text + head_len + row->n, row->tail);
	river_arena_init(&arena, (size_t)128 << 20);
	river_diags_init(&diags, &arena);
	assert_true(river_parse("t", text, len, &arena, &diags, &file) >= 0);
	free(text);
	if (diags.n_items == 0)
		assert_true(river_eval(file->body.stmts[0]->value, &scope, &arena, &diags,
				       &value) >= 0);
	assert_int_equal(diags.n_items > 0, row->problem != NULL);
	if (row->problem)
		assert_int_equal(
			strncmp(diags.items[0].message, row->problem, strlen(row->problem)), 0);
	river_arena_fini(&arena);
}

/* What is not kept costs nothing: the scanner's complaints about megabytes take no memory. */
static void test_dropped_costs_nothing(void **state)
{
	char *text = repeat("", "#\x01", 2 << 20, "");
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", text, strlen(text), &arena, &diags, &file),
			 RIVER_INVALID);
	assert_int_equal(diags.n_items, RIVER_DIAGS_MAX);
	assert_true(arena.used_bytes < 1 << 20);
	river_arena_fini(&arena);
	free(text);
}

/* Many wrong statements of one body: no step is quadratic. */
static void test_many_mistakes(void **state)
{
	char *text = repeat("a {\n", "one { }\nunknwn = 1\nlist = 1\n", 50000, "}\n");
	const struct river_file *file;
	struct river_scope scope = { 0 };
	struct settings out;
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, (size_t)256 << 20);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", text, strlen(text), &arena, &diags, &file), RIVER_OK);
	assert_int_equal(
		river_decode_block(file->body.stmts[0], &schema, &scope, &arena, &diags, &out),
		RIVER_INVALID);
	assert_int_equal(diags.n_errors, 50000 + 50000 + 1);
	river_arena_fini(&arena);
	free(text);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_too_deep, depth_rows, name),
	TEST_ROWS(test_large, large_rows, name),
	TEST_ROWS(test_deep_enough, deep_enough_rows, name),
	TEST(test_memory_ceiling),
	TEST(test_every_allocation_fails),
	TEST(test_too_large),
	TEST(test_garbage),
	TEST(test_dropped_costs_nothing),
	TEST(test_many_mistakes),
};

TEST_MAIN(tests)
