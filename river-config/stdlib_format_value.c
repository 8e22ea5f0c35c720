/* SPDX-License-Identifier: Apache-2.0 */
/* Values under a verb. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "river-config/number.h"
#include "river-config/print.h"
#include "river-config/stdlib_format.h"
#include "river-config/unicode.h"

/* The largest double has 309 digits before the point. */
#define FLOAT_BYTES (RIVER_FORMAT_NUMBER_MAX + 330)

/* Bytes of the first characters, at most `max` of them. */
static size_t prefix_len(const char *s, size_t n, size_t max, size_t *ret_count)
{
	size_t len = 0;
	uint32_t c;

	for (*ret_count = 0; *ret_count < max && len < n; ++*ret_count)
		len += river_utf8_decode(s + len, n - len, &c);
	return len;
}

/* To the width, on the left unless there is a minus. */
static void pad(const struct river_format *f, const char *s, size_t n, char with)
{
	size_t count, missing;

	(void)prefix_len(s, n, f->width, &count);
	missing = f->width - count;
	if (!f->minus)
		river_text_repeat(f->out, with, missing);
	river_text_append(f->out, s, n);
	if (f->minus)
		river_text_repeat(f->out, ' ', missing);
}

static char pad_char(const struct river_format *f)
{
	return f->zero ? '0' : ' ';
}

static void pad_text(const struct river_format *f, const char *s, size_t n)
{
	pad(f, s, n, pad_char(f));
}

static void pad_taken(const struct river_format *f, const struct river_text *t, char with)
{
	f->out->failed |= t->failed;
	if (!t->failed)
		pad(f, t->data, t->len, with);
}

static char sign_of(const struct river_format *f, bool negative)
{
	if (negative)
		return '-';
	return f->plus && f->verb != 'v' ? '+' : f->space ? ' ' : '\0';
}

/* Digits that fill the width with zeros; a prefix is not counted. */
static size_t n_zero_filled(const struct river_format *f, bool negative)
{
	if (!f->zero || f->minus || f->width == 0)
		return 0;
	return f->width - (sign_of(f, negative) != '\0');
}

/* Zeros come in front of the digits, up to `n_wanted` of them. */
static void write_number(const struct river_format *f, bool negative, const char *prefix,
			 const char *digits, size_t n_wanted)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);
	char sign = sign_of(f, negative);
	size_t n = strlen(digits);

	if (sign)
		river_text_char(&t, sign);
	river_text_str(&t, prefix);
	river_text_repeat(&t, '0', n_wanted > n ? n_wanted - n : 0);
	river_text_str(&t, digits);
	pad_taken(f, &t, ' ');
}

static const char *digits_of(uint64_t u, unsigned int base, bool upper, char *end)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	*--end = '\0';
	for (; u; u /= base)
		*--end = digits[u % base];
	return end;
}

static bool write_integer(const struct river_format *f, uint64_t u, bool negative)
{
	static const struct {
		char verb;
		unsigned int base;
		const char *prefix;
	} bases[] = { { 'v', 10, NULL }, { 'd', 10, NULL }, { 'b', 2, "0b" },
		      { 'o', 8, "0" },	 { 'x', 16, "0x" }, { 'X', 16, "0X" } };
	char buf[65];

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (bases[i].verb != f->verb || (f->sharp && !bases[i].prefix))
			continue;
		/* Zero has a digit, unless none is asked for. */
		write_number(f, negative, f->sharp ? bases[i].prefix : "",
			     u || f->has_precision ? digits_of(u, bases[i].base, f->verb == 'X',
							       buf + sizeof(buf))
						   : "0",
			     f->has_precision ? f->precision : n_zero_filled(f, negative));
		return true;
	}
	return false;
}

/* "%c" and "%U". */
static bool write_character(const struct river_format *f, uint64_t u)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);

	if (f->sharp || f->plus || f->space || f->has_precision)
		return false;
	if (f->verb == 'c')
		river_text_rune(&t, u > 0x10ffff ? RIVER_CHAR_REPLACEMENT : (uint32_t)u);
	else
		river_text_printf(&t, "U+%04llX", (unsigned long long)u);
	pad_taken(f, &t, f->verb == 'c' ? pad_char(f) : ' ');
	return true;
}

/* The fewest digits that read back the same; with an exponent below -4 and from 6 on, as in Go. */
static void shortest(double value, bool upper, char *buf, size_t size)
{
	char digits[RIVER_FLOAT_DIGITS_MAX];
	int point = 1, n = 1;

	if (value != 0)
		n = (int)river_float_digits(value, digits, &point);
	if (point - 1 < -4 || point - 1 >= 6)
		(void)snprintf(buf, size, upper ? "%.*E" : "%.*e", n - 1, value);
	else
		(void)snprintf(buf, size, "%.*f", n > point ? n - point : 0, value);
}

/* What the locale has for a decimal point. */
static void put_point(char *s)
{
	size_t digits = strspn(s, "0123456789"), n = strcspn(s + digits, "0123456789eE");

	if (n == 0)
		return;
	s[digits] = '.';
	memmove(s + digits + 1, s + digits + n, strlen(s + digits + n) + 1);
}

