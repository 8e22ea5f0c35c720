/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every block of any file into a struct with a row of every kind: what was accepted must be whole, what was
 * refused must have a diagnostic inside of the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/river.h"

#define FUZZ_ARENA_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct inner {
	const char *name;
	int64_t number;
	const struct river_value *any;
};

struct labelled {
	const char *label;
	struct river_strings list;
	struct inner deep;
};

struct all {
	const char *label;
	const char *text;
	bool flag;
	int64_t number;
	uint64_t count;
	double ratio;
	int64_t interval_ns;
	const char *secret;
	struct river_secret optional;
	struct river_strings list, pair;
	struct river_string_map map;
	struct river_string_maps maps;
	struct river_list_map lists;
	void *receiver;
	struct river_capsules receivers;
	struct inner object;
	const struct river_value *any;
	struct inner block;
	struct inner *pointer;
	struct river_blocks many, two;
};

static const char *refuse_negative(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field < 0 ? "must not be negative" : NULL;
}

static const char *refuse_large(const void *self, struct river_arena *arena)
{
	return ((const struct inner *)self)->number > 100 ? river_arena_strndup(arena, "large", 5)
							  : NULL;
}

static const struct river_field inner_fields[] = {
	RIVER_FIELD_STRING(struct inner, name, "n", .def = "none", .flags = RIVER_REQUIRED),
	RIVER_FIELD_INT(struct inner, number, "i", .def = "7", .validate = refuse_negative),
	RIVER_FIELD_VALUE(struct inner, any, "a"),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_LIST, "old", RIVER_DEPRECATED),
};
static const struct river_schema inner_schema =
	RIVER_SCHEMA(struct inner, "inner", inner_fields, .validate = refuse_large);

static const struct river_field labelled_fields[] = {
	RIVER_FIELD_LABEL(struct labelled, label),
	RIVER_FIELD_STRING_LIST(struct labelled, list, "l"),
	RIVER_FIELD_BLOCK(struct labelled, deep, "deep", &inner_schema),
};
static const struct river_schema labelled_schema =
	RIVER_SCHEMA(struct labelled, "labelled", labelled_fields);

static const struct river_field fields[] = {
	RIVER_FIELD_LABEL(struct all, label),
	RIVER_FIELD_STRING(struct all, text, "text"),
	RIVER_FIELD_BOOL(struct all, flag, "flag", .def = "true"),
	RIVER_FIELD_INT(struct all, number, "number", .validate = refuse_negative),
	RIVER_FIELD_UINT(struct all, count, "count"),
	RIVER_FIELD_FLOAT(struct all, ratio, "ratio", .def = "0.5"),
	RIVER_FIELD_DURATION(struct all, interval_ns, "interval", .def = "15s"),
	RIVER_FIELD_SECRET(struct all, secret, "secret"),
	RIVER_FIELD_OPTIONAL_SECRET(struct all, optional, "optional"),
	RIVER_FIELD_STRING_LIST(struct all, list, "list"),
	RIVER_FIELD_STRING_LIST(struct all, pair, "pair", .length = 2),
	RIVER_FIELD_STRING_MAP(struct all, map, "map"),
	RIVER_FIELD_STRING_MAP_LIST(struct all, maps, "maps"),
	RIVER_FIELD_SECRET_LIST_MAP(struct all, lists, "lists"),
	RIVER_FIELD_CAPSULE(struct all, receiver, "receiver", "T"),
	RIVER_FIELD_CAPSULE_LIST(struct all, receivers, "receivers", "T"),
	RIVER_FIELD_OBJECT(struct all, object, "object", &inner_schema),
	RIVER_FIELD_VALUE(struct all, any, "any"),
	RIVER_FIELD_BLOCK(struct all, block, "block", &inner_schema),
	RIVER_FIELD_BLOCK_PTR(struct all, pointer, "pointer", &inner_schema),
	RIVER_FIELD_BLOCKS(struct all, many, "many", &labelled_schema, .flags = RIVER_DEPRECATED),
	RIVER_FIELD_BLOCKS(struct all, two, "two", &inner_schema, .length = 2),
	RIVER_FIELD_IGNORED(RIVER_KIND_BLOCKS, "old", 0, .schema = &labelled_schema),
};
static const struct river_schema schema = RIVER_SCHEMA(struct all, "all", fields);

static const struct river_value *lookup(void *ctx, struct river_arena *a, const char *name)
{
	const struct river_value *text = river_value_string(a, "x", 1);
	const struct river_member member = { "k", text };

	(void)ctx;
	if (strcmp(name, "o") == 0)
		return river_value_object(a, &member, 1);
	if (strcmp(name, "l") == 0)
		return river_value_array(a, &text, text ? 1 : 0);
	if (strcmp(name, "s") == 0)
		return river_value_secret(a, "p", 1);
	if (strcmp(name, "c") == 0)
		return river_value_capsule(a, "T", a);
	return strcmp(name, "u") == 0 ? river_value_uint(a, UINT64_MAX) : NULL;
}

