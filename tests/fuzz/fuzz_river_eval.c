/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies into a struct and expressions to values, under names of every type; diagnostics must point
 * into the text. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/river.h"

#define FUZZ_ARENA_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct nested {
	const char *label;
	struct river_strings list;
	int64_t timeout_ns;
};

struct settings {
	const char *text;
	bool flag;
	int64_t number;
	uint64_t count;
	double ratio;
	int64_t interval_ns;
	const char *password;
	struct river_string_map map;
	struct river_string_maps maps;
	struct river_foreigns foreigns;
	struct river_capsules receivers;
	const struct river_value *any;
	struct nested *one;
	struct river_blocks many;
};

/* A text of the host's, which is an object to the language. */
static const struct river_value *foreign_open(struct river_arena *arena, const void *item)
{
	const struct river_member member = { "k", river_value_string(arena, item, strlen(item)) };

	return member.value ? river_value_object(arena, &member, 1) : NULL;
}

static void nothing(void *data)
{
	(void)data;
}

static int foreign_keep(struct river_arena *arena, const void *const *items, size_t n)
{
	return river_arena_defer(arena, nothing, n ? (void *)items[0] : NULL);
}

static int foreign_make(struct river_arena *arena, const struct river_string_map *map,
			const void **ret_item)
{
	const char *text = map->n_items ? map->values[0] : "";

	*ret_item = river_arena_strndup(arena, text, strlen(text));
	return *ret_item ? 0 : -ENOMEM;
}

static bool foreign_equal(const void *a, const void *b)
{
	return strcmp(a, b) == 0;
}

static const struct river_foreign foreign = { foreign_open, foreign_keep, foreign_make,
					      foreign_equal };

static const struct river_field nested_fields[] = {
	RIVER_FIELD_LABEL(struct nested, label),
	RIVER_FIELD_STRING_LIST(struct nested, list, "list", .flags = RIVER_REQUIRED),
	RIVER_FIELD_DURATION(struct nested, timeout_ns, "timeout", .def = "10s"),
};
static const struct river_schema nested_schema =
	RIVER_SCHEMA(struct nested, "nested", nested_fields);

static const struct river_field fields[] = {
	RIVER_FIELD_STRING(struct settings, text, "text"),
	RIVER_FIELD_BOOL(struct settings, flag, "flag"),
	RIVER_FIELD_INT(struct settings, number, "number"),
	RIVER_FIELD_UINT(struct settings, count, "count"),
	RIVER_FIELD_FLOAT(struct settings, ratio, "ratio"),
	RIVER_FIELD_DURATION(struct settings, interval_ns, "interval"),
	RIVER_FIELD_SECRET(struct settings, password, "password"),
	RIVER_FIELD_STRING_MAP(struct settings, map, "map"),
	RIVER_FIELD_STRING_MAP_LIST(struct settings, maps, "maps"),
	RIVER_FIELD_FOREIGN_LIST(struct settings, foreigns, "foreigns", &foreign),
	RIVER_FIELD_CAPSULE_LIST(struct settings, receivers, "receivers", "T"),
	RIVER_FIELD_VALUE(struct settings, any, "any"),
	RIVER_FIELD_BLOCK_PTR(struct settings, one, "one", &nested_schema),
	RIVER_FIELD_BLOCKS(struct settings, many, "many", &nested_schema,
			   .flags = RIVER_DEPRECATED),
};
static const struct river_schema schema = RIVER_SCHEMA(struct settings, "settings", fields);

static const struct river_value *lookup(void *ctx, struct river_arena *a, const char *name)
{
	const struct river_value *text = river_value_string(a, "x", 1);
	const struct river_member member = { "k", text };

	(void)ctx;
	if (strcmp(name, "o") == 0)
		return river_value_object(a, &member, 1);
	if (strcmp(name, "l") == 0)
		return river_value_array(a, &text, text ? 1 : 0);
	if (strcmp(name, "f") == 0)
		return river_value_foreigns(a, &foreign, (const void *const[]){ "x", "y" }, 2);
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

static void check_positions(const struct river_diags *diags, size_t size)
{
	for (size_t i = 0; i < diags->n_items; i++) {
		const struct river_range *range = &diags->items[i].range;

		if (range->start.line == 0 || range->start.offset > size ||
		    range->end.offset > size || range->start.column > size + 1)
			abort();
	}
}

static void eval_body(const struct river_body *body, const struct river_scope *scope,
		      struct river_arena *arena, struct river_diags *diags)
{
	const struct river_value *v;
	size_t sum = 0;

	for (size_t i = 0; i < body->n_stmts; i++) {
		if (body->stmts[i]->kind == RIVER_STMT_BLOCK) {
			eval_body(&body->stmts[i]->body, scope, arena, diags);
		} else if (river_eval(body->stmts[i]->value, scope, arena, diags, &v) == RIVER_OK) {
			river_value_write(v, RIVER_LAYOUT_LINES, arena, discard, &sum);
			river_value_equal(v, v);
			river_value_copy(arena, v);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct river_scope scope = { .lookup = lookup, .env = env };
	struct river_source source = { "fuzz", (const char *)data, size };
	struct river_range range = { .file = "fuzz", .start = { .line = 1, .column = 1 } };
	const struct river_file *file;
	struct settings settings;
	struct river_arena arena;
	struct river_diags diags;
	size_t sum = 0;

	river_arena_init(&arena, FUZZ_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	if (river_parse("fuzz", (const char *)data, size, &arena, &diags, &file) == RIVER_OK) {
		river_decode_body(&file->body, &range, &schema, &scope, &arena, &diags, &settings);
		eval_body(&file->body, &scope, &arena, &diags);
	}
	check_positions(&diags, size);
	river_diags_write_pretty(&diags, &source, 1, false, discard, &sum);
	river_arena_fini(&arena);
	return 0;
}
