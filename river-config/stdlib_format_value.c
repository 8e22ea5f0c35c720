/* SPDX-License-Identifier: Apache-2.0 */
/* Values under a verb: texts, truth values, lists; numbers have a file of their own. */
#include "river-config/stdlib_format.h"

#include <string.h>

#include "river-config/print.h"
#include "river-config/unicode.h"

static void format_nested(struct river_format *f, const struct river_value *v, uint32_t verb);

static size_t count_characters(const char *s, size_t n)
{
	size_t count = 0;
	uint32_t c;

	for (size_t i = 0; i < n; count++)
		i += river_utf8_decode(s + i, n - i, &c);
	return count;
}

void river_format_padding(struct river_format *f, size_t n)
{
	river_text_repeat(f->out, f->zero && !f->minus ? '0' : ' ', n);
}

void river_format_pad(struct river_format *f, const char *s, size_t n)
{
	size_t width = f->has_width ? f->width : 0;
	size_t characters = width ? count_characters(s, n) : 0;
	size_t missing = width > characters ? width - characters : 0;

	if (!f->minus)
		river_format_padding(f, missing);
	river_text_append(f->out, s, n);
	if (f->minus)
		river_format_padding(f, missing);
}

void river_format_pad_blank(struct river_format *f, const struct river_text *t)
{
	bool zero = f->zero;

	f->zero = false;
	if (t->failed)
		f->out->failed = true;
	else
		river_format_pad(f, t->data, t->len);
	f->zero = zero;
}

const char *river_format_type(const struct river_value *v)
{
	switch (v->type) {
	case RIVER_TYPE_NUMBER:
		return v->number_kind == RIVER_NUMBER_FLOAT  ? "float64"
		       : v->number_kind == RIVER_NUMBER_UINT ? "uint"
							     : "int";
	case RIVER_TYPE_STRING:
		return "string";
	case RIVER_TYPE_BOOL:
		return "bool";
	case RIVER_TYPE_ARRAY:
		return "[]interface {}";
	case RIVER_TYPE_OBJECT:
		return "map[string]interface {}";
	case RIVER_TYPE_FUNCTION:
		return "func";
	case RIVER_TYPE_CAPSULE:
		return river_value_is_secret_kind(v) ? "string" : v->capsule.type;
	case RIVER_TYPE_NULL:
	case RIVER_TYPE_MAX:
		break;
	}
	return "<nil>";
}

static void escape(struct river_text *t, uint32_t c, unsigned char byte, char quote, bool ascii)
{
	static const char names[] = "abtnvfr"; /* for 7 to 13, in that order */

	if (c == RIVER_CHAR_INVALID)
		river_text_printf(t, "\\x%02x", byte);
	else if (c == (uint32_t)quote || c == '\\')
		river_text_printf(t, "\\%c", (char)c);
	else if (ascii ? c >= 0x20 && c < 0x7f : river_is_printable(c))
		river_text_rune(t, c);
	else if (c >= 7 && c <= 13)
		river_text_printf(t, "\\%c", names[c - 7]);
	else if (c < 0x80)
		river_text_printf(t, "\\x%02x", c);
	else
		river_text_printf(t, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void river_format_quote(struct river_text *t, const char *s, size_t n, char quote, bool ascii)
{
	uint32_t c;
	size_t step;

	river_text_char(t, quote);
	for (size_t i = 0; i < n; i += step) {
		step = river_utf8_decode(s + i, n - i, &c);
		escape(t, c, (unsigned char)s[i], quote, ascii);
	}
	river_text_char(t, quote);
}

/* What needs no escape between back-ticks. */
static bool can_be_raw(const char *s, size_t n)
{
	size_t step;
	uint32_t c;

	for (size_t i = 0; i < n; i += step) {
		step = river_utf8_decode(s + i, n - i, &c);
		if (c == RIVER_CHAR_INVALID || c == 0xfeff || c == '`' || c == 0x7f ||
		    (c < 0x20 && c != '\t'))
			return false;
	}
	return true;
}

static void format_quoted(struct river_format *f, const char *s, size_t n)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);

	if (f->sharp && can_be_raw(s, n)) {
		river_text_char(&t, '`');
		river_text_append(&t, s, n);
		river_text_char(&t, '`');
	} else {
		river_format_quote(&t, s, n, '"', f->plus);
	}
	if (river_text_take(&t))
		river_format_pad(f, t.data, t.len);
	else
		f->out->failed = true;
}

/* Bytes of the first `precision` characters. */
static size_t truncated_len(const struct river_format *f, const char *s, size_t n)
{
	size_t len = 0;
	uint32_t c;

	if (!f->has_precision)
		return n;
	for (size_t i = 0; i < f->precision && len < n; i++)
		len += river_utf8_decode(s + len, n - len, &c);
	return len;
}

static void write_hex(struct river_format *f, const char *s, size_t n, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	const char *prefix = upper ? "0X" : "0x";

	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)s[i];

		if (f->space && i > 0)
			river_text_char(f->out, ' ');
		if (f->sharp && (i == 0 || f->space))
			river_text_str(f->out, prefix);
		river_text_char(f->out, digits[byte >> 4]);
		river_text_char(f->out, digits[byte & 15]);
	}
}

