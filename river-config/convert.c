/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions on the way to a typed argument. */
#include "river-config/convert.h"

#include <errno.h>
#include <string.h>

#include "river-config/number.h"
#include "river-config/print.h"
#include "river-config/text.h"

int river_to_text(const struct river_value *v, struct river_error *err, const char **ret_text,
		  size_t *ret_len)
{
	struct river_text t = RIVER_TEXT_INIT(err->arena);

	if (v->type == RIVER_TYPE_NULL) {
		*ret_text = "";
		*ret_len = 0;
		return RIVER_OK;
	}
	if (v->type == RIVER_TYPE_NUMBER) {
		river_print_value(&t, v, RIVER_LAYOUT_LINE);
		*ret_text = river_text_take(&t);
		*ret_len = t.len;
		return *ret_text ? RIVER_OK : -ENOMEM;
	}
	if (!river_value_has_text(v) || river_value_is_secret(v))
		return river_error_type(err, v, RIVER_TYPE_STRING);
	*ret_text = v->string.text;
	*ret_len = v->string.len;
	return RIVER_OK;
}

int river_to_secret(const struct river_value *v, struct river_error *err, const char **ret_text,
		    size_t *ret_len)
{
	if (v->type != RIVER_TYPE_NULL && !river_value_has_text(v))
		return river_error_type(err, v, RIVER_TYPE_CAPSULE);
	*ret_text = v->type == RIVER_TYPE_NULL ? "" : v->string.text;
	*ret_len = v->type == RIVER_TYPE_NULL ? 0 : v->string.len;
	return RIVER_OK;
}

int river_to_bool(const struct river_value *v, struct river_error *err, bool *ret)
{
	if (v->type != RIVER_TYPE_NULL && v->type != RIVER_TYPE_BOOL)
		return river_error_type(err, v, RIVER_TYPE_BOOL);
	*ret = v->type == RIVER_TYPE_BOOL && v->boolean;
	return RIVER_OK;
}

static bool has_float_sign(const char *s, size_t n)
{
	return memchr(s, '.', n) || memchr(s, 'e', n) || memchr(s, 'E', n);
}

/*
 * A minus sign makes it an integer, whatever follows; a dot or an exponent a float; else it must be
 * unsigned.
 */
static bool number_from_text(const char *s, size_t n, struct river_value *number)
{
	*number = (struct river_value){ .type = RIVER_TYPE_NUMBER };
	if (n == 0)
		return false;
	if (s[0] == '-') {
		number->number_kind = RIVER_NUMBER_INT;
		return river_parse_int(s, n, 10, &number->int_value);
	}
	if (has_float_sign(s, n)) {
		number->number_kind = RIVER_NUMBER_FLOAT;
		return river_parse_float(s, n, &number->float_value);
	}
	number->number_kind = RIVER_NUMBER_UINT;
	return river_parse_uint(s, n, 10, &number->uint_value);
}

static int to_number(const struct river_value *v, struct river_error *err,
		     struct river_value *number)
{
	*number = (struct river_value){ .type = RIVER_TYPE_NUMBER };
	if (v->type == RIVER_TYPE_NULL)
		return RIVER_OK;
	if (v->type == RIVER_TYPE_NUMBER) {
		*number = *v;
		return RIVER_OK;
	}
	if (!river_value_has_text(v) || river_value_is_secret_kind(v) ||
	    !number_from_text(v->string.text, v->string.len, number))
		return river_error_type(err, v, RIVER_TYPE_NUMBER);
	return RIVER_OK;
}

int river_to_int(const struct river_value *v, struct river_error *err, int64_t *ret)
{
	struct river_value number;
	int r = to_number(v, err, &number);

	if (r == RIVER_OK)
		*ret = (int64_t)river_value_as_bits(&number);
	return r;
}

int river_to_uint(const struct river_value *v, struct river_error *err, uint64_t *ret)
{
	struct river_value number;
	int r = to_number(v, err, &number);

	if (r == RIVER_OK)
		*ret = river_value_as_bits(&number);
	return r;
}

int river_to_float(const struct river_value *v, struct river_error *err, double *ret)
{
	struct river_value number;
	int r = to_number(v, err, &number);

	if (r == RIVER_OK)
		*ret = river_value_as_double(&number);
	return r;
}

