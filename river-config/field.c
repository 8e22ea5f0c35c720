/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of schemas: sizes, conversions, defaults. */
#include "river-config/field.h"

#include <errno.h>
#include <string.h>

#include "river-config/convert.h"

struct kind_traits {
	size_t size;
	bool is_block;
};

/* Bytes a kind takes in the caller's struct; 0: as many as its schema says. */
static const struct kind_traits kinds[RIVER_KIND_MAX] = {
	[RIVER_KIND_STRING] = { sizeof(const char *), false },
	[RIVER_KIND_BOOL] = { sizeof(bool), false },
	[RIVER_KIND_INT] = { sizeof(int64_t), false },
	[RIVER_KIND_UINT] = { sizeof(uint64_t), false },
	[RIVER_KIND_FLOAT] = { sizeof(double), false },
	[RIVER_KIND_DURATION] = { sizeof(int64_t), false },
	[RIVER_KIND_SECRET] = { sizeof(const char *), false },
	[RIVER_KIND_OPTIONAL_SECRET] = { sizeof(struct river_secret), false },
	[RIVER_KIND_STRING_LIST] = { sizeof(struct river_strings), false },
	[RIVER_KIND_STRING_MAP] = { sizeof(struct river_string_map), false },
	[RIVER_KIND_STRING_MAP_LIST] = { sizeof(struct river_string_maps), false },
	[RIVER_KIND_SECRET_LIST_MAP] = { sizeof(struct river_list_map), false },
	[RIVER_KIND_CAPSULE] = { sizeof(void *), false },
	[RIVER_KIND_CAPSULE_LIST] = { sizeof(struct river_capsules), false },
	[RIVER_KIND_FOREIGN_LIST] = { sizeof(struct river_foreigns), false },
	[RIVER_KIND_OBJECT] = { 0, false },
	[RIVER_KIND_VALUE] = { sizeof(const struct river_value *), false },
	[RIVER_KIND_BLOCK] = { 0, true },
	[RIVER_KIND_BLOCK_PTR] = { sizeof(void *), true },
	[RIVER_KIND_BLOCKS] = { sizeof(struct river_blocks), true },
	[RIVER_KIND_LABEL] = { sizeof(const char *), false },
};

size_t river_field_size(const struct river_field *field)
{
	size_t size = kinds[field->kind].size;

	return size ? size : field->schema->size;
}

bool river_field_is_block(const struct river_field *field)
{
	return kinds[field->kind].is_block;
}

const struct river_field *river_field_find(const struct river_schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->n_fields; i++)
		if (schema->fields[i].kind != RIVER_KIND_LABEL &&
		    strcmp(schema->fields[i].name, name) == 0)
			return &schema->fields[i];
	return NULL;
}

int river_field_set_text(struct river_arena *arena, const char *text, size_t len, void *out)
{
	const char *copy = river_arena_strndup(arena, text, len);

	if (!copy)
		return -ENOMEM;
	*(const char **)out = copy;
	return 0;
}

static int convert_text(const struct river_value *v, struct river_error *err, bool secret,
			void *out)
{
	const char *text;
	size_t len;
	int r = secret ? river_to_secret(v, err, &text, &len) : river_to_text(v, err, &text, &len);

	return r == RIVER_OK ? river_field_set_text(err->arena, text, len, out) : r;
}

static int convert_optional_secret(const struct river_value *v, struct river_error *err,
				   struct river_secret *out)
{
	out->is_secret = river_value_is_secret(v);
	return convert_text(v, err, true, &out->text);
}

static int check_length(const struct river_field *field, const struct river_value *v,
			struct river_error *err)
{
	size_t n = river_value_len(v);

	if (field->length == 0 || n == field->length)
		return RIVER_OK;
	if (v->type == RIVER_TYPE_ARRAY)
		return river_error_set(err, v, "array must have exactly %zu elements, got %zu",
				       field->length, n);
	if (v->type == RIVER_TYPE_OBJECT)
		return river_error_set(err, v, "object must have exactly %zu keys, got %zu",
				       field->length, n);
	return RIVER_OK;
}

/* An attribute of an object, which has no place of its own in an error unless its value has. */
static int convert_member(const struct river_schema *schema, const struct river_value *v,
			  const struct river_object_member *m, struct river_error *err, char *self)
{
	const struct river_field *field = river_field_find(schema, m->key);
	const char *problem = NULL;
	void *out;
	int r;

	if (!field || river_field_is_block(field))
		return river_error_set(err, v, "does not have field named \"%s\"", m->key);
	out = field->flags & RIVER_IGNORED ? river_arena_alloc(err->arena, river_field_size(field))
					   : self + field->offset;
	r = out ? river_field_convert(field, m->value, err, out) : -ENOMEM;
	if (r == RIVER_OK && field->validate)
		problem = field->validate(out, err->arena);
	if (problem)
		r = river_error_set(err, m->value, "%s", problem);
	return river_error_in_member(err, v, m->key, r);
}

/* Texts of a zero value are "", not NULL. */
static int zero_field(const struct river_field *field, struct river_arena *arena, char *self)
{
	void *out = self + field->offset;

	switch (field->kind) {
	case RIVER_KIND_STRING:
	case RIVER_KIND_SECRET:
	case RIVER_KIND_OPTIONAL_SECRET:
	case RIVER_KIND_LABEL:
		*(const char **)out = "";
		return 0;
	case RIVER_KIND_VALUE:
		*(const struct river_value **)out = river_value_null(arena);
		return *(const struct river_value **)out ? 0 : -ENOMEM;
	default:
		return 0;
	}
}

