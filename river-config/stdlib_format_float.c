/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with a point under a verb.
 *
 * A number is first turned into decimal digits, as many as are asked for or as few as tell it from
 * its neighbours, and those are laid out: snprintf rounds as Go does, but the shortest form, the
 * threshold between %e and %f, and the exponent's length are Go's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "river-config/number.h"
#include "river-config/stdlib_format.h"

/* The longest double in decimal: 309 digits before and 1074 after the point. What comes then is zeros. */
#define FRACTION_MAX 1074
#define DECIMAL_BYTES (FRACTION_MAX + 330)

/* 0.d1d2d3… times ten to the power of `point`. */
struct decimal {
	char digits[DECIMAL_BYTES];
	size_t n;
	int point;
};

/* Digits of what printf wrote, whatever the locale has for a decimal point. */
static void decimal_read(struct decimal *d, const char *text)
{
	const char *exponent = strchr(text, 'e');
	int64_t value = 0;

	d->n = 0;
	for (const char *p = text; *p && p != exponent; p++)
		if (*p >= '0' && *p <= '9')
			d->digits[d->n++] = *p;
	if (exponent)
		river_parse_int(exponent + 1, strlen(exponent + 1), 10, &value);
	d->point = (int)value + 1;
}

/* As %e has it: so many digits after the first. */
static void decimal_scientific(struct decimal *d, double value, size_t precision)
{
	char text[DECIMAL_BYTES];
	int n = (int)(precision > FRACTION_MAX ? FRACTION_MAX : precision);

	snprintf(text, sizeof(text), "%.*e", n, value);
	decimal_read(d, text);
}

/* As %f has it: so many digits after the point. */
static void decimal_fixed(struct decimal *d, double value, size_t precision)
{
	char text[DECIMAL_BYTES];
	int n = (int)(precision > FRACTION_MAX ? FRACTION_MAX : precision);

	snprintf(text, sizeof(text), "%.*f", n, value);
	decimal_read(d, text);
	d->point = (int)d->n - n;
}

static void decimal_shortest(struct decimal *d, double value)
{
	if (value == 0) {
		d->n = 0;
		d->point = 0;
		return;
	}
	d->n = river_float_digits(value, d->digits, &d->point);
}

static void write_digits(struct river_text *t, const struct decimal *d, size_t from, size_t n)
{
	size_t have = from < d->n ? d->n - from : 0;

	have = have < n ? have : n;
	river_text_append(t, d->digits + from, have);
	river_text_repeat(t, '0', n - have);
}

static void write_scientific(struct river_text *t, const struct decimal *d, size_t precision,
			     char e)
{
	int exponent = d->n ? d->point - 1 : 0;

	write_digits(t, d, 0, 1);
	if (precision > 0) {
		river_text_char(t, '.');
		write_digits(t, d, 1, precision);
	}
	river_text_printf(t, "%c%c%02d", e, exponent < 0 ? '-' : '+',
			  exponent < 0 ? -exponent : exponent);
}

static void write_fixed(struct river_text *t, const struct decimal *d, size_t precision)
{
	size_t whole = d->point > 0 ? (size_t)d->point : 0;
	size_t zeros = d->point < 0 ? (size_t)-d->point : 0;

	if (whole)
		write_digits(t, d, 0, whole);
	else
		river_text_char(t, '0');
	if (precision == 0)
		return;
	river_text_char(t, '.');
	zeros = zeros < precision ? zeros : precision;
	river_text_repeat(t, '0', zeros);
	write_digits(t, d, whole, precision - zeros);
}

/* Trailing zeros say nothing under %g. */
static void decimal_trim(struct decimal *d)
{
	while (d->n > 0 && d->digits[d->n - 1] == '0')
		d->n--;
	if (d->n == 0)
		d->point = 0;
}

/* %g: %e for exponents below -4 and from the precision on, which is 6 for the shortest form. */
static void write_general(struct river_text *t, const struct river_format *f, double value,
			  bool upper)
{
	size_t limit = f->precision ? f->precision : 1, fraction;
	struct decimal d;
	int exponent;

	if (f->has_precision)
		decimal_scientific(&d, value, limit - 1);
	else
		decimal_shortest(&d, value);
	decimal_trim(&d);
	if (!f->has_precision)
		limit = 6;
	else if (limit > d.n && (int)d.n >= d.point)
		limit = d.n;
	exponent = d.point - 1;
	if (exponent < -4 || exponent >= (int)limit) {
		write_scientific(t, &d, d.n > 1 ? d.n - 1 : 0, upper ? 'E' : 'e');
		return;
	}
	fraction = (int)d.n > d.point ? (size_t)((int)d.n - d.point) : 0;
	write_fixed(t, &d, fraction);
}

static void write_float(struct river_text *t, const struct river_format *f, double value,
			uint32_t verb)
{
	size_t precision = f->has_precision ? f->precision : 6;
	struct decimal d;

	switch (verb) {
	case 'e':
	case 'E':
		decimal_scientific(&d, value, precision);
		write_scientific(t, &d, precision, (char)verb);
		break;
	case 'f':
	case 'F':
		decimal_fixed(&d, value, precision);
		write_fixed(t, &d, precision);
		break;
	default:
		write_general(t, f, value, verb == 'G');
		break;
	}
}