static void print_float(const struct river_format *f, double value, char *buf, size_t size)
{
	int precision = f->has_precision ? (int)f->precision : 6;

	switch (f->verb) {
	case 'e':
		(void)snprintf(buf, size, "%.*e", precision, value);
		break;
	case 'E':
		(void)snprintf(buf, size, "%.*E", precision, value);
		break;
	case 'f':
	case 'F':
		(void)snprintf(buf, size, "%.*f", precision, value);
		break;
	default:
		if (!f->has_precision)
			shortest(value, f->verb == 'G', buf, size);
		else
			(void)snprintf(buf, size, f->verb == 'G' ? "%.*G" : "%.*g", precision,
				       value);
		break;
	}
	put_point(buf);
}

static bool write_float(const struct river_format *f, double value)
{
	struct river_format blank = *f;
	char buf[FLOAT_BYTES];

	if (f->sharp || !strchr("veEfFgG", f->verb))
		return false;
	if (isfinite(value)) {
		print_float(f, fabs(value), buf, sizeof(buf));
		write_number(f, signbit(value), "", buf, n_zero_filled(f, signbit(value)));
		return true;
	}
	blank.plus |= isinf(value);
	blank.verb = 'f';
	write_number(&blank, isinf(value) && value < 0, "", isinf(value) ? "Inf" : "NaN", 0);
	return true;
}

static bool write_whole(const struct river_format *f, uint64_t bits, bool is_signed)
{
	bool negative = is_signed && (int64_t)bits < 0;

	if (f->verb == 'c' || f->verb == 'U')
		return write_character(f, bits);
	return write_integer(f, negative ? 0 - bits : bits, negative);
}

static void write_hex(const struct river_format *f, const char *s, size_t n)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);

	n = f->has_precision && f->precision < n ? f->precision : n;
	for (size_t i = 0; i < n; i++)
		river_text_printf(&t, f->verb == 'X' ? "%02X" : "%02x", (unsigned char)s[i]);
	pad_taken(f, &t, pad_char(f));
}

static bool write_text(const struct river_format *f, const char *s, size_t n)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);
	size_t ignored;

	if (!strchr("vsqxX", f->verb) || f->sharp || f->space || (f->plus && f->verb != 'v'))
		return false;
	if (f->verb == 'x' || f->verb == 'X') {
		write_hex(f, s, n);
		return true;
	}
	n = f->has_precision ? prefix_len(s, n, f->precision, &ignored) : n;
	if (f->verb != 'q') {
		pad_text(f, s, n);
		return true;
	}
	river_text_quote(&t, s, n);
	pad_taken(f, &t, pad_char(f));
	return true;
}

static bool write_array(const struct river_format *f, const struct river_value *v,
			const struct river_value **ret_misfit)
{
	river_text_char(f->out, '[');
	for (size_t i = 0; i < v->array.n_items; i++) {
		if (i > 0)
			river_text_char(f->out, ' ');
		if (!river_format_value(f, v->array.items[i], ret_misfit))
			return false;
	}
	river_text_char(f->out, ']');
	return true;
}

static bool write_object(const struct river_format *f, const struct river_value *v,
			 const struct river_value **ret_misfit)
{
	river_text_str(f->out, "map[");
	f->out->failed |= !river_value_open(v);
	for (size_t i = 0; i < v->object.n_members; i++) {
		if (i > 0)
			river_text_char(f->out, ' ');
		if (!write_text(f, v->object.members[i].key, v->object.members[i].key_len))
			return false;
		river_text_char(f->out, ':');
		if (!river_format_value(f, v->object.members[i].value, ret_misfit))
			return false;
	}
	river_text_char(f->out, ']');
	return true;
}

bool river_format_value(const struct river_format *f, const struct river_value *v,
			const struct river_value **ret_misfit)
{
	*ret_misfit = v;
	switch (v->type) {
	case RIVER_TYPE_NUMBER:
		return v->number_kind == RIVER_NUMBER_FLOAT
			       ? write_float(f, v->float_value)
			       : write_whole(f, v->uint_value, v->number_kind == RIVER_NUMBER_INT);
	case RIVER_TYPE_ARRAY:
		return write_array(f, v, ret_misfit);
	case RIVER_TYPE_OBJECT:
		return write_object(f, v, ret_misfit);
	case RIVER_TYPE_BOOL:
		if (f->verb == 't' || f->verb == 'v')
			pad_text(f, v->boolean ? "true" : "false", v->boolean ? 4 : 5);
		return f->verb == 't' || f->verb == 'v';
	case RIVER_TYPE_NULL:
		if (f->verb == 'v')
			pad_text(f, "<nil>", 5);
		return f->verb == 'v';
	default:
		break;
	}
	if (river_value_has_text(v))
		return write_text(f, v->string.text, v->string.len);
	/* Functions and capsules of the host: what they are, not where. */
	if (f->verb == 'v')
		river_print_value(f->out, v, RIVER_LAYOUT_LINE);
	return f->verb == 'v';
}
