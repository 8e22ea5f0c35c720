/* SPDX-License-Identifier: Apache-2.0 */
/* Values: made, looked into, compared, copied. */
#include "river-config/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[RIVER_TYPE_MAX] = {
	[RIVER_TYPE_NULL] = "null",	    [RIVER_TYPE_NUMBER] = "number",
	[RIVER_TYPE_STRING] = "string",	    [RIVER_TYPE_BOOL] = "bool",
	[RIVER_TYPE_ARRAY] = "array",	    [RIVER_TYPE_OBJECT] = "object",
	[RIVER_TYPE_FUNCTION] = "function", [RIVER_TYPE_CAPSULE] = "capsule",
};

const char *river_type_name(enum river_type type)
{
	return type < RIVER_TYPE_MAX ? type_names[type] : "";
}

struct river_value *river_value_new(struct river_arena *a, enum river_type type)
{
	struct river_value *v = river_arena_alloc(a, sizeof(*v));

	if (v)
		v->type = type;
	return v;
}

const struct river_value *river_value_null(struct river_arena *a)
{
	return river_value_new(a, RIVER_TYPE_NULL);
}

const struct river_value *river_value_bool(struct river_arena *a, bool b)
{
	struct river_value *v = river_value_new(a, RIVER_TYPE_BOOL);

	if (v)
		v->boolean = b;
	return v;
}

static struct river_value *new_number(struct river_arena *a, enum river_number_kind kind)
{
	struct river_value *v = river_value_new(a, RIVER_TYPE_NUMBER);

	if (v)
		v->number_kind = kind;
	return v;
}

const struct river_value *river_value_int(struct river_arena *a, int64_t i)
{
	struct river_value *v = new_number(a, RIVER_NUMBER_INT);

	if (v)
		v->int_value = i;
	return v;
}

const struct river_value *river_value_uint(struct river_arena *a, uint64_t u)
{
	struct river_value *v = new_number(a, RIVER_NUMBER_UINT);

	if (v)
		v->uint_value = u;
	return v;
}

const struct river_value *river_value_float(struct river_arena *a, double f)
{
	struct river_value *v = new_number(a, RIVER_NUMBER_FLOAT);

	if (v)
		v->float_value = f;
	return v;
}

struct river_value *river_value_wrap_text(struct river_arena *a, const char *text, size_t len)
{
	struct river_value *v = text ? river_value_new(a, RIVER_TYPE_STRING) : NULL;

	if (!v)
		return NULL;
	v->string.text = text;
	v->string.len = len;
	return v;
}

struct river_value *river_value_new_string(struct river_arena *a, const char *s, size_t len)
{
	return river_value_wrap_text(a, river_arena_strndup(a, s, len), len);
}

const struct river_value *river_value_string(struct river_arena *a, const char *s, size_t len)
{
	return river_value_new_string(a, s, len);
}

static struct river_value *new_secret(struct river_arena *a, enum river_capsule_kind kind,
				      const char *s, size_t len, bool is_secret)
{
	struct river_value *v = river_value_new_string(a, s, len);

	if (!v)
		return NULL;
	v->type = RIVER_TYPE_CAPSULE;
	v->capsule_kind = kind;
	v->string.is_secret = is_secret;
	return v;
}

const struct river_value *river_value_secret(struct river_arena *a, const char *s, size_t len)
{
	return new_secret(a, RIVER_CAPSULE_SECRET, s, len, true);
}

const struct river_value *river_value_optional_secret(struct river_arena *a, const char *s,
						      size_t len, bool is_secret)
{
	return new_secret(a, RIVER_CAPSULE_OPTIONAL_SECRET, s, len, is_secret);
}

const struct river_value *river_value_capsule(struct river_arena *a, const char *type, void *ptr)
{
	struct river_value *v = river_value_new(a, RIVER_TYPE_CAPSULE);

	if (!v)
		return NULL;
	v->capsule_kind = RIVER_CAPSULE_HOST;
	v->capsule.type = type;
	v->capsule.ptr = ptr;
	return v;
}

struct river_value *river_value_wrap_array(struct river_arena *a, struct river_value **items,
					   size_t n_items)
{
	struct river_value *v = river_value_new(a, RIVER_TYPE_ARRAY);

	if (!v)
		return NULL;
	v->array.items = items;
	v->array.n_items = n_items;
	return v;
}

