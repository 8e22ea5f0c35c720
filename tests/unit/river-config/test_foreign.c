/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that the host keeps in a form of its own: to an expression they are like any others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/river.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)1 << 20)
#define N_ITEMS 3

/* A pair of texts, with the number of those who keep it. */
struct pair {
	const char *a, *b;
	int n_kept;
	int n_opened;
};

struct context {
	struct river_arena arena;
	struct pair pairs[N_ITEMS];
};

static const struct river_value *pair_open(struct river_arena *arena, const void *item)
{
	struct pair *p = (struct pair *)item;
	const struct river_member members[] = {
		{ "b", river_value_string(arena, p->b, strlen(p->b)) },
		{ "a", river_value_string(arena, p->a, strlen(p->a)) },
	};

	p->n_opened++;
	return members[0].value && members[1].value ? river_value_object(arena, members, 2) : NULL;
}

static void let_go(void *data)
{
	((struct pair *)data)->n_kept--;
}

static int pair_keep(struct river_arena *arena, const void *const *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pair *p = (struct pair *)items[i];

		if (!p)
			continue;
		if (river_arena_defer(arena, let_go, p) < 0)
			return -ENOMEM;
		p->n_kept++;
	}
	return 0;
}

static const char *text_of(const struct river_string_map *map, const char *key)
{
	for (size_t i = 0; i < map->n_items; i++)
		if (strcmp(map->keys[i], key) == 0)
			return map->values[i];
	return "";
}