/* The mantissa as a whole number, times a power of two. */
static void write_binary(struct river_text *t, double value)
{
	int exponent = 0;
	uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);

	exponent -= 53;
	/* The smallest numbers have no leading one to go by. */
	if (value == 0 || exponent < -1074) {
		mantissa = (uint64_t)ldexp(value, 1074);
		exponent = -1074;
	}
	river_text_printf(t, "%llup%+d", (unsigned long long)mantissa, exponent);
}

/* "1.8p+01": four bits a digit behind a leading one, rounded half to even. */
static void write_hexadecimal(struct river_text *t, const struct river_format *f, double value,
			      bool upper)
{
	size_t n_digits = f->has_precision && f->precision < 13 ? f->precision : 13;
	unsigned int cut = 52 - 4 * (unsigned int)n_digits;
	int exponent = 0;
	uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53), rest;
	char digits[16];

	exponent = value == 0 ? 0 : exponent - 1;
	rest = cut ? mantissa & ((1ULL << cut) - 1) : 0;
	mantissa >>= cut;
	if (cut && (rest > 1ULL << (cut - 1) || (rest == 1ULL << (cut - 1) && (mantissa & 1))))
		mantissa++;
	if (mantissa >> (4 * n_digits) == 2) {
		mantissa >>= 1;
		exponent++;
	}
	snprintf(digits, sizeof(digits), upper ? "%0*llX" : "%0*llx", (int)n_digits + 1,
		 (unsigned long long)mantissa);
	while (!f->has_precision && n_digits > 0 && digits[n_digits] == '0')
		n_digits--;
	river_text_str(t, upper ? "0X" : "0x");
	river_text_char(t, digits[0]);
	if (n_digits > 0 || (f->has_precision && f->precision > 0))
		river_text_char(t, '.');
	river_text_append(t, digits + 1, n_digits);
	if (f->has_precision && f->precision > n_digits)
		river_text_repeat(t, '0', f->precision - n_digits);
	river_text_printf(t, "%c%c%02d", upper ? 'P' : 'p', exponent < 0 ? '-' : '+',
			  exponent < 0 ? -exponent : exponent);
}

/* Under a # a point is always there, and %g keeps its zeros. `s` has no sign. */
static void write_sharp(struct river_text *t, const struct river_format *f, const char *s, size_t n,
			uint32_t verb)
{
	bool general = verb == 'v' || verb == 'g' || verb == 'G' || verb == 'x';
	long digits = !general ? 0 : f->has_precision ? (long)f->precision : 6;
	bool has_point = false, significant = false;
	size_t end = 0;

	for (; end < n; end++) {
		char c = s[end];

		if (c == 'p' || c == 'P' || ((c == 'e' || c == 'E') && verb != 'x' && verb != 'X'))
			break;
		if (c == '.') {
			has_point = true;
			continue;
		}
		significant = significant || c != '0';
		digits -= significant;
	}
	river_text_append(t, s, end);
	if (!has_point) {
		digits -= end == 1 && s[0] == '0';
		river_text_char(t, '.');
	}
	river_text_repeat(t, '0', digits > 0 ? (size_t)digits : 0);
	river_text_append(t, s + end, n - end);
}

static bool is_float_verb(uint32_t verb)
{
	return verb < 0x80 && verb && strchr("vbgGxXeEfF", (int)verb);
}

/* With its sign, which zeros stand behind. */
static void write_signed(struct river_format *f, const struct river_text *t, char sign)
{
	struct river_text whole = RIVER_TEXT_INIT(f->out->arena);

	if (sign && f->zero && !f->minus && f->has_width && f->width > t->len + 1) {
		river_text_char(f->out, sign);
		river_format_padding(f, f->width - t->len - 1);
		river_text_append(f->out, t->data, t->len);
		return;
	}
	if (sign)
		river_text_char(&whole, sign);
	river_text_append(&whole, t->data, t->len);
	if (whole.failed)
		f->out->failed = true;
	else
		river_format_pad(f, whole.data, whole.len);
}

static void write_no_number(struct river_format *f, double value, char sign)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);

	if (sign)
		river_text_char(&t, sign);
	else if (!isnan(value))
		river_text_char(&t, '+');
	river_text_str(&t, isnan(value) ? "NaN" : "Inf");
	river_format_pad_blank(f, &t);
}

static char sign_of(const struct river_format *f, double value)
{
	if (!isnan(value) && signbit(value))
		return '-';
	return f->plus ? '+' : f->space ? ' ' : '\0';
}

bool river_format_float(struct river_format *f, double value, uint32_t verb)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena), sharp = t;
	char sign = sign_of(f, value);

	if (!is_float_verb(verb))
		return false;
	if (!isfinite(value)) {
		write_no_number(f, value, sign);
		return true;
	}
	value = fabs(value);
	if (verb == 'b')
		write_binary(&t, value);
	else if (verb == 'x' || verb == 'X')
		write_hexadecimal(&t, f, value, verb == 'X');
	else
		write_float(&t, f, value, verb);
	if (f->sharp && verb != 'b' && !t.failed) {
		write_sharp(&sharp, f, t.data, t.len, verb);
		t = sharp;
	}
	if (t.failed)
		f->out->failed = true;
	else
		write_signed(f, &t, sign);
	return true;
}