const struct river_value *river_value_array(struct river_arena *a,
					    const struct river_value *const *items, size_t n_items)
{
	struct river_value **copy = river_arena_alloc(a, n_items * sizeof(struct river_value *));

	if (!copy)
		return NULL;
	for (size_t i = 0; i < n_items; i++)
		copy[i] = (struct river_value *)items[i];
	return river_value_wrap_array(a, copy, n_items);
}

static int key_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int r = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return r ? r : (a_len > b_len) - (a_len < b_len);
}

/* Two sorted halves of `from` into `to`; of equal keys the left one first. */
static void merge(struct river_object_member *to, const struct river_object_member *from,
		  size_t middle, size_t n)
{
	size_t i = 0, j = middle;

	for (size_t k = 0; k < n; k++) {
		bool left =
			i < middle && (j >= n || key_compare(from[i].key, from[i].key_len,
							     from[j].key, from[j].key_len) <= 0);

		to[k] = left ? from[i++] : from[j++];
	}
}

/* Stable, so that the last of equal keys is known; `spare` holds as many. */
static void merge_sort(struct river_object_member *members, struct river_object_member *spare,
		       size_t n)
{
	size_t middle = n / 2;

	if (n < 2)
		return;
	merge_sort(members, spare, middle);
	merge_sort(members + middle, spare, n - middle);
	memcpy(spare, members, n * sizeof(*spare));
	merge(members, spare, middle, n);
}

static size_t drop_duplicates(struct river_object_member *members, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && key_compare(members[i].key, members[i].key_len, members[i + 1].key,
					     members[i + 1].key_len) == 0)
			continue;
		members[kept++] = members[i];
	}
	return kept;
}

struct river_value *river_value_wrap_object(struct river_arena *a,
					    struct river_object_member *members, size_t n_members)
{
	struct river_object_member *spare = river_arena_alloc(a, n_members * sizeof(*spare));
	struct river_value *v = river_value_new(a, RIVER_TYPE_OBJECT);

	if (!spare || !v)
		return NULL;
	merge_sort(members, spare, n_members);
	v->object.members = members;
	v->object.n_members = drop_duplicates(members, n_members);
	return v;
}

const struct river_value *river_value_object(struct river_arena *a,
					     const struct river_member *members, size_t n_members)
{
	struct river_object_member *copy = river_arena_alloc(a, n_members * sizeof(*copy));

	if (!copy)
		return NULL;
	for (size_t i = 0; i < n_members; i++) {
		copy[i].key_len = strlen(members[i].key);
		copy[i].key = river_arena_strndup(a, members[i].key, copy[i].key_len);
		copy[i].value = (struct river_value *)members[i].value;
		if (!copy[i].key)
			return NULL;
	}
	return river_value_wrap_object(a, copy, n_members);
}

struct river_value *river_value_alias(struct river_arena *a, const struct river_value *v)
{
	struct river_value *alias = river_value_new(a, v->type);

	if (alias)
		*alias = *v;
	return alias;
}

void river_value_forget(struct river_value *v)
{
	if (v->origin)
		v->origin = NULL;
	if (v->type == RIVER_TYPE_ARRAY)
		for (size_t i = 0; i < v->array.n_items; i++)
			river_value_forget(v->array.items[i]);
	if (v->type == RIVER_TYPE_OBJECT && !v->object.foreign)
		for (size_t i = 0; i < v->object.n_members; i++)
			river_value_forget(v->object.members[i].value);
}

static bool copy_array(struct river_arena *a, struct river_value *v)
{
	struct river_value **items =
		river_arena_alloc(a, v->array.n_items * sizeof(struct river_value *));

	if (!items)
		return false;
	for (size_t i = 0; i < v->array.n_items; i++) {
		items[i] = (struct river_value *)river_value_copy(a, v->array.items[i]);
		if (!items[i])
			return false;
	}
	v->array.items = items;
	return true;
}

static bool copy_object(struct river_arena *a, struct river_value *v)
{
	size_t n = v->object.n_members;
	struct river_object_member *members = river_arena_alloc(a, n * sizeof(*members));

	if (!members)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct river_object_member *from = &v->object.members[i];

		members[i].key_len = from->key_len;
		members[i].key = river_arena_strndup(a, from->key, from->key_len);
		members[i].value = (struct river_value *)river_value_copy(a, from->value);
		if (!members[i].key || !members[i].value)
			return false;
	}
	v->object.members = members;
	return true;
}

