/* SPDX-License-Identifier: Apache-2.0 */
/* Borrowed string views, bounded number scanning, UTF-8 repair. */
#include "agent/util/str.h"

#include <errno.h>

bool str_starts_with(struct str s, struct str prefix)
{
	return s.n >= prefix.n && memcmp(s.p, prefix.p, prefix.n) == 0;
}

bool str_ends_with(struct str s, struct str suffix)
{
	return s.n >= suffix.n && memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0;
}

bool str_split(struct str *rest, char sep, struct str *ret_piece)
{
	if (!rest->p)
		return false;
	const char *at = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
	if (!at) {
		*ret_piece = *rest;
		*rest = (struct str){ NULL, 0 };
		return true;
	}
	*ret_piece = (struct str){ rest->p, (size_t)(at - rest->p) };
	rest->n -= ret_piece->n + 1;
	rest->p = at + 1;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct str str_trim(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_basename(struct str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	if (!slash)
		return path;
	return (struct str){ slash + 1, path.n - (size_t)(slash + 1 - path.p) };
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

int str_scan_u64(struct str *s, unsigned int base, uint64_t max, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < s->n; i++) {
		unsigned int d = (unsigned int)digit_value(s->p[i]);

		if (d >= base)
			break;
		if (value > (max - d) / base || d > max)
			return -ERANGE;
		value = value * base + d;
	}
	if (i == 0)
		return -EINVAL;
	s->p += i;
	s->n -= i;
	*ret_value = value;
	return 0;
}

int str_parse_u64(struct str s, unsigned int base, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;
	int r = str_scan_u64(&s, base, max, &value);

	if (r < 0)
		return r;
	if (s.n > 0)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static bool utf8_tail(const unsigned char *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	return true;
}

size_t str_utf8_len(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n;

	if (s.n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || s.n < n || !utf8_tail(p, n))
		return 0;
	/* Second-byte limits of Unicode 15 table 3-7: overlong forms, surrogates, above U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool str_is_utf8(struct str s)
{
	while (s.n > 0) {
		size_t n = str_utf8_len(s);

		if (n == 0)
			return false;
		s.p += n;
		s.n -= n;
	}
	return true;
}

/* C0, DEL, and C1, which a terminal takes as well (ECMA-48; U+009B is its CSI). */
static bool is_control(const char *p, size_t n)
{
	unsigned char first = (unsigned char)p[0];

	return n == 1 ? first < 0x20 || first == 0x7f
		      : n == 2 && first == 0xc2 && (unsigned char)p[1] < 0xa0;
}

void str_copy_utf8(char *dst, size_t dst_bytes, struct str src)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t at = 0;

	while (src.n > 0) {
		size_t n = str_utf8_len(src);
		const char *from = n ? src.p : replacement;
		size_t len = n ? n : sizeof(replacement) - 1;

		if (n && is_control(src.p, n)) {
			from = "?";
			len = 1;
		}
		if (at + len + 1 > dst_bytes)
			break;
		memcpy(dst + at, from, len);
		at += len;
		src.p += n ? n : 1;
		src.n -= n ? n : 1;
	}
	if (dst_bytes > 0)
		dst[at] = '\0';
}