/* More than two members make no pair. */
static int pair_make(struct river_arena *arena, const struct river_string_map *map,
		     const void **ret_item)
{
	struct pair *p = river_arena_alloc(arena, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*p = (struct pair){ .a = text_of(map, "a"), .b = text_of(map, "b") };
	*ret_item = map->n_items > 2 ? NULL : p;
	return 0;
}

static bool pair_equal(const void *left, const void *right)
{
	const struct pair *x = left, *y = right;

	return strcmp(x->a, y->a) == 0 && strcmp(x->b, y->b) == 0;
}

static const struct river_foreign pair_kind = { pair_open, pair_keep, pair_make, pair_equal };
static const struct river_foreign other_kind = { pair_open, pair_keep, pair_make, pair_equal };

static void set_up(struct context *w)
{
	river_arena_init(&w->arena, MAX_BYTES);
	w->pairs[0] = (struct pair){ .a = "1", .b = "x" };
	w->pairs[1] = (struct pair){ .a = "2", .b = "y" };
	w->pairs[2] = (struct pair){ .a = "1", .b = "x" };
}

/* Who ends lets go of all that it kept. */
static void tear_down(struct context *w)
{
	river_arena_fini(&w->arena);
	for (size_t i = 0; i < N_ITEMS; i++)
		assert_int_equal(w->pairs[i].n_kept, 0);
}

FIXTURE(struct context, set_up, tear_down)

static const struct river_value *pairs_value(struct context *w, struct river_arena *arena)
{
	const void *items[] = { &w->pairs[0], &w->pairs[1], &w->pairs[2] };
	const struct river_value *v = river_value_foreigns(arena, &pair_kind, items, N_ITEMS);

	assert_non_null(v);
	return v;
}

static const struct river_value *lookup(void *ctx, struct river_arena *arena, const char *name)
{
	return strcmp(name, "pairs") == 0 ? pairs_value(ctx, arena) : NULL;
}

struct settings {
	struct river_foreigns list;
};

static const char *no_null(const void *field, struct river_arena *arena)
{
	const struct river_foreigns *list = field;

	(void)arena;
	for (size_t i = 0; i < list->n_items; i++)
		if (!list->items[i])
			return "a pair has two members";
	return NULL;
}

static const struct river_field settings_fields[] = {
	RIVER_FIELD_FOREIGN_LIST(struct settings, list, "list", &pair_kind, .validate = no_null),
};
static const struct river_schema settings_schema =
	RIVER_SCHEMA(struct settings, "settings", settings_fields);

static int decode(struct context *w, const char *text, struct river_diags *diags,
		  struct settings *ret)
{
	const struct river_scope scope = { .lookup = lookup, .ctx = w };
	const struct river_range nowhere = { 0 };
	const struct river_file *file = NULL;

	river_diags_init(diags, &w->arena);
	assert_int_equal(river_parse("f", text, strlen(text), &w->arena, diags, &file), RIVER_OK);
	return river_decode_body(&file->body, &nowhere, &settings_schema, &scope, &w->arena, diags,
				 ret);
}

static void collect(void *ctx, const char *bytes, size_t n)
{
	(void)strncat(ctx, bytes, n);
}

/* An attribute of one value. */
struct row {
	const char *name, *text, *expected;
};

static const struct row rows[] = {
	{ "a member", "pairs[1].a", "\"2\"" },
	{ "by key", "pairs[1][\"b\"]", "\"y\"" },
	{ "a key that is not there", "pairs[0][\"c\"]", "null" },
	{ "written", "pairs[0]", "{a = \"1\", b = \"x\"}" },
	{ "equal", "pairs[0] == pairs[2]", "true" },
	{ "not equal", "pairs[0] == pairs[1]", "false" },
	{ "equal to one that is spelled out", "pairs[1] == { \"a\" = \"2\", \"b\" = \"y\" }",
	  "true" },
	{ "not equal to one that is spelled out", "{ \"a\" = \"2\" } == pairs[1]", "false" },
	{ "lists", "array.concat(pairs, [{ \"a\" = \"3\" }])[3][\"a\"]", "\"3\"" },
	{ "lists, from the front", "array.concat(pairs, [])[1].b", "\"y\"" },
	{ "JSON", "encoding.to_json(pairs[1])", "\"{\\\"a\\\":\\\"2\\\",\\\"b\\\":\\\"y\\\"}\"" },
	{ "formatted", "string.format(\"%v\", pairs[1])", "\"map[a:2 b:y]\"" },
	{ "combined", "array.combine_maps(pairs, [{ \"a\" = \"2\", \"c\" = \"z\" }], [\"a\"])[0]",
	  "{a = \"2\", b = \"y\", c = \"z\"}" },
};

static void check_row(struct context *w, const struct row *row)
{
	const struct river_scope scope = { .lookup = lookup,
					   .ctx = w,
					   .stability = RIVER_STABILITY_EXPERIMENTAL };
	char source[512] = "x = ", written[512] = "";
	const struct river_value *v = NULL;
	const struct river_file *file;
	struct river_diags diags;

	(void)strncat(source, row->text, sizeof(source) - 8);
	river_diags_init(&diags, &w->arena);
	assert_int_equal(river_parse("f", source, strlen(source), &w->arena, &diags, &file),
			 RIVER_OK);
	int r = river_eval(file->body.stmts[0]->value, &scope, &w->arena, &diags, &v);
	if (diags.n_items)
		print_error("%s\n", diags.items[0].message);
	assert_int_equal(r, RIVER_OK);
	assert_int_equal(river_value_write(v, RIVER_LAYOUT_LINE, &w->arena, collect, written), 0);
	assert_string_equal(written, row->expected);
}

static void test_row(void **state)
{
	void *w = NULL;

	assert_int_equal(setup(&w), 0);
	check_row(w, *state);
	assert_int_equal(teardown(&w), 0);
}

/* Items go by as they are; what is spelled out is made. */
static void test_decoded(void **state)
{
	struct context *w = *state;
	struct river_diags diags;
	struct settings s;

	assert_int_equal(
		decode(w, "list = array.concat(pairs, [{ \"a\" = \"3\", \"b\" = 4 }])", &diags, &s),
		RIVER_OK);
	assert_int_equal(s.list.n_items, 4);
	for (size_t i = 0; i < N_ITEMS; i++) {
		assert_ptr_equal(s.list.items[i], &w->pairs[i]);
		assert_int_equal(w->pairs[i].n_opened, 0);
	}
	assert_string_equal(((const struct pair *)s.list.items[3])->a, "3");
	assert_string_equal(((const struct pair *)s.list.items[3])->b, "4");
}

static void test_given_or_not(void **state)
{
	struct context *w = *state;
	struct river_diags diags;
	struct settings s;

	assert_int_equal(decode(w, "", &diags, &s), RIVER_OK);
	assert_null(s.list.items);
	assert_int_equal(decode(w, "list = []", &diags, &s), RIVER_OK);
	assert_non_null(s.list.items);
	assert_int_equal(decode(w, "list = null", &diags, &s), RIVER_OK);
	assert_non_null(s.list.items);
	assert_int_equal(s.list.n_items, 0);
}

static void assert_refused(struct context *w, const char *text, const char *message)
{
	struct river_diags diags;
	struct settings s;

	assert_int_equal(decode(w, text, &diags, &s), RIVER_INVALID);
	assert_int_equal(diags.n_items, 1);
	assert_string_equal(diags.items[0].message, message);
}

/* As of a list of maps. */
static void test_mistakes(void **state)
{
	assert_refused(*state, "list = [{ \"a\" = [1] }]", "[1] should be string, got array");
	assert_refused(*state, "list = [pairs[0], 1]", "1 should be object, got number");
	assert_refused(*state, "list = \"x\"", "\"x\" should be array, got string");
	assert_refused(*state, "list = [pairs]", "pairs should be object, got array");
	assert_refused(*state, "list = [{ \"a\" = 1, \"b\" = 2, \"c\" = 3 }]",
		       "a pair has two members");
	assert_refused(*state, "list = [pairs[0].c]", "field \"c\" does not exist");
}

/* A copy keeps its items itself, and is of the same kind. */
static void test_copies(void **state)
{
	struct context *w = *state;
	const struct river_value *array, *one;
	struct river_arena first, second;

	river_arena_init(&first, MAX_BYTES);
	river_arena_init(&second, MAX_BYTES);
	array = river_value_copy(&second, pairs_value(w, &first));
	one = river_value_copy(&second, river_value_item(array, 1));
	assert_int_equal(w->pairs[1].n_kept, 3);
	river_arena_fini(&first);
	assert_int_equal(w->pairs[1].n_kept, 2);
	assert_ptr_equal(river_value_get_foreign(river_value_item(array, 2), &pair_kind),
			 &w->pairs[2]);
	assert_ptr_equal(river_value_get_foreign(one, &pair_kind), &w->pairs[1]);
	assert_null(river_value_get_foreign(one, &other_kind));
	assert_string_equal(river_value_get_string(river_value_find(one, "b"), NULL), "y");
	river_arena_fini(&second);
}

/* Kinds differ, members do not. */
static void test_two_kinds(void **state)
{
	struct context *w = *state;
	const void *item = &w->pairs[0];
	const struct river_value *other = river_value_foreigns(&w->arena, &other_kind, &item, 1);
	const struct river_value *items[] = { river_value_item(pairs_value(w, &w->arena), 0),
					      river_value_item(other, 0) };
	const struct river_value *both = river_value_array(&w->arena, items, 2);
	const struct river_value *copy = river_value_copy(&w->arena, both);

	assert_true(river_value_equal(items[0], items[1]));
	assert_true(river_value_equal(both, copy));
	assert_ptr_equal(river_value_get_foreign(river_value_item(copy, 1), &other_kind), item);
}

/* Members are made once, in memory of the arena that the value is in, wherever that has moved to. */
static void test_opened_after_a_move(void **state)
{
	struct context *w = *state;
	struct river_arena before, after;
	const struct river_value *v;

	river_arena_init(&before, MAX_BYTES);
	v = river_value_item(pairs_value(w, &before), 0);
	after = before;
	river_arena_init(&before, MAX_BYTES);
	assert_int_equal(river_value_len(v), 2);
	river_arena_fini(&before);
	assert_string_equal(river_value_key(v, 0), "a");
	assert_string_equal(river_value_get_string(river_value_member(v, 0), NULL), "1");
	assert_int_equal(w->pairs[0].n_opened, 1);
	river_arena_fini(&after);
}

static void test_no_memory(void **state)
{
	struct context *w = *state;
	const void *items[] = { &w->pairs[0], &w->pairs[1] };
	const struct river_value *v = NULL;
	size_t bytes = 0;

	for (; !v; bytes += 64) {
		struct river_arena arena;

		river_arena_init(&arena, bytes);
		v = river_value_foreigns(&arena, &pair_kind, items, 2);
		river_arena_fini(&arena);
		assert_int_equal(w->pairs[0].n_kept, 0);
	}
	assert_true(bytes > 64);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_decoded),
	FIXTURE_TEST(test_given_or_not),
	FIXTURE_TEST(test_mistakes),
	FIXTURE_TEST(test_copies),
	FIXTURE_TEST(test_two_kinds),
	FIXTURE_TEST(test_opened_after_a_move),
	FIXTURE_TEST(test_no_memory),
};

TEST_MAIN(tests)
