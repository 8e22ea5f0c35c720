/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded blocks and values as JSON. */
#include "agent/component/json/body_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/component/args_equal.h"
#include "agent/component/json/duration_text.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* What a value is written through: as much as a configuration's own values may take. */
#define SCRATCH_MAX_BYTES ((size_t)64 << 20)
/* Up to here a double holds every integer. */
#define EXACT_INTEGER_MAX 9007199254740992.0

static json_t *repaired(const char *s, size_t n)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4 * n + 8);

	for (size_t i = 0; i < n;) {
		size_t len = str_utf8_len((struct str){ s + i, n - i });

		(void)(len ? buf_append(&out, s + i, len) : buf_append_str(&out, "\xef\xbf\xbd"));
		i += len ? len : 1;
	}
	return out.failed ? NULL : json_stringn(buf_str(&out), out.len);
}

json_t *text_json(const char *s, size_t n)
{
	struct str text = { s ? s : "", s ? n : 0 };

	return str_is_utf8(text) ? json_stringn(text.p, text.n) : repaired(text.p, text.n);
}

/* Takes `value`. */
static json_t *typed(const char *type, json_t *value)
{
	return value ? json_pack("{s:s, s:o}", "type", type, "value", value) : NULL;
}

static json_t *string_value(const char *s)
{
	return typed("string", text_json(s, s ? strlen(s) : 0));
}

static json_t *secret_value(void)
{
	return typed("capsule", json_string("(secret)"));
}

/* JSON knows one kind of number and neither infinity nor NaN. */
static json_t *number_value(double x)
{
	if (!isfinite(x))
		return typed("number", json_null());
	if (x == floor(x) && fabs(x) <= EXACT_INTEGER_MAX)
		return typed("number", json_integer((json_int_t)x));
	return typed("number", json_real(x));
}

static json_t *integer_value(int64_t i)
{
	return typed("number", json_integer((json_int_t)i));
}

static json_t *duration_value(int64_t ns)
{
	char text[DURATION_TEXT_BYTES];

	return string_value(duration_text(ns, text));
}

static json_t *capsule_value(const char *type, const void *ptr)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	if (!ptr)
		return typed("null", json_null());
	(void)buf_printf(&text, "capsule(\"%s\")", type ? type : "");
	return typed("capsule", text_json(buf_str(&text), text.len));
}

/* Takes both; one that is NULL fails. */
static json_t *appended(json_t *array, json_t *item)
{
	if (array && json_array_append_new(array, item) == 0)
		return array;
	if (!array)
		json_decref(item);
	json_decref(array);
	return NULL;
}

static json_t *member(const char *key, size_t n, json_t *value)
{
	json_t *name = text_json(key, n);

	return json_pack("{s:o, s:o}", "key", name, "value", value);
}

static json_t *array_json(const struct river_value *v)
{
	json_t *items = json_array();

	for (size_t i = 0; items && i < river_value_len(v); i++)
		items = appended(items, value_json(river_value_item(v, i)));
	return items;
}

static json_t *object_json(const struct river_value *v)
{
	json_t *members = json_array();

	for (size_t i = 0; members && i < river_value_len(v); i++) {
		const char *key = river_value_key(v, i);

		members = appended(members,
				   member(key, strlen(key), value_json(river_value_member(v, i))));
	}
	return members;
}

static void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

/* As the language prints it: capsule("…"), or the text of what could be a secret and is none. */
static json_t *printed_json(const struct river_value *v)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SCRATCH_MAX_BYTES);
	struct river_arena arena;

	if (river_value_is_secret(v))
		return json_string("(secret)");
	river_arena_init(&arena, SCRATCH_MAX_BYTES);
	int r = river_value_write(v, RIVER_LAYOUT_LINE, &arena, write_buf, &text);
	river_arena_fini(&arena);
	return r < 0 || text.failed ? NULL : text_json(buf_str(&text), text.len);
}

static json_t *payload_json(const struct river_value *v)
{
	const char *s;
	size_t n = 0;

	switch (river_value_type(v)) {
	case RIVER_TYPE_NULL:
	case RIVER_TYPE_MAX:
		break;
	case RIVER_TYPE_NUMBER:
		return NULL;
	case RIVER_TYPE_STRING:
		s = river_value_get_string(v, &n);
		return text_json(s, n);
	case RIVER_TYPE_BOOL:
		return json_boolean(river_value_get_bool(v));
	case RIVER_TYPE_ARRAY:
		return array_json(v);
	case RIVER_TYPE_OBJECT:
		return object_json(v);
	case RIVER_TYPE_FUNCTION:
	case RIVER_TYPE_CAPSULE:
		return printed_json(v);
	}
	return json_null();
}

