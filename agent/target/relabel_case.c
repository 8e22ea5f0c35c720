/* SPDX-License-Identifier: Apache-2.0 */
/* Upper and lower case, by libunistring. */
#include "agent/target/relabel_case.h"

#include <unicase.h>
#include <unistr.h>

#define CHAR_REPLACEMENT 0xfffd

static int append_mapped(struct buf *out, const char *text, size_t n, ucs4_t (*map)(ucs4_t))
{
	int r = 0;

	for (size_t at = 0; at < n && r == 0;) {
		uint8_t bytes[6];
		ucs4_t c = CHAR_REPLACEMENT;
		int len = u8_mbtoucr(&c, (const uint8_t *)text + at, n - at);

		at += len > 0 ? (size_t)len : 1;
		len = u8_uctomb(bytes, len > 0 ? map(c) : CHAR_REPLACEMENT, sizeof(bytes));
		r = buf_append(out, bytes, (size_t)len);
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