/* NULL with *ret_is false: it is no foreign object, nor an array of such. */
static const struct river_value *copy_foreign(struct river_arena *a, const struct river_value *v,
					      bool *ret_is)
{
	*ret_is = river_value_is_foreign(v);
	if (*ret_is)
		return river_foreign_copy(a, v);
	return v->type == RIVER_TYPE_ARRAY ? river_foreign_copy_array(a, v, ret_is) : NULL;
}

const struct river_value *river_value_copy(struct river_arena *a, const struct river_value *v)
{
	bool is_foreign, done = true;
	const struct river_value *foreign = copy_foreign(a, v, &is_foreign);
	struct river_value *copy = is_foreign ? NULL : river_value_alias(a, v);

	if (is_foreign)
		return foreign;

	if (!copy)
		return NULL;
	copy->origin = NULL;
	if (v->type == RIVER_TYPE_ARRAY) {
		done = copy_array(a, copy);
	} else if (v->type == RIVER_TYPE_OBJECT) {
		done = copy_object(a, copy);
	} else if (river_value_has_text(v)) {
		copy->string.text = river_arena_strndup(a, v->string.text, v->string.len);
		done = copy->string.text != NULL;
	}
	return done ? copy : NULL;
}

enum river_type river_value_type(const struct river_value *v)
{
	return v->type;
}

bool river_value_is_null(const struct river_value *v)
{
	return v->type == RIVER_TYPE_NULL;
}

bool river_value_is_capsule(const struct river_value *v, enum river_capsule_kind kind)
{
	return v->type == RIVER_TYPE_CAPSULE && v->capsule_kind == kind;
}

bool river_value_is_secret_kind(const struct river_value *v)
{
	return v->type == RIVER_TYPE_CAPSULE && v->capsule_kind != RIVER_CAPSULE_HOST;
}

bool river_value_is_secret(const struct river_value *v)
{
	return river_value_is_secret_kind(v) && v->string.is_secret;
}

bool river_value_has_text(const struct river_value *v)
{
	return v->type == RIVER_TYPE_STRING || river_value_is_secret_kind(v);
}

bool river_value_get_bool(const struct river_value *v)
{
	return v->type == RIVER_TYPE_BOOL && v->boolean;
}

double river_value_as_double(const struct river_value *v)
{
	switch (v->number_kind) {
	case RIVER_NUMBER_UINT:
		return (double)v->uint_value;
	case RIVER_NUMBER_INT:
		return (double)v->int_value;
	case RIVER_NUMBER_FLOAT:
		break;
	}
	return v->float_value;
}

double river_value_get_float(const struct river_value *v)
{
	return v->type == RIVER_TYPE_NUMBER ? river_value_as_double(v) : 0;
}

/* 2^63 is the first double that no int64_t holds. */
static int64_t truncate_float(double f)
{
	if (isnan(f))
		return 0;
	if (f >= 0x1p63)
		return INT64_MAX;
	return f < -0x1p63 ? INT64_MIN : (int64_t)f;
}

uint64_t river_value_as_bits(const struct river_value *v)
{
	if (v->number_kind != RIVER_NUMBER_FLOAT)
		return v->uint_value;
	if (v->float_value >= 0x1p63 && v->float_value < 0x1p64)
		return (uint64_t)v->float_value;
	return (uint64_t)truncate_float(v->float_value);
}

int64_t river_value_get_int(const struct river_value *v)
{
	if (v->type != RIVER_TYPE_NUMBER)
		return 0;
	if (v->number_kind == RIVER_NUMBER_FLOAT)
		return truncate_float(v->float_value);
	if (v->number_kind == RIVER_NUMBER_UINT && v->uint_value > INT64_MAX)
		return INT64_MAX;
	return v->int_value;
}

const char *river_value_get_string(const struct river_value *v, size_t *ret_len)
{
	bool readable = river_value_has_text(v) && !river_value_is_secret(v);

	if (ret_len)
		*ret_len = readable ? v->string.len : 0;
	return readable ? v->string.text : "";
}

const char *river_value_get_secret_text(const struct river_value *v, size_t *ret_len)
{
	bool readable = river_value_has_text(v);

	if (ret_len)
		*ret_len = readable ? v->string.len : 0;
	return readable ? v->string.text : NULL;
}

void *river_value_get_capsule(const struct river_value *v, const char *type)
{
	if (!river_value_is_capsule(v, RIVER_CAPSULE_HOST) || strcmp(v->capsule.type, type) != 0)
		return NULL;
	return v->capsule.ptr;
}

