/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text. */
#include "agent/store/connect/json_text.h"

#include <math.h>
#include <stdlib.h>

#define REPLACEMENT "\xef\xbf\xbd"
/* IEEE 754: so many always tell a double from its neighbours. */
#define DOUBLE_DIGITS 17

/* RFC 8259 7: quotation mark, reverse solidus, and the control characters. */
static int put_escaped(struct buf *out, unsigned char c)
{
	switch (c) {
	case '"':
		return buf_append_str(out, "\\\"");
	case '\\':
		return buf_append_str(out, "\\\\");
	case '\n':
		return buf_append_str(out, "\\n");
	case '\r':
		return buf_append_str(out, "\\r");
	case '\t':
		return buf_append_str(out, "\\t");
	default:
		return buf_printf(out, "\\u%04x", c);
	}
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* What needs no care, as one piece. */
static size_t plain_run(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_plain((unsigned char)s.p[n]))
		n++;
	return n;
}

/* One character that is not plain. Returns its length. */
static size_t put_other(struct buf *out, struct str s)
{
	size_t n = str_utf8_len(s);

	if (n == 0)
		(void)buf_append_str(out, REPLACEMENT);
	else if (n == 1)
		(void)put_escaped(out, (unsigned char)*s.p);
	else
		(void)buf_append(out, s.p, n);
	return n ? n : 1;
}

int json_put_text(struct buf *out, struct str text)
{
	(void)buf_append_char(out, '"');
	while (text.n > 0 && !out->failed) {
		size_t n = plain_run(text);

		if (n > 0)
			(void)buf_append(out, text.p, n);
		else
			n = put_other(out, text);
		text = (struct str){ text.p + n, text.n - n };
	}
	return buf_append_char(out, '"');
}

int json_put_double(struct buf *out, double value)
{
	char text[64];

	if (isnan(value))
		return buf_append_str(out, "\"NaN\"");
	if (isinf(value))
		return buf_append_str(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
	for (int digits = 15; digits <= DOUBLE_DIGITS; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return buf_append_str(out, text);
}