static const char *env(void *ctx, const char *name)
{
	(void)ctx;
	return name[0] ? name : NULL;
}

static void discard(void *ctx, const char *bytes, size_t n)
{
	volatile size_t *sum = ctx;

	for (size_t i = 0; i < n; i++)
		*sum += (unsigned char)bytes[i];
}

static void touch(size_t *sum, const char *text)
{
	discard(sum, text, strlen(text));
}

static void touch_value(const struct river_value *v, struct river_arena *arena, size_t *sum)
{
	if (river_value_write(v, RIVER_LAYOUT_LINES, arena, discard, sum) == 0 &&
	    !river_value_copy(arena, v))
		*sum += 1;
}

static void touch_inner(const struct inner *x, struct river_arena *arena, size_t *sum)
{
	touch(sum, x->name);
	touch_value(x->any, arena, sum);
}

static void touch_list(const struct river_strings *list, size_t *sum)
{
	for (size_t i = 0; i < list->n_items; i++)
		touch(sum, list->items[i]);
}

static void touch_map(const struct river_string_map *map, size_t *sum)
{
	for (size_t i = 0; i < map->n_items; i++) {
		touch(sum, map->keys[i]);
		touch(sum, map->values[i]);
	}
}

static void touch_blocks(const struct all *x, struct river_arena *arena, size_t *sum)
{
	const struct labelled *many = x->many.items;
	const struct inner *two = x->two.items;

	for (size_t i = 0; i < x->many.n_items; i++) {
		touch(sum, many[i].label);
		touch_list(&many[i].list, sum);
		touch_inner(&many[i].deep, arena, sum);
	}
	for (size_t i = 0; i < x->two.n_items; i++)
		touch_inner(&two[i], arena, sum);
}

/* Reads every byte that the struct refers to, be it accepted or refused. */
static void touch_all(const struct all *x, struct river_arena *arena, size_t *sum)
{
	touch(sum, x->label);
	touch(sum, x->text);
	touch(sum, x->secret);
	touch(sum, x->optional.text);
	touch_list(&x->list, sum);
	touch_list(&x->pair, sum);
	touch_map(&x->map, sum);
	for (size_t i = 0; i < x->maps.n_items; i++)
		touch_map(&x->maps.items[i], sum);
	for (size_t i = 0; i < x->lists.n_items; i++)
		touch_list(&x->lists.lists[i], sum);
	for (size_t i = 0; i < x->receivers.n_items; i++)
		*sum += x->receivers.items[i] != NULL;
	touch_inner(&x->object, arena, sum);
	touch_value(x->any, arena, sum);
	touch_inner(&x->block, arena, sum);
	if (x->pointer)
		touch_inner(x->pointer, arena, sum);
	touch_blocks(x, arena, sum);
}

static void check_accepted(const struct all *x)
{
	if ((x->pair.n_items != 0 && x->pair.n_items != 2) ||
	    (x->two.n_items != 0 && x->two.n_items != 2) || x->number < 0 || x->block.number > 100)
		abort();
}

static void decode(const struct river_stmt *block, struct river_arena *arena,
		   struct river_diags *diags, size_t *sum)
{
	const struct river_scope scope = { .lookup = lookup, .env = env };
	const struct river_value *object;
	size_t n_errors = diags->n_errors;
	struct all x;
	int r = river_decode_block(block, &schema, &scope, arena, diags, &x);

	if ((r == RIVER_INVALID) != (diags->n_errors > n_errors) && r >= 0)
		abort();
	if (r >= 0)
		touch_all(&x, arena, sum);
	if (r == RIVER_OK)
		check_accepted(&x);
	n_errors = diags->n_errors;
	r = river_eval_attributes(&block->body, &scope, arena, diags, &object);
	if ((r == RIVER_INVALID) != (diags->n_errors > n_errors) && r >= 0)
		abort();
	if (r == RIVER_OK)
		touch_value(object, arena, sum);
}

static void check_positions(const struct river_diags *diags, size_t size)
{
	for (size_t i = 0; i < diags->n_items; i++) {
		const struct river_range *range = &diags->items[i].range;

		if (range->start.line == 0 || range->start.offset > size ||
		    range->end.offset > size || range->start.column > size + 1)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct river_source source = { "fuzz", (const char *)data, size };
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;
	size_t sum = 0;

	river_arena_init(&arena, FUZZ_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	if (river_parse("fuzz", (const char *)data, size, &arena, &diags, &file) >= 0)
		for (size_t i = 0; i < file->body.n_stmts; i++)
			if (file->body.stmts[i]->kind == RIVER_STMT_BLOCK)
				decode(file->body.stmts[i], &arena, &diags, &sum);
	check_positions(&diags, size);
	river_diags_write_pretty(&diags, &source, 1, size & 1, discard, &sum);
	river_arena_fini(&arena);
	return 0;
}
