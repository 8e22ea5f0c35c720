/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: what jansson reads becomes values; values are written as Go's encoding/json writes them. */
#include "river-config/json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "river-config/number.h"
#include "river-config/unicode.h"

static struct river_value *from_json(const json_t *json, struct river_arena *arena);

static struct river_value *from_array(const json_t *json, struct river_arena *arena)
{
	size_t n = json_array_size(json);
	struct river_value **items = river_arena_alloc(arena, n * sizeof(struct river_value *));

	for (size_t i = 0; items && i < n; i++) {
		items[i] = from_json(json_array_get(json, i), arena);
		if (!items[i])
			return NULL;
	}
	return items ? river_value_wrap_array(arena, items, n) : NULL;
}

static struct river_value *from_object(json_t *json, struct river_arena *arena)
{
	size_t n = json_object_size(json), i = 0;
	struct river_object_member *members = river_arena_alloc(arena, n * sizeof(*members));
	const char *key;
	json_t *value;

	if (!members)
		return NULL;
	json_object_foreach(json, key, value)
	{
		members[i].key_len = strlen(key);
		members[i].key = river_arena_strndup(arena, key, members[i].key_len);
		members[i].value = from_json(value, arena);
		if (!members[i].key || !members[i].value)
			return NULL;
		i++;
	}
	return river_value_wrap_object(arena, members, n);
}

/* As deep as the text, which has been checked. */
static struct river_value *from_json(const json_t *json, struct river_arena *arena)
{
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		return from_object((json_t *)json, arena);
	case JSON_ARRAY:
		return from_array(json, arena);
	case JSON_STRING:
		return river_value_new_string(arena, json_string_value(json),
					      json_string_length(json));
	case JSON_INTEGER:
		return (struct river_value *)river_value_int(arena, json_integer_value(json));
	case JSON_REAL:
		return (struct river_value *)river_value_float(arena, json_real_value(json));
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct river_value *)river_value_bool(arena, json_is_true(json));
	case JSON_NULL:
		break;
	}
	return river_value_new(arena, RIVER_TYPE_NULL);
}

/* jansson names the place, Go the number: it begins where jansson stopped reading. */
static const char *problem_of(const json_error_t *error, const struct river_text *text,
			      struct river_arena *arena)
{
	struct river_text t = RIVER_TEXT_INIT(arena);
	size_t end = error->position > 0 ? (size_t)error->position : 0, begin;

	if (json_error_code(error) != json_error_numeric_overflow || end > text->len)
		return river_arena_strndup(arena, error->text, strlen(error->text));
	for (begin = end; begin > 0 && strchr("+-.eE0123456789", text->data[begin - 1]);)
		begin--;
	river_text_str(&t, "json: cannot unmarshal number ");
	river_text_append(&t, text->data + begin, end - begin);
	river_text_str(&t, " into Go value of type float64");
	return river_text_take(&t);
}

static json_t *load(const struct river_text *text, enum river_json_numbers numbers,
		    json_error_t *error)
{
	const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
	json_t *json = NULL;

	if (numbers == RIVER_JSON_INTEGERS)
		json = json_loadb(text->data, text->len, flags, error);
	/* Integers beyond 64 bits are floats in either case. */
	return json ? json
		    : json_loadb(text->data, text->len, flags | JSON_DECODE_INT_AS_REAL, error);
}

int river_json_read(const char *s, size_t n, enum river_json_numbers numbers,
		    struct river_arena *arena, struct river_value **ret_value,
		    const char **ret_problem)
{
	struct river_text clean = RIVER_TEXT_INIT(arena);
	const char *problem = river_json_check(s, n, &clean);
	struct river_value *value;
	json_error_t error;
	json_t *json;

	if (!river_text_take(&clean))
		return -ENOMEM;
	json = problem ? NULL : load(&clean, numbers, &error);
	if (!json) {
		*ret_problem = problem ? problem : problem_of(&error, &clean, arena);
		return *ret_problem ? RIVER_INVALID : -ENOMEM;
	}
	value = from_json(json, arena);
	json_decref(json);
	if (!value)
		return -ENOMEM;
	*ret_value = value;
	return RIVER_OK;
}