/* The precision counts bytes here. */
static void format_hex(struct river_format *f, const char *s, size_t n, bool upper)
{
	size_t len = f->has_precision && f->precision < n ? f->precision : n;
	size_t width = 2 * len, missing;

	if (len > 0 && f->space)
		width += len - 1 + (f->sharp ? 2 * len : 0);
	else if (len > 0 && f->sharp)
		width += 2;
	missing = f->has_width && f->width > width ? f->width - width : 0;
	if (!f->minus || len == 0)
		river_format_padding(f, missing);
	write_hex(f, s, len, upper);
	if (f->minus && len > 0)
		river_format_padding(f, missing);
}

static bool format_text(struct river_format *f, const char *s, size_t n, uint32_t verb)
{
	switch (verb) {
	case 'v':
		if (f->sharp_v)
			format_quoted(f, s, truncated_len(f, s, n));
		else
			river_format_pad(f, s, truncated_len(f, s, n));
		return true;
	case 's':
		river_format_pad(f, s, truncated_len(f, s, n));
		return true;
	case 'q':
		format_quoted(f, s, truncated_len(f, s, n));
		return true;
	case 'x':
	case 'X':
		format_hex(f, s, n, verb == 'X');
		return true;
	default:
		return false;
	}
}

static bool format_bool(struct river_format *f, bool b, uint32_t verb)
{
	if (verb != 't' && verb != 'v')
		return false;
	river_format_pad(f, b ? "true" : "false", b ? 4 : 5);
	return true;
}

static bool format_number(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	switch (v->number_kind) {
	case RIVER_NUMBER_FLOAT:
		return river_format_float(f, v->float_value, verb);
	case RIVER_NUMBER_INT:
	case RIVER_NUMBER_UINT:
		break;
	}
	return river_format_integer(f, v->uint_value, v->number_kind == RIVER_NUMBER_INT, verb);
}

static void format_array(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	if (f->sharp_v)
		river_text_str(f->out, river_format_type(v));
	river_text_char(f->out, f->sharp_v ? '{' : '[');
	for (size_t i = 0; i < v->array.n_items; i++) {
		if (i > 0)
			river_text_str(f->out, f->sharp_v ? ", " : " ");
		format_nested(f, v->array.items[i], verb);
	}
	river_text_char(f->out, f->sharp_v ? '}' : ']');
}

static void format_object(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	struct river_value key = { .type = RIVER_TYPE_STRING };

	river_text_str(f->out, f->sharp_v ? river_format_type(v) : "map");
	river_text_char(f->out, f->sharp_v ? '{' : '[');
	f->out->failed |= !river_value_open(v);
	for (size_t i = 0; i < v->object.n_members; i++) {
		if (i > 0)
			river_text_str(f->out, f->sharp_v ? ", " : " ");
		key.string.text = v->object.members[i].key;
		key.string.len = v->object.members[i].key_len;
		format_nested(f, &key, verb);
		river_text_char(f->out, ':');
		format_nested(f, v->object.members[i].value, verb);
	}
	river_text_char(f->out, f->sharp_v ? '}' : ']');
}

/* Functions and capsules of the host: what they are, not where. */
static bool format_opaque(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	if (verb != 'v')
		return false;
	river_print_value(f->out, v, RIVER_LAYOUT_LINE);
	return true;
}

/* False: the verb does not fit. */
static bool format_any(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	switch (v->type) {
	case RIVER_TYPE_NUMBER:
		return format_number(f, v, verb);
	case RIVER_TYPE_BOOL:
		return format_bool(f, v->boolean, verb);
	case RIVER_TYPE_ARRAY:
		format_array(f, v, verb);
		return true;
	case RIVER_TYPE_OBJECT:
		format_object(f, v, verb);
		return true;
	case RIVER_TYPE_STRING:
	case RIVER_TYPE_CAPSULE:
		if (river_value_has_text(v))
			return format_text(f, v->string.text, v->string.len, verb);
		return format_opaque(f, v, verb);
	case RIVER_TYPE_FUNCTION:
		return format_opaque(f, v, verb);
	case RIVER_TYPE_NULL:
	case RIVER_TYPE_MAX:
		break;
	}
	return false;
}

static void format_bad_verb(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	river_text_str(f->out, "%!");
	river_text_rune(f->out, verb);
	river_text_char(f->out, '(');
	river_text_str(f->out, river_format_type(v));
	if (v->type != RIVER_TYPE_NULL) {
		river_text_char(f->out, '=');
		format_any(f, v, 'v');
	}
	river_text_char(f->out, ')');
}

static void format_nested(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	if (v->type == RIVER_TYPE_NULL)
		river_text_str(f->out, f->sharp_v ? "interface {}(nil)" : "<nil>");
	else if (!format_any(f, v, verb))
		format_bad_verb(f, v, verb);
}

void river_format_value(struct river_format *f, const struct river_value *v, uint32_t verb)
{
	const char *type = river_format_type(v);

	if (v->type == RIVER_TYPE_NULL && (verb == 'v' || verb == 'T'))
		river_format_pad(f, type, strlen(type));
	else if (verb == 'T')
		river_format_pad(f, type, truncated_len(f, type, strlen(type)));
	else if (verb == 'p' || !format_any(f, v, verb))
		format_bad_verb(f, v, verb);
}