size_t river_value_len(const struct river_value *v)
{
	if (v->type == RIVER_TYPE_ARRAY)
		return v->array.n_items;
	return v->type == RIVER_TYPE_OBJECT && river_value_open(v) ? v->object.n_members : 0;
}

const struct river_value *river_value_item(const struct river_value *v, size_t i)
{
	return v->type == RIVER_TYPE_ARRAY && i < v->array.n_items ? v->array.items[i] : NULL;
}

const char *river_value_key(const struct river_value *v, size_t i)
{
	return v->type == RIVER_TYPE_OBJECT && i < river_value_len(v) ? v->object.members[i].key
								      : NULL;
}

const struct river_value *river_value_member(const struct river_value *v, size_t i)
{
	return v->type == RIVER_TYPE_OBJECT && i < river_value_len(v) ? v->object.members[i].value
								      : NULL;
}

const struct river_value *river_value_find_bytes(const struct river_value *v, const char *key,
						 size_t len)
{
	size_t low = 0, high = river_value_len(v);

	while (v->type == RIVER_TYPE_OBJECT && low < high) {
		size_t mid = low + (high - low) / 2;
		const struct river_object_member *m = &v->object.members[mid];
		int order = key_compare(m->key, m->key_len, key, len);

		if (order == 0)
			return m->value;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct river_value *river_value_find(const struct river_value *v, const char *key)
{
	return river_value_find_bytes(v, key, strlen(key));
}

static bool number_equal(const struct river_value *a, const struct river_value *b)
{
	if (a->number_kind == RIVER_NUMBER_FLOAT || b->number_kind == RIVER_NUMBER_FLOAT)
		return river_value_as_double(a) == river_value_as_double(b);
	return a->uint_value == b->uint_value;
}

static bool text_equal(const struct river_value *a, const struct river_value *b)
{
	return a->string.len == b->string.len &&
	       memcmp(a->string.text, b->string.text, a->string.len) == 0;
}

static bool capsule_equal(const struct river_value *a, const struct river_value *b)
{
	if (a->capsule_kind != b->capsule_kind)
		return false;
	if (a->capsule_kind == RIVER_CAPSULE_HOST)
		return strcmp(a->capsule.type, b->capsule.type) == 0 &&
		       a->capsule.ptr == b->capsule.ptr;
	return text_equal(a, b) && a->string.is_secret == b->string.is_secret;
}

static bool array_equal(const struct river_value *a, const struct river_value *b)
{
	if (a->array.n_items != b->array.n_items)
		return false;
	for (size_t i = 0; i < a->array.n_items; i++)
		if (!river_value_equal(a->array.items[i], b->array.items[i]))
			return false;
	return true;
}

static bool object_equal(const struct river_value *a, const struct river_value *b)
{
	bool equal;

	if (river_foreign_compare(a, b, &equal))
		return equal;
	if (!river_value_open(a) || !river_value_open(b) ||
	    a->object.n_members != b->object.n_members)
		return false;
	for (size_t i = 0; i < a->object.n_members; i++) {
		const struct river_object_member *x = &a->object.members[i],
						 *y = &b->object.members[i];

		if (key_compare(x->key, x->key_len, y->key, y->key_len) != 0 ||
		    !river_value_equal(x->value, y->value))
			return false;
	}
	return true;
}

/* A string against either kind of secret is a comparison of texts. */
static bool mixed_equal(const struct river_value *a, const struct river_value *b)
{
	bool one_string = a->type == RIVER_TYPE_STRING || b->type == RIVER_TYPE_STRING;

	return one_string && river_value_has_text(a) && river_value_has_text(b) && text_equal(a, b);
}

bool river_value_equal(const struct river_value *a, const struct river_value *b)
{
	if (a->type != b->type)
		return mixed_equal(a, b);
	switch (a->type) {
	case RIVER_TYPE_NULL:
		return true;
	case RIVER_TYPE_NUMBER:
		return number_equal(a, b);
	case RIVER_TYPE_STRING:
		return text_equal(a, b);
	case RIVER_TYPE_BOOL:
		return a->boolean == b->boolean;
	case RIVER_TYPE_ARRAY:
		return array_equal(a, b);
	case RIVER_TYPE_OBJECT:
		return object_equal(a, b);
	case RIVER_TYPE_CAPSULE:
		return capsule_equal(a, b);
	case RIVER_TYPE_FUNCTION:
	case RIVER_TYPE_MAX:
		break;
	}
	return false;
}
