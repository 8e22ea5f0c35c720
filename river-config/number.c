/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and durations as text. */
#include "river-config/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Spellings of floats up to here are copied to the stack; longer ones hardly exist. */
#define FLOAT_TEXT_MAX 128

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool river_parse_uint(const char *s, size_t n, unsigned int base, uint64_t *ret)
{
	uint64_t value = 0;

	if (base == 0)
		base = n > 1 && s[0] == '0' ? 8 : 10;
	if (n == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned int digit = (unsigned int)(s[i] - '0');

		if (!is_digit(s[i]) || digit >= base ||
		    __builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*ret = value;
	return true;
}

bool river_parse_int(const char *s, size_t n, unsigned int base, int64_t *ret)
{
	bool negative = n > 0 && s[0] == '-';
	size_t skip = negative || (n > 0 && s[0] == '+') ? 1 : 0;
	uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
	uint64_t value;

	if (!river_parse_uint(s + skip, n - skip, base, &value) || value > limit)
		return false;
	*ret = negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

static size_t digits_len(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && is_digit(s[i]))
		i++;
	return i;
}

/*
 * [sign] digits [ "." digits ] [ ("e" | "E") [sign] digits ], with a digit somewhere before the
 * exponent.
 */
static bool is_float(const char *s, size_t n)
{
	size_t i = n && (s[0] == '-' || s[0] == '+') ? 1 : 0;
	size_t whole = digits_len(s + i, n - i), fraction = 0;

	i += whole;
	if (i < n && s[i] == '.') {
		fraction = digits_len(s + i + 1, n - i - 1);
		i += 1 + fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (i < n && (s[i] == 'e' || s[i] == 'E')) {
		i++;
		i += i < n && (s[i] == '-' || s[i] == '+') ? 1 : 0;
		if (i == n)
			return false;
		i += digits_len(s + i, n - i);
	}
	return i == n;
}

/* glibc hands out its built-in "C" object here: no allocation, no state. */
static double parse_c_locale(const char *text)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double value;

	if (!c)
		return NAN;
	value = strtod_l(text, NULL, c);
	freelocale(c);
	return value;
}

static double parse_long(const char *s, size_t n)
{
	char *text = malloc(n + 1);
	double value;

	if (!text)
		return NAN;
	memcpy(text, s, n);
	text[n] = '\0';
	value = parse_c_locale(text);
	free(text);
	return value;
}

bool river_parse_float(const char *s, size_t n, double *ret)
{
	char text[FLOAT_TEXT_MAX] = { 0 };
	double value;

	if (!is_float(s, n))
		return false;
	if (n < sizeof(text))
		memcpy(text, s, n);
	value = n < sizeof(text) ? parse_c_locale(text) : parse_long(s, n);
	if (!isfinite(value))
		return false;
	*ret = value;
	return true;
}

/* Reads "d,ddde-xx" as printf wrote it, whatever the locale has for a decimal point. */
static size_t split_scientific(const char *text, char *digits, int *ret_point)
{
	size_t n = 0;
	const char *exponent = strchr(text, 'e');
	int64_t value = 0;

	for (const char *p = text; p < exponent; p++)
		if (is_digit(*p))
			digits[n++] = *p;
	river_parse_int(exponent + 1, strlen(exponent + 1), 10, &value);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	*ret_point = (int)value + 1;
	return n;
}

static double join_scientific(const char *digits, int point)
{
	char text[64];

	snprintf(text, sizeof(text), "0.%se%d", digits, point);
	return parse_c_locale(text);
}

size_t river_float_digits(double f, char *digits, int *ret_point)
{
	char text[64];
	size_t n = 0;

	for (int precision = 0; precision < RIVER_FLOAT_DIGITS_MAX; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision, f);
		n = split_scientific(text, digits, ret_point);
		if (join_scientific(digits, *ret_point) == f)
			break;
	}
	return n;
}

struct duration_unit {
	const char *name;
	uint64_t ns;
};

static const struct duration_unit duration_units[] = {
	{ "ns", 1 },	       { "us", 1000 },	    { "\xc2\xb5s", 1000 }, /* micro sign */
	{ "\xce\xbcs", 1000 },						   /* Greek mu */
	{ "ms", 1000000 },     { "s", 1000000000 }, { "m", 60000000000 },  { "h", 3600000000000 },
};

static uint64_t duration_unit_ns(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof(duration_units) / sizeof(duration_units[0]); i++)
		if (strlen(duration_units[i].name) == n &&
		    memcmp(duration_units[i].name, s, n) == 0)
			return duration_units[i].ns;
	return 0;
}

/* The part of a unit that ".5" stands for. Digits beyond what a double holds do not matter. */
static uint64_t fraction_ns(const char *digits, size_t n, uint64_t unit_ns)
{
	double value = 0, scale = 1;

	for (size_t i = 0; i < n && i < 18; i++) {
		value = value * 10 + (digits[i] - '0');
		scale *= 10;
	}
	return (uint64_t)(value * ((double)unit_ns / scale));
}

/* One "1.5h" at the front of s; *ret_len bytes. */
static enum river_duration_status parse_part(const char *s, size_t n, uint64_t *total,
					     size_t *ret_len, const char **ret_unit,
					     size_t *ret_unit_len)
{
	size_t whole = digits_len(s, n), fraction = 0, unit = 0, i = whole;
	uint64_t value = 0, unit_ns;

	if (i < n && s[i] == '.') {
		fraction = digits_len(s + i + 1, n - i - 1);
		i += 1 + fraction;
	}
	if (whole + fraction == 0 || (whole && !river_parse_uint(s, whole, 10, &value)))
		return RIVER_DURATION_INVALID;
	while (i + unit < n && s[i + unit] != '.' && !is_digit(s[i + unit]))
		unit++;
	if (unit == 0)
		return RIVER_DURATION_MISSING_UNIT;
	*ret_unit = s + i;
	*ret_unit_len = unit;
	unit_ns = duration_unit_ns(s + i, unit);
	if (unit_ns == 0)
		return RIVER_DURATION_UNKNOWN_UNIT;
	if (__builtin_mul_overflow(value, unit_ns, &value) ||
	    __builtin_add_overflow(value, fraction_ns(s + i - fraction, fraction, unit_ns),
				   &value) ||
	    __builtin_add_overflow(*total, value, total))
		return RIVER_DURATION_INVALID;
	*ret_len = i + unit;
	return RIVER_DURATION_OK;
}

enum river_duration_status river_parse_duration(const char *s, size_t n, int64_t *ret_ns,
						const char **ret_unit, size_t *ret_unit_len)
{
	bool negative = n && s[0] == '-';
	size_t i = n && (s[0] == '-' || s[0] == '+') ? 1 : 0, len;
	uint64_t total = 0;

	if (n == i)
		return RIVER_DURATION_INVALID;
	if (n - i == 1 && s[i] == '0') {
		*ret_ns = 0;
		return RIVER_DURATION_OK;
	}
	for (; i < n; i += len) {
		enum river_duration_status status =
			parse_part(s + i, n - i, &total, &len, ret_unit, ret_unit_len);

		if (status != RIVER_DURATION_OK)
			return status;
		if (total > (uint64_t)INT64_MAX + (negative ? 1 : 0))
			return RIVER_DURATION_INVALID;
	}
	*ret_ns = negative ? (int64_t)(0 - total) : (int64_t)total;
	return RIVER_DURATION_OK;
}
