/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two decoded blocks hold the same arguments. */
#include "agent/component/args_equal.h"

#include <string.h>

static bool strings_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool list_equal(const struct river_strings *a, const struct river_strings *b)
{
	if (a->n_items != b->n_items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!strings_equal(a->items[i], b->items[i]))
			return false;
	return true;
}

static bool map_equal(const struct river_string_map *a, const struct river_string_map *b)
{
	if (a->n_items != b->n_items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!strings_equal(a->keys[i], b->keys[i]) ||
		    !strings_equal(a->values[i], b->values[i]))
			return false;
	return true;
}

static bool maps_equal(const struct river_string_maps *a, const struct river_string_maps *b)
{
	if (a->n_items != b->n_items)
		return false;
	/* An absent list and an empty one may mean different things: only the former has no address. */
	if (!a->items != !b->items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!map_equal(&a->items[i], &b->items[i]))
			return false;
	return true;
}

static bool list_map_equal(const struct river_list_map *a, const struct river_list_map *b)
{
	if (a->n_items != b->n_items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!strings_equal(a->keys[i], b->keys[i]) ||
		    !list_equal(&a->lists[i], &b->lists[i]))
			return false;
	return true;
}

static bool secret_equal(const struct river_secret *a, const struct river_secret *b)
{
	return strings_equal(a->text, b->text) && a->is_secret == b->is_secret;
}

static bool capsules_equal(const struct river_capsules *a, const struct river_capsules *b)
{
	if (a->n_items != b->n_items)
		return false;
	return a->n_items == 0 || memcmp(a->items, b->items, a->n_items * sizeof(*a->items)) == 0;
}

static bool foreigns_equal(const struct river_foreign *kind, const struct river_foreigns *a,
			   const struct river_foreigns *b)
{
	if (a->n_items != b->n_items || !a->items != !b->items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (a->items[i] != b->items[i] && !kind->equal(a->items[i], b->items[i]))
			return false;
	return true;
}

static bool blocks_equal(const struct river_field *f, const struct river_blocks *a,
			 const struct river_blocks *b)
{
	if (a->n_items != b->n_items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!args_equal(f->schema, (const char *)a->items + i * f->schema->size,
				(const char *)b->items + i * f->schema->size))
			return false;
	return true;
}

static bool block_ptr_equal(const struct river_field *f, const void *a, const void *b)
{
	const void *left = *(const void *const *)a;
	const void *right = *(const void *const *)b;

	if (!left || !right)
		return left == right;
	return args_equal(f->schema, left, right);
}

static bool values_equal(const struct river_value *a, const struct river_value *b)
{
	return a == b || (a && b && river_value_equal(a, b));
}

static bool field_equal(const struct river_field *f, const void *a, const void *b)
{
	switch (f->kind) {
	case RIVER_KIND_STRING:
	case RIVER_KIND_SECRET:
	case RIVER_KIND_LABEL:
		return strings_equal(*(const char *const *)a, *(const char *const *)b);
	case RIVER_KIND_BOOL:
		return *(const bool *)a == *(const bool *)b;
	case RIVER_KIND_INT:
	case RIVER_KIND_UINT:
	case RIVER_KIND_DURATION:
		return *(const int64_t *)a == *(const int64_t *)b;
	case RIVER_KIND_FLOAT:
		return *(const double *)a == *(const double *)b;
	case RIVER_KIND_OPTIONAL_SECRET:
		return secret_equal(a, b);
	case RIVER_KIND_STRING_LIST:
		return list_equal(a, b);
	case RIVER_KIND_STRING_MAP:
		return map_equal(a, b);
	case RIVER_KIND_STRING_MAP_LIST:
		return maps_equal(a, b);
	case RIVER_KIND_FOREIGN_LIST:
		return foreigns_equal(f->foreign, a, b);
	case RIVER_KIND_SECRET_LIST_MAP:
		return list_map_equal(a, b);
	case RIVER_KIND_CAPSULE:
		return *(void *const *)a == *(void *const *)b;
	case RIVER_KIND_CAPSULE_LIST:
		return capsules_equal(a, b);
	case RIVER_KIND_VALUE:
		return values_equal(*(const struct river_value *const *)a,
				    *(const struct river_value *const *)b);
	case RIVER_KIND_OBJECT:
	case RIVER_KIND_BLOCK:
		return args_equal(f->schema, a, b);
	case RIVER_KIND_BLOCK_PTR:
		return block_ptr_equal(f, a, b);
	case RIVER_KIND_BLOCKS:
		return blocks_equal(f, a, b);
	case RIVER_KIND_MAX:
		break;
	}
	return false;
}

bool args_equal(const struct river_schema *schema, const void *a, const void *b)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct river_field *f = &schema->fields[i];

		if (f->flags & RIVER_IGNORED)
			continue;
		if (!field_equal(f, (const char *)a + f->offset, (const char *)b + f->offset))
			return false;
	}
	return true;
}