static int zero_struct(const struct river_schema *schema, struct river_arena *arena, char *self)
{
	int r = 0;

	memset(self, 0, schema->size);
	for (size_t i = 0; i < schema->n_fields && r == 0; i++)
		if (!(schema->fields[i].flags & RIVER_IGNORED))
			r = zero_field(&schema->fields[i], arena, self);
	return r;
}

/* An object is as a block that is present, but nothing is required of it. */
static int convert_object(const struct river_schema *schema, const struct river_value *v,
			  struct river_error *err, char *self)
{
	const char *problem;
	int r;

	if (v->type == RIVER_TYPE_NULL)
		return zero_struct(schema, err->arena, self);
	if (v->type != RIVER_TYPE_OBJECT)
		return river_error_type(err, v, RIVER_TYPE_OBJECT);
	r = river_value_open(v) ? river_decode_defaults(schema, err->arena, self) : -ENOMEM;
	for (size_t i = 0; i < v->object.n_members && r == RIVER_OK; i++)
		r = convert_member(schema, v, &v->object.members[i], err, self);
	if (r != RIVER_OK || !schema->validate)
		return r;
	problem = schema->validate(self, err->arena);
	return problem ? river_error_set(err, v, "%s", problem) : RIVER_OK;
}

static int convert_value(const struct river_value *v, struct river_error *err,
			 const struct river_value **out)
{
	*out = river_value_copy(err->arena, v);
	return *out ? RIVER_OK : -ENOMEM;
}

static int convert_kind(const struct river_field *field, const struct river_value *v,
			struct river_error *err, void *out)
{
	switch (field->kind) {
	case RIVER_KIND_STRING:
		return convert_text(v, err, false, out);
	case RIVER_KIND_SECRET:
		return convert_text(v, err, true, out);
	case RIVER_KIND_OPTIONAL_SECRET:
		return convert_optional_secret(v, err, out);
	case RIVER_KIND_BOOL:
		return river_to_bool(v, err, out);
	case RIVER_KIND_INT:
		return river_to_int(v, err, out);
	case RIVER_KIND_UINT:
		return river_to_uint(v, err, out);
	case RIVER_KIND_FLOAT:
		return river_to_float(v, err, out);
	case RIVER_KIND_DURATION:
		return river_to_duration(v, err, out);
	case RIVER_KIND_STRING_LIST:
		return river_to_strings(v, err, out);
	case RIVER_KIND_STRING_MAP:
		return river_to_string_map(v, err, out);
	case RIVER_KIND_STRING_MAP_LIST:
		return river_to_string_maps(v, err, out);
	case RIVER_KIND_SECRET_LIST_MAP:
		return river_to_secret_lists(v, err, out);
	case RIVER_KIND_CAPSULE:
		return river_to_capsule(v, field->capsule_type, err, out);
	case RIVER_KIND_CAPSULE_LIST:
		return river_to_capsules(v, field->capsule_type, err, out);
	case RIVER_KIND_FOREIGN_LIST:
		return river_to_foreigns(v, field->foreign, err, out);
	case RIVER_KIND_OBJECT:
		return convert_object(field->schema, v, err, out);
	case RIVER_KIND_VALUE:
		return convert_value(v, err, out);
	case RIVER_KIND_BLOCK:
	case RIVER_KIND_BLOCK_PTR:
	case RIVER_KIND_BLOCKS:
	case RIVER_KIND_LABEL:
	case RIVER_KIND_MAX:
		break;
	}
	return -EINVAL;
}

static int check_text(const struct river_field *field, const struct river_value *v,
		      struct river_error *err, const void *out)
{
	const char *problem = NULL;

	if (field->check_text && v->type != RIVER_TYPE_NULL)
		problem = field->check_text(*(const char *const *)out, err->arena);
	return problem ? river_error_set(err, v, "%s", problem) : RIVER_OK;
}

int river_field_convert(const struct river_field *field, const struct river_value *v,
			struct river_error *err, void *out)
{
	int r = convert_kind(field, v, err, out);

	if (r == RIVER_OK)
		r = check_length(field, v, err);
	return r == RIVER_OK ? check_text(field, v, err, out) : r;
}

/*
 * Defaults are written as text and converted as a string would be; only bool has no such
 * conversion.
 */
static int convert_default(const struct river_field *field, struct river_arena *arena, void *out)
{
	struct river_error err = { .arena = arena };
	struct river_value *v = river_value_new_string(arena, field->def, strlen(field->def));
	int r;

	if (!v)
		return -ENOMEM;
	if (field->kind == RIVER_KIND_BOOL) {
		v->type = RIVER_TYPE_BOOL;
		v->boolean = strcmp(field->def, "true") == 0;
	}
	r = river_field_convert(field, v, &err, out);
	return r == RIVER_INVALID ? -EINVAL : r;
}

int river_field_default(const struct river_field *field, struct river_arena *arena, char *self)
{
	if (field->flags & RIVER_IGNORED)
		return 0;
	if (field->kind == RIVER_KIND_BLOCK || field->kind == RIVER_KIND_OBJECT)
		return river_decode_defaults(field->schema, arena, self + field->offset);
	if (field->def)
		return convert_default(field, arena, self + field->offset);
	return zero_field(field, arena, self);
}