json_t *value_json(const struct river_value *v)
{
	if (!v)
		return typed("null", json_null());
	if (river_value_type(v) == RIVER_TYPE_NUMBER)
		return number_value(river_value_get_float(v));
	return typed(river_type_name(river_value_type(v)), payload_json(v));
}

static json_t *strings_value(const struct river_strings *list)
{
	json_t *items = json_array();

	for (size_t i = 0; items && i < list->n_items; i++)
		items = appended(items, string_value(list->items[i]));
	return typed("array", items);
}

static json_t *map_value(const struct river_string_map *map)
{
	json_t *members = json_array();

	for (size_t i = 0; members && i < map->n_items; i++)
		members = appended(members, member(map->keys[i], strlen(map->keys[i]),
						   string_value(map->values[i])));
	return typed("object", members);
}

static json_t *maps_value(const struct river_string_maps *maps)
{
	json_t *items = json_array();

	for (size_t i = 0; items && i < maps->n_items; i++)
		items = appended(items, map_value(&maps->items[i]));
	return typed("array", items);
}

static json_t *foreign_value(const struct river_foreign *kind, const void *item)
{
	struct river_arena arena;

	river_arena_init(&arena, SCRATCH_MAX_BYTES);
	const struct river_value *v = kind->open(&arena, item);
	json_t *json = v ? value_json(v) : NULL;
	river_arena_fini(&arena);
	return json;
}

static json_t *foreigns_value(const struct river_field *f, const struct river_foreigns *list)
{
	json_t *items = json_array();

	for (size_t i = 0; items && i < list->n_items; i++)
		items = appended(items, foreign_value(f->foreign, list->items[i]));
	return typed("array", items);
}

static json_t *capsules_value(const struct river_field *f, const struct river_capsules *list)
{
	json_t *items = json_array();

	for (size_t i = 0; items && i < list->n_items; i++)
		items = appended(items, capsule_value(f->capsule_type, list->items[i]));
	return typed("array", items);
}

static json_t *secret_lists_value(const struct river_list_map *map)
{
	json_t *members = json_array();

	for (size_t i = 0; members && i < map->n_items; i++) {
		json_t *list = json_array();

		for (size_t k = 0; list && k < map->lists[i].n_items; k++)
			list = appended(list, secret_value());
		members = appended(
			members, member(map->keys[i], strlen(map->keys[i]), typed("array", list)));
	}
	return typed("object", members);
}

static json_t *optional_secret_value(const struct river_secret *secret)
{
	const char *text = secret->text ? secret->text : "";
	struct river_arena arena;

	if (secret->is_secret)
		return secret_value();
	river_arena_init(&arena, SCRATCH_MAX_BYTES);
	const struct river_value *v =
		river_value_optional_secret(&arena, text, strlen(text), false);
	json_t *json = v ? value_json(v) : NULL;
	river_arena_fini(&arena);
	return json;
}

static json_t *attribute_value(const struct river_field *f, const void *at);

/* Every field of it, in the order of its table. */
static json_t *struct_value(const struct river_schema *schema, const void *at)
{
	json_t *members = json_array();

	for (size_t i = 0; members && i < schema->n_fields; i++) {
		const struct river_field *f = &schema->fields[i];

		if (f->flags & RIVER_IGNORED)
			continue;
		members =
			appended(members, member(f->name, strlen(f->name),
						 attribute_value(f, (const char *)at + f->offset)));
	}
	return typed("object", members);
}

static json_t *attribute_value(const struct river_field *f, const void *at)
{
	switch (f->kind) {
	case RIVER_KIND_STRING:
		return string_value(*(const char *const *)at);
	case RIVER_KIND_SECRET:
		return secret_value();
	case RIVER_KIND_BOOL:
		return typed("bool", json_boolean(*(const bool *)at));
	case RIVER_KIND_INT:
		return integer_value(*(const int64_t *)at);
	case RIVER_KIND_UINT:
		return number_value((double)*(const uint64_t *)at);
	case RIVER_KIND_FLOAT:
		return number_value(*(const double *)at);
	case RIVER_KIND_DURATION:
		return duration_value(*(const int64_t *)at);
	case RIVER_KIND_STRING_LIST:
		return strings_value(at);
	case RIVER_KIND_STRING_MAP:
		return map_value(at);
	case RIVER_KIND_STRING_MAP_LIST:
		return maps_value(at);
	case RIVER_KIND_FOREIGN_LIST:
		return foreigns_value(f, at);
	case RIVER_KIND_OPTIONAL_SECRET:
		return optional_secret_value(at);
	case RIVER_KIND_SECRET_LIST_MAP:
		return secret_lists_value(at);
	case RIVER_KIND_OBJECT:
		return struct_value(f->schema, at);
	case RIVER_KIND_CAPSULE:
		return capsule_value(f->capsule_type, *(void *const *)at);
	case RIVER_KIND_CAPSULE_LIST:
		return capsules_value(f, at);
	case RIVER_KIND_VALUE:
		return value_json(*(const struct river_value *const *)at);
	case RIVER_KIND_BLOCK:
	case RIVER_KIND_BLOCK_PTR:
	case RIVER_KIND_BLOCKS:
	case RIVER_KIND_LABEL:
	case RIVER_KIND_MAX:
		break;
	}
	return NULL;
}

