/* SPDX-License-Identifier: Apache-2.0 */
/* Upper and lower case, by libunistring. */
#include "agent/target/relabel_case.h"

#include <unicase.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

size_t relabel_char_decode(const char *bytes, size_t n, uint32_t *ret_char)
{
	static const uint8_t masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	size_t len = str_utf8_len((struct str){ bytes, n });
	uint32_t c = RELABEL_CHAR_REPLACEMENT;

	if (len > 0)
		c = (uint8_t)bytes[0] & masks[len];
	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((uint8_t)bytes[i] & 0x3f);
	*ret_char = c;
	return MAX_OF(len, 1);
}

size_t relabel_char_encode(uint32_t c, char *out)
{
	static const uint8_t marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(marks[n] | c);
	return n;
}

static int append_mapped(struct buf *out, const char *text, size_t n, ucs4_t (*map)(ucs4_t))
{
	int r = 0;

	for (size_t at = 0; at < n && r == 0;) {
		char bytes[4];
		uint32_t c;

		at += relabel_char_decode(text + at, n - at, &c);
		r = buf_append(out, bytes, relabel_char_encode(map(c), bytes));
	}
	return r;
}

int relabel_append_upper(struct buf *out, const char *text, size_t n)
{
	return append_mapped(out, text, n, uc_toupper);
}

int relabel_append_lower(struct buf *out, const char *text, size_t n)
{
	return append_mapped(out, text, n, uc_tolower);
}
