/* SPDX-License-Identifier: Apache-2.0 */
/* Strings as Go writes them: escapes between quotes, none between backquotes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/selector_syntax.h"
#include "agent/util/str.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
	return n;
}

/* n digits to a base of 8 or 16 behind `at`; -1 when one is none. */
static int64_t digits(const char *at, size_t n, int base)
{
	int64_t value = 0;

	for (size_t i = 0; i < n; i++) {
		int digit = hex_digit(at[i]);

		if (digit < 0 || digit >= base)
			return -1;
		value = value * base + digit;
	}
	return value;
}

struct escape {
	char letter;
	size_t n_digits;
	int base;
	int64_t max;
};

static const struct escape numbers[] = {
	{ 'x', 2, 16, 0xff },
	{ 'u', 4, 16, 0x10ffff },
	{ 'U', 8, 16, 0x10ffff },
	{ '0', 3, 8, 0xff },
};

static const struct escape *find_number(char letter)
{
	char wanted = letter >= '0' && letter <= '7' ? '0' : letter;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].letter == wanted)
			return &numbers[i];
	return NULL;
}

/* Of \x, \u, \U and octal digits; at[1] is the letter. Bytes consumed, or 0. */
static size_t escaped_number(const char *at, char *out, size_t *n)
{
	const struct escape *e = find_number(at[1]);
	size_t skip = e && e->base == 16 ? 2 : 1;
	int64_t value = e ? digits(at + skip, e->n_digits, e->base) : -1;

	if (value < 0 || value > e->max)
		return 0;
	if (e->max == 0xff)
		out[(*n)++] = (char)value;
	else if (value >= 0xd800 && value <= 0xdfff)
		return 0;
	else
		*n += put_utf8(out + *n, (uint32_t)value);
	return skip + e->n_digits;
}

/* One escape at `at`, appended to out. Bytes consumed, or 0: it is none. */
static size_t escaped(const char *at, char quote, char *out, size_t *n)
{
	static const char letters[] = "abfnrtv\\", meant[] = "\a\b\f\n\r\t\v\\";
	const char *found = at[1] ? strchr(letters, at[1]) : NULL;

	if (found || (at[1] && at[1] == quote)) {
		out[(*n)++] = found ? meant[found - letters] : quote;
		return 2;
	}
	return at[1] ? escaped_number(at, out, n) : 0;
}

static int refuse_escape(const struct selector_scan *scan, const char *at)
{
	size_t n = str_utf8_len(str_from(at + 1));

	return selector_refuse(scan, scan->at, "unknown escape sequence `\\%.*s`", (int)(n ? n : 1),
			       at + 1);
}

static int quoted(struct selector_scan *scan, char *out, size_t *ret_n)
{
	char quote = *scan->at;
	const char *at = scan->at + 1;
	size_t n = 0, taken;

	while (*at && *at != quote && *at != '\n') {
		if (*at != '\\') {
			out[n++] = *at++;
			continue;
		}
		taken = escaped(at, quote, out, &n);
		if (taken == 0 && at[1])
			return refuse_escape(scan, at);
		at += taken ? taken : 1;
	}
	if (*at != quote)
		return selector_refuse(scan, scan->at, "unterminated quoted string");
	scan->at = at + 1;
	*ret_n = n;
	return 0;
}

static int raw(struct selector_scan *scan, char *out, size_t *ret_n)
{
	const char *from = scan->at + 1, *end = strchr(from, '`');

	if (!end)
		return selector_refuse(scan, scan->at, "unterminated raw string");
	memcpy(out, from, (size_t)(end - from));
	*ret_n = (size_t)(end - from);
	scan->at = end + 1;
	return 0;
}

int selector_string(struct selector_scan *scan, char **ret_text, size_t *ret_n)
{
	/* No escape is shorter than what it stands for. */
	_cleanup_free_ char *text = malloc(strlen(scan->at) + 1);
	size_t n = 0;
	int r;

	if (!text)
		return -ENOMEM;
	r = *scan->at == '`' ? raw(scan, text, &n) : quoted(scan, text, &n);
	if (r != 0)
		return r;
	text[n] = '\0';
	*ret_text = TAKE_PTR(text);
	*ret_n = n;
	return 0;
}