static json_t *attribute_json(const char *name, json_t *value)
{
	return json_pack("{s:s, s:s, s:o}", "name", name, "type", "attr", "value", value);
}

/* Its own label, where the table has a row for it. */
static const char *label_of(const struct river_schema *schema, const void *args)
{
	for (size_t i = 0; i < schema->n_fields; i++)
		if (schema->fields[i].kind == RIVER_KIND_LABEL)
			return *(const char *const *)((const char *)args +
						      schema->fields[i].offset);
	return NULL;
}

static json_t *block_json(const struct river_field *f, const void *args)
{
	const char *label = label_of(f->schema, args);
	json_t *body = body_json(f->schema, args);

	if (label && *label)
		return json_pack("{s:s, s:s, s:s, s:o}", "name", f->name, "type", "block", "label",
				 label, "body", body);
	return json_pack("{s:s, s:s, s:o}", "name", f->name, "type", "block", "body", body);
}

static json_t *append_blocks(json_t *body, const struct river_field *f,
			     const struct river_blocks *blocks)
{
	for (size_t i = 0; body && i < blocks->n_items; i++)
		body = appended(body,
				block_json(f, (const char *)blocks->items + i * f->schema->size));
	return body;
}

static const char *text_at(const void *at)
{
	const char *text = *(const char *const *)at;

	return text ? text : "";
}

/* An empty list that was given is no default where the table knows none. */
static bool is_default(const struct river_field *f, const void *at, const void *def)
{
	struct river_field field = *f;
	struct river_schema one = { .fields = &field, .n_fields = 1 };

	field.offset = 0;
	switch (f->kind) {
	case RIVER_KIND_STRING_LIST:
		return !((const struct river_strings *)at)->items;
	case RIVER_KIND_STRING_MAP:
		return !((const struct river_string_map *)at)->keys;
	case RIVER_KIND_SECRET_LIST_MAP:
		return !((const struct river_list_map *)at)->keys;
	case RIVER_KIND_CAPSULE_LIST:
		return !((const struct river_capsules *)at)->items;
	case RIVER_KIND_VALUE:
		return !*(const struct river_value *const *)at ||
		       river_value_is_null(*(const struct river_value *const *)at);
	case RIVER_KIND_SECRET:
	case RIVER_KIND_STRING:
		return strcmp(text_at(at), text_at(def)) == 0;
	default:
		return args_equal(&one, at, def);
	}
}

static json_t *append_field(json_t *body, const struct river_field *f, const void *at,
			    const void *def)
{
	if (f->kind == RIVER_KIND_LABEL || (f->flags & RIVER_IGNORED))
		return body;
	if (f->kind == RIVER_KIND_BLOCKS)
		return append_blocks(body, f, at);
	if (!(f->flags & RIVER_REQUIRED) && is_default(f, at, def))
		return body;
	if (f->kind == RIVER_KIND_BLOCK)
		return appended(body, block_json(f, at));
	if (f->kind == RIVER_KIND_BLOCK_PTR)
		return *(void *const *)at ? appended(body, block_json(f, *(void *const *)at))
					  : body;
	return appended(body, attribute_json(f->name, attribute_value(f, at)));
}

json_t *body_json(const struct river_schema *schema, const void *args)
{
	json_t *body = NULL;
	struct river_arena arena;
	void *defaults;

	river_arena_init(&arena, SCRATCH_MAX_BYTES);
	defaults = river_arena_alloc(&arena, schema->size);
	if (defaults && river_decode_defaults(schema, &arena, defaults) == 0)
		body = json_array();
	for (size_t i = 0; body && i < schema->n_fields; i++) {
		const struct river_field *f = &schema->fields[i];

		body = append_field(body, f, (const char *)args + f->offset,
				    (const char *)defaults + f->offset);
	}
	river_arena_fini(&arena);
	return body;
}

json_t *body_json_of_object(const struct river_value *object)
{
	json_t *body = json_array();

	for (size_t i = 0; object && body && i < river_value_len(object); i++) {
		if (!river_value_key(object, i))
			break;
		body = appended(body, attribute_json(river_value_key(object, i),
						     value_json(river_value_member(object, i))));
	}
	return body;
}