/* What HTML and JavaScript would take amiss is escaped, too. */
static void write_character(struct river_text *t, uint32_t c)
{
	static const char names[] = "btn?fr"; /* for 8 to 13, in that order */

	if (c == '"' || c == '\\')
		river_text_printf(t, "\\%c", (char)c);
	else if (c >= 8 && c <= 13 && c != 11)
		river_text_printf(t, "\\%c", names[c - 8]);
	else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029)
		river_text_printf(t, "\\u%04x", c);
	else if (c == RIVER_CHAR_INVALID)
		river_text_str(t, "\\ufffd");
	else
		river_text_rune(t, c);
}

static void write_string(struct river_text *t, const char *s, size_t n)
{
	uint32_t c;

	river_text_char(t, '"');
	for (size_t i = 0; i < n;) {
		i += river_utf8_decode(s + i, n - i, &c);
		write_character(t, c);
	}
	river_text_char(t, '"');
}

/* From here on, and below the other, numbers have an exponent. */
#define EXPONENT_FROM 1e21
#define EXPONENT_BELOW 1e-6

static void write_exponent(struct river_text *t, double value)
{
	char digits[RIVER_FLOAT_DIGITS_MAX + 1];
	int point;
	size_t n = river_float_digits(fabs(value), digits, &point);

	river_text_str(t, signbit(value) ? "-" : "");
	river_text_char(t, digits[0]);
	if (n > 1)
		river_text_char(t, '.');
	river_text_append(t, digits + 1, n - 1);
	river_text_printf(t, "e%+d", point - 1);
}

static const char *write_number(struct river_text *t, const struct river_value *v)
{
	double value = fabs(v->float_value);

	switch (v->number_kind) {
	case RIVER_NUMBER_UINT:
		river_text_printf(t, "%llu", (unsigned long long)v->uint_value);
		return NULL;
	case RIVER_NUMBER_INT:
		river_text_printf(t, "%lld", (long long)v->int_value);
		return NULL;
	case RIVER_NUMBER_FLOAT:
		break;
	}
	if (!isfinite(value))
		return isnan(value)	    ? "json: unsupported value: NaN"
		       : v->float_value > 0 ? "json: unsupported value: +Inf"
					    : "json: unsupported value: -Inf";
	if (value != 0 && (value < EXPONENT_BELOW || value >= EXPONENT_FROM))
		write_exponent(t, v->float_value);
	else
		river_text_float(t, v->float_value);
	return NULL;
}

static const char *write_array(struct river_text *t, const struct river_value *v)
{
	const char *problem = NULL;

	river_text_char(t, '[');
	for (size_t i = 0; i < v->array.n_items && !problem; i++) {
		river_text_str(t, i > 0 ? "," : "");
		problem = river_json_write(t, v->array.items[i]);
	}
	river_text_char(t, ']');
	return problem;
}

static const char *write_object(struct river_text *t, const struct river_value *v)
{
	const char *problem = NULL;

	t->failed |= !river_value_open(v);
	river_text_char(t, '{');
	for (size_t i = 0; i < v->object.n_members && !problem; i++) {
		river_text_str(t, i > 0 ? "," : "");
		write_string(t, v->object.members[i].key, v->object.members[i].key_len);
		river_text_char(t, ':');
		problem = river_json_write(t, v->object.members[i].value);
	}
	river_text_char(t, '}');
	return problem;
}

const char *river_json_write(struct river_text *t, const struct river_value *v)
{
	switch (v->type) {
	case RIVER_TYPE_NULL:
		river_text_str(t, "null");
		return NULL;
	case RIVER_TYPE_NUMBER:
		return write_number(t, v);
	case RIVER_TYPE_BOOL:
		river_text_str(t, v->boolean ? "true" : "false");
		return NULL;
	case RIVER_TYPE_ARRAY:
		return write_array(t, v);
	case RIVER_TYPE_OBJECT:
		return write_object(t, v);
	case RIVER_TYPE_STRING:
	case RIVER_TYPE_CAPSULE:
		if (!river_value_has_text(v))
			return "json: unsupported type: capsule";
		write_string(t, v->string.text, v->string.len);
		return NULL;
	case RIVER_TYPE_FUNCTION:
	case RIVER_TYPE_MAX:
		break;
	}
	return "json: unsupported type: func";
}