/* As the time package of Go quotes: bytes that are no printable ASCII by their number. */
static void quote_duration(struct river_text *t, const char *s, size_t n)
{
	river_text_char(t, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < ' ' || c >= 0x80)
			river_text_printf(t, "\\x%02x", c);
		else
			river_text_printf(t, c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	river_text_char(t, '"');
}

static int error_duration(struct river_error *err, const struct river_value *v, const char *s,
			  size_t n, enum river_duration_status status, const char *unit,
			  size_t unit_len)
{
	struct river_text t = RIVER_TEXT_INIT(err->arena);
	const char *text;

	if (status == RIVER_DURATION_UNKNOWN_UNIT) {
		river_text_str(&t, "time: unknown unit ");
		quote_duration(&t, unit, unit_len);
		river_text_str(&t, " in duration ");
	} else {
		river_text_printf(&t, "time: %s duration ",
				  status == RIVER_DURATION_MISSING_UNIT ? "missing unit in"
									: "invalid");
	}
	quote_duration(&t, s, n);
	text = river_text_take(&t);
	return text ? river_error_set(err, v, "%s", text) : -ENOMEM;
}

/* A number becomes text first, as for any argument that is written as a string: only 0 has no unit. */
int river_to_duration(const struct river_value *v, struct river_error *err, int64_t *ret_ns)
{
	enum river_duration_status status;
	const char *text, *unit = "";
	size_t len, unit_len = 0;
	int r;

	if (v->type == RIVER_TYPE_NULL) {
		*ret_ns = 0;
		return RIVER_OK;
	}
	r = river_to_text(v, err, &text, &len);
	if (r != RIVER_OK)
		return r;
	status = river_parse_duration(text, len, ret_ns, &unit, &unit_len);
	if (status != RIVER_DURATION_OK)
		return error_duration(err, v, text, len, status, unit, unit_len);
	return RIVER_OK;
}

static const char *capsule_type(const struct river_value *v)
{
	switch (v->capsule_kind) {
	case RIVER_CAPSULE_SECRET:
		return "alloytypes.Secret";
	case RIVER_CAPSULE_OPTIONAL_SECRET:
		return "alloytypes.OptionalSecret";
	case RIVER_CAPSULE_HOST:
		break;
	}
	return v->capsule.type;
}

int river_to_capsule(const struct river_value *v, const char *type, struct river_error *err,
		     void **ret_ptr)
{
	if (v->type == RIVER_TYPE_NULL) {
		*ret_ptr = NULL;
		return RIVER_OK;
	}
	if (v->type != RIVER_TYPE_CAPSULE)
		return river_error_type(err, v, RIVER_TYPE_CAPSULE);
	if (strcmp(capsule_type(v), type) != 0 || v->capsule_kind != RIVER_CAPSULE_HOST)
		return river_error_set(err, v, "expected capsule(\"%s\"), got capsule(\"%s\")",
				       type, capsule_type(v));
	*ret_ptr = v->capsule.ptr;
	return RIVER_OK;
}

/*
 * The lists and maps are for structs of the host: they own copies and refer to nothing outside of
 * the arena.
 */
static int copy_text(const struct river_value *v, struct river_error *err, bool secret,
		     const char **ret_text)
{
	const char *text;
	size_t len;
	int r = secret ? river_to_secret(v, err, &text, &len) : river_to_text(v, err, &text, &len);

	if (r != RIVER_OK)
		return r;
	*ret_text = river_arena_strndup(err->arena, text, len);
	return *ret_text ? RIVER_OK : -ENOMEM;
}

/* RIVER_OK with *ret_n items, null being none. */
static int check_array(const struct river_value *v, struct river_error *err, size_t *ret_n)
{
	if (v->type != RIVER_TYPE_NULL && v->type != RIVER_TYPE_ARRAY)
		return river_error_type(err, v, RIVER_TYPE_ARRAY);
	*ret_n = v->type == RIVER_TYPE_ARRAY ? v->array.n_items : 0;
	return RIVER_OK;
}

static int to_texts(const struct river_value *v, struct river_error *err, bool secret,
		    struct river_strings *ret)
{
	struct river_strings list;
	int r = check_array(v, err, &list.n_items);

	if (r != RIVER_OK)
		return r;
	list.items = river_arena_alloc(err->arena, list.n_items * sizeof(*list.items));
	if (!list.items)
		return -ENOMEM;
	for (size_t i = 0; i < list.n_items; i++) {
		r = copy_text(v->array.items[i], err, secret, &list.items[i]);
		if (r != RIVER_OK)
			return river_error_in_item(err, v, i, r);
	}
	*ret = list;
	return RIVER_OK;
}

int river_to_strings(const struct river_value *v, struct river_error *err,
		     struct river_strings *ret)
{
	return to_texts(v, err, false, ret);
}

/* RIVER_OK with *ret_n members, null being none. */
static int check_object(const struct river_value *v, struct river_error *err, size_t *ret_n)
{
	if (v->type != RIVER_TYPE_NULL && v->type != RIVER_TYPE_OBJECT)
		return river_error_type(err, v, RIVER_TYPE_OBJECT);
	if (!river_value_open(v))
		return -ENOMEM;
	*ret_n = river_value_len(v);
	return RIVER_OK;
}

static int fill_lists(const struct river_value *v, struct river_error *err,
		      struct river_list_map *map)
{
	for (size_t i = 0; i < map->n_items; i++) {
		const struct river_object_member *m = &v->object.members[i];
		int r = to_texts(m->value, err, true, &map->lists[i]);

		if (r != RIVER_OK)
			return river_error_in_member(err, v, m->key, r);
		map->keys[i] = river_arena_strndup(err->arena, m->key, m->key_len);
		if (!map->keys[i])
			return -ENOMEM;
	}
	return RIVER_OK;
}

int river_to_secret_lists(const struct river_value *v, struct river_error *err,
			  struct river_list_map *ret)
{
	struct river_list_map map = { 0 };
	int r = check_object(v, err, &map.n_items);

	if (r != RIVER_OK)
		return r;
	map.keys = river_arena_alloc(err->arena, map.n_items * sizeof(*map.keys));
	map.lists = river_arena_alloc(err->arena, map.n_items * sizeof(*map.lists));
	if (!map.keys || !map.lists)
		return -ENOMEM;
	r = fill_lists(v, err, &map);
	if (r == RIVER_OK)
		*ret = map;
	return r;
}

static int fill_map(const struct river_value *v, struct river_error *err,
		    struct river_string_map *map)
{
	for (size_t i = 0; i < map->n_items; i++) {
		const struct river_object_member *m = &v->object.members[i];
		int r = copy_text(m->value, err, false, &map->values[i]);

		if (r != RIVER_OK)
			return river_error_in_member(err, v, m->key, r);
		map->keys[i] = river_arena_strndup(err->arena, m->key, m->key_len);
		if (!map->keys[i])
			return -ENOMEM;
	}
	return RIVER_OK;
}

int river_to_string_map(const struct river_value *v, struct river_error *err,
			struct river_string_map *ret)
{
	struct river_string_map map = { 0 };
	int r = check_object(v, err, &map.n_items);

	if (r != RIVER_OK)
		return r;
	map.keys = river_arena_alloc(err->arena, map.n_items * sizeof(*map.keys));
	map.values = river_arena_alloc(err->arena, map.n_items * sizeof(*map.values));
	if (!map.keys || !map.values)
		return -ENOMEM;
	r = fill_map(v, err, &map);
	if (r == RIVER_OK)
		*ret = map;
	return r;
}

int river_to_string_maps(const struct river_value *v, struct river_error *err,
			 struct river_string_maps *ret)
{
	struct river_string_maps list;
	int r = check_array(v, err, &list.n_items);

	if (r != RIVER_OK)
		return r;
	list.items = river_arena_alloc(err->arena, list.n_items * sizeof(*list.items));
	if (!list.items)
		return -ENOMEM;
	for (size_t i = 0; i < list.n_items; i++) {
		r = river_to_string_map(v->array.items[i], err, &list.items[i]);
		if (r != RIVER_OK)
			return river_error_in_item(err, v, i, r);
	}
	*ret = list;
	return RIVER_OK;
}

static int to_foreign(const struct river_value *v, const struct river_foreign *kind,
		      struct river_error *err, const void **ret_item)
{
	struct river_string_map map;
	int r;

	*ret_item = river_value_get_foreign(v, kind);
	if (*ret_item)
		return RIVER_OK;
	r = river_to_string_map(v, err, &map);
	return r == RIVER_OK ? kind->make(err->arena, &map, ret_item) : r;
}

int river_to_foreigns(const struct river_value *v, const struct river_foreign *kind,
		      struct river_error *err, struct river_foreigns *ret)
{
	struct river_foreigns list;
	int r = check_array(v, err, &list.n_items);

	if (r != RIVER_OK)
		return r;
	list.items = river_arena_alloc(err->arena, list.n_items * sizeof(*list.items));
	if (!list.items)
		return -ENOMEM;
	for (size_t i = 0; i < list.n_items; i++) {
		r = to_foreign(v->array.items[i], kind, err, &list.items[i]);
		if (r != RIVER_OK)
			return river_error_in_item(err, v, i, r);
	}
	r = kind->keep(err->arena, list.items, list.n_items);
	if (r == 0)
		*ret = list;
	return r;
}

int river_to_capsules(const struct river_value *v, const char *type, struct river_error *err,
		      struct river_capsules *ret)
{
	struct river_capsules list;
	int r = check_array(v, err, &list.n_items);

	if (r != RIVER_OK)
		return r;
	list.items = river_arena_alloc(err->arena, list.n_items * sizeof(*list.items));
	if (!list.items)
		return -ENOMEM;
	for (size_t i = 0; i < list.n_items; i++) {
		r = river_to_capsule(v->array.items[i], type, err, &list.items[i]);
		if (r != RIVER_OK)
			return river_error_in_item(err, v, i, r);
	}
	*ret = list;
	return RIVER_OK;
}
