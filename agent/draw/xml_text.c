/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as text of an XML document. */
#include "agent/draw/xml_text.h"

#include "agent/util/str.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define ELLIPSIS "\xe2\x80\xa6"
/* From here on (Hangul, CJK, emoji) characters take two columns more often than not; U+1100 is e1 84 80. */
#define FIRST_WIDE_BYTE 0xe1
/* U+2000 to U+2E7F are signs and punctuation of one column. */
#define NARROW_SIGNS_BYTE 0xe2

/* Cuts a character off, or one byte that belongs to none (then ret->p is NULL). */
static struct str next_char(struct str *rest)
{
	size_t n = str_utf8_len(*rest);
	struct str c = { n ? rest->p : NULL, n };

	rest->p += n ? n : 1;
	rest->n -= n ? n : 1;
	return c;
}

static size_t columns_of(struct str c)
{
	unsigned char first = c.p ? (unsigned char)*c.p : 0;

	return first >= FIRST_WIDE_BYTE && first != NARROW_SIGNS_BYTE ? 2 : 1;
}

/* How many bytes of the text fit into so many columns. */
static size_t fitting(struct str text, size_t columns)
{
	struct str rest = text;

	while (rest.n > 0) {
		const char *at = rest.p;
		size_t wide = columns_of(next_char(&rest));

		if (wide > columns)
			return (size_t)(at - text.p);
		columns -= wide;
	}
	return text.n;
}

bool xml_text_fits(const char *text, size_t columns)
{
	struct str all = str_from(text);

	return fitting(all, columns) == all.n;
}

/* XML 1.0, production 2: no control characters but three, no U+FFFE, no U+FFFF. Line breaks would be the only ones; names have none. */
static bool is_xml_char(struct str c)
{
	if (!c.p)
		return false;
	if (c.n == 1)
		return (unsigned char)*c.p >= 0x20 && *c.p != 0x7f;
	return c.n != 3 || memcmp(c.p, "\xef\xbf", 2) != 0 || (unsigned char)c.p[2] < 0xbe;
}

static int put_char(struct buf *out, struct str c)
{
	if (!is_xml_char(c))
		return buf_append_str(out, REPLACEMENT);
	switch (*c.p) {
	case '&':
		return buf_append_str(out, "&amp;");
	case '<':
		return buf_append_str(out, "&lt;");
	case '>':
		return buf_append_str(out, "&gt;");
	case '"':
		return buf_append_str(out, "&quot;");
	default:
		return buf_append(out, c.p, c.n);
	}
}

int xml_text(struct buf *out, const char *text, size_t columns)
{
	struct str rest = str_from(text);
	bool cut = !xml_text_fits(text, columns);
	int r = 0;

	if (cut)
		rest.n = columns > 0 ? fitting(rest, columns - 1) : 0;
	while (r == 0 && rest.n > 0)
		r = put_char(out, next_char(&rest));
	if (r == 0 && cut && columns > 0)
		r = buf_append_str(out, ELLIPSIS);
	return r;
}
