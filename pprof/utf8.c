/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: recognise it, and make it of anything (Unicode 15, table 3-7). */
#include "pprof/utf8.h"

#include <string.h>

#define UTF8_MAX_BYTES 4

static const char replacement[UTF8_REPLACEMENT_BYTES] = { '\xEF', '\xBF', '\xBD' };

static bool utf8_continues(uint8_t byte)
{
	return (byte & 0xC0) == 0x80;
}

/* By the first byte: the length of the sequence, 0 when none begins so. */
static size_t utf8_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xC2 && first <= 0xDF)
		return 2;
	if (first >= 0xE0 && first <= 0xEF)
		return 3;
	if (first >= 0xF0 && first <= 0xF4)
		return 4;
	return 0;
}

/*
 * Some first bytes narrow the second: against overlong forms, surrogates, and what is past
 * U+10FFFF.
 */
static bool utf8_second_fits(uint8_t first, uint8_t second)
{
	switch (first) {
	case 0xE0:
		return second >= 0xA0;
	case 0xED:
		return second < 0xA0;
	case 0xF0:
		return second >= 0x90;
	case 0xF4:
		return second < 0x90;
	}
	return true;
}

/* The length of the valid sequence at p, 0 when there is none. */
static size_t utf8_sequence(const uint8_t *p, size_t n)
{
	size_t len = utf8_length(p[0]);

	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (!utf8_continues(p[i]))
			return 0;
	if (len > 1 && !utf8_second_fits(p[0], p[1]))
		return 0;
	return len;
}

bool pprof_utf8_valid(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;

	for (size_t i = 0; i < n;) {
		size_t len = utf8_sequence(p + i, n - i);

		if (!len)
			return false;
		i += len;
	}
	return true;
}

size_t pprof_utf8_repair(const char *text, size_t n, char *ret_text)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t n_out = 0;

	for (size_t i = 0; i < n;) {
		size_t len = utf8_sequence(p + i, n - i);

		memcpy(ret_text + n_out, len ? text + i : replacement,
		       len ? len : sizeof(replacement));
		n_out += len ? len : sizeof(replacement);
		i += len ? len : 1;
	}
	return n_out;
}

size_t pprof_utf8_tail(const char *text, size_t n, size_t max)
{
	size_t cut = n > max ? n - max : 0;

	/*
	 * Never more than the rest of one code point: the text may be nothing but continuation
	 * bytes.
	 */
	for (int i = 0; i < UTF8_MAX_BYTES - 1; i++)
		if (cut > 0 && cut < n && utf8_continues((uint8_t)text[cut]))
			cut++;
	return cut;
}
