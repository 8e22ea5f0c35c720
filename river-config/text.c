/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing strings, and the two spellings that must equal Go's: quoted text and floating-point
 * numbers.
 */
#include "river-config/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "river-config/number.h"
#include "river-config/unicode.h"

static bool text_reserve(struct river_text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 64;
	char *data;

	if (t->failed)
		return false;
	if (n < t->cap - t->len)
		return true;
	while (cap - t->len <= n && cap < SIZE_MAX / 2)
		cap *= 2;
	data = cap - t->len > n ? river_arena_alloc(t->arena, cap) : NULL;
	if (!data) {
		t->failed = true;
		return false;
	}
	if (t->len)
		memcpy(data, t->data, t->len);
	t->data = data;
	t->cap = cap;
	return true;
}

void river_text_append(struct river_text *t, const char *bytes, size_t n)
{
	if (!text_reserve(t, n))
		return;
	if (n)
		memcpy(t->data + t->len, bytes, n);
	t->len += n;
	t->data[t->len] = '\0';
}

void river_text_str(struct river_text *t, const char *s)
{
	river_text_append(t, s, strlen(s));
}

void river_text_char(struct river_text *t, char c)
{
	river_text_append(t, &c, 1);
}

void river_text_rune(struct river_text *t, uint32_t c)
{
	char buf[RIVER_UTF8_MAX];

	river_text_append(t, buf, river_utf8_encode(c, buf));
}

void river_text_repeat(struct river_text *t, char c, size_t n)
{
	if (!text_reserve(t, n))
		return;
	memset(t->data + t->len, c, n);
	t->len += n;
	t->data[t->len] = '\0';
}

void river_text_vprintf(struct river_text *t, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		t->failed = true;
	if (n < 0 || !text_reserve(t, (size_t)n))
		return;
	vsnprintf(t->data + t->len, (size_t)n + 1, fmt, ap);
	t->len += (size_t)n;
}

void river_text_printf(struct river_text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	river_text_vprintf(t, fmt, ap);
	va_end(ap);
}

static void text_escape(struct river_text *t, uint32_t c, unsigned char byte)
{
	static const char names[] = "abtnvfr"; /* for 7 to 13, in that order */

	if (c == RIVER_CHAR_INVALID)
		river_text_printf(t, "\\x%02x", byte);
	else if (c == '"' || c == '\\')
		river_text_printf(t, "\\%c", (char)c);
	else if (river_is_printable(c))
		river_text_rune(t, c);
	else if (c >= 7 && c <= 13)
		river_text_printf(t, "\\%c", names[c - 7]);
	else if (c < 0x80)
		river_text_printf(t, "\\x%02x", c);
	else
		river_text_printf(t, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void river_text_quote(struct river_text *t, const char *s, size_t n)
{
	uint32_t c;
	size_t step;

	river_text_char(t, '"');
	for (size_t i = 0; i < n; i += step) {
		step = river_utf8_decode(s + i, n - i, &c);
		text_escape(t, c, (unsigned char)s[i]);
	}
	river_text_char(t, '"');
}

/* `digits` with the decimal point after the first `point` of them. */
static void text_decimal(struct river_text *t, const char *digits, size_t n, int point)
{
	if (point <= 0) {
		river_text_str(t, "0.");
		river_text_repeat(t, '0', (size_t)-point);
		river_text_append(t, digits, n);
		return;
	}
	if ((size_t)point >= n) {
		river_text_append(t, digits, n);
		river_text_repeat(t, '0', (size_t)point - n);
		return;
	}
	river_text_append(t, digits, (size_t)point);
	river_text_char(t, '.');
	river_text_append(t, digits + point, n - (size_t)point);
}

void river_text_float(struct river_text *t, double f)
{
	char digits[RIVER_FLOAT_DIGITS_MAX + 1];
	int point;
	size_t n;

	if (!isfinite(f)) {
		river_text_str(t, isnan(f) ? "NaN" : f < 0 ? "-Inf" : "+Inf");
		return;
	}
	if (signbit(f))
		river_text_char(t, '-');
	if (f == 0) {
		river_text_char(t, '0');
		return;
	}
	n = river_float_digits(fabs(f), digits, &point);
	text_decimal(t, digits, n, point);
}

const char *river_text_take(struct river_text *t)
{
	river_text_append(t, "", 0);
	return t->failed ? NULL : t->data;
}
