/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes that stand for one character. */
#include "agent/target/relabel_parser.h"

#include <string.h>

#include "agent/target/relabel_case.h"

static int unhex(uint32_t c)
{
	if (c >= '0' && c <= '9')
		return (int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (int)(c - 'a' + 10);
	return c >= 'A' && c <= 'F' ? (int)(c - 'A' + 10) : -1;
}

/* Two digits behind the x. *ret_taken false: they are none. */
static int escape_two(struct parser *p, uint32_t *ret_char, bool *ret_taken)
{
	uint32_t high = 0, low = 0;
	int r = parser_next(p, &high);

	if (r == 0 && *p->at)
		r = parser_next(p, &low);
	*ret_taken = r == 0 && unhex(high) >= 0 && unhex(low) >= 0;
	if (*ret_taken)
		*ret_char = (uint32_t)(unhex(high) * 16 + unhex(low));
	return r;
}

/* Any number of them in braces. */
static int escape_braces(struct parser *p, uint32_t *ret_char, bool *ret_taken)
{
	uint32_t c = 0, value = 0;

	*ret_taken = false;
	p->at++;
	for (size_t n = 0; *p->at; n++) {
		int r = parser_next(p, &c);

		if (r != 0)
			return r;
		if (c == '}') {
			*ret_taken = n > 0;
			*ret_char = value;
			return 0;
		}
		if (unhex(c) < 0)
			return 0;
		value = value * 16 + (uint32_t)unhex(c);
		if (value > RELABEL_CHAR_MAX)
			return 0;
	}
	return 0;
}

static uint32_t escape_octal(struct parser *p, uint32_t c)
{
	uint32_t value = c - '0';

	for (int i = 1; i < 3 && *p->at >= '0' && *p->at <= '7'; i++)
		value = value * 8 + (uint32_t)(*p->at++ - '0');
	return value;
}

int parser_escape(struct parser *p, uint32_t *ret_char)
{
	static const char letters[] = "afnrtv", controls[] = "\a\f\n\r\t\v";
	const char *from = p->at++, *letter;
	bool taken = false;
	uint32_t c;
	int r;

	if (!*p->at)
		return parser_refuse(p, "trailing backslash at end of expression", p->at, p->at);
	r = parser_next(p, &c);
	if (r != 0)
		return r;
	letter = c < 0x80 ? strchr(letters, (int)c) : NULL;
	if (letter) {
		*ret_char = (uint32_t)controls[letter - letters];
		return 0;
	}
	/* A digit alone would be a reference. */
	if (c == '0' || (c >= '1' && c <= '7' && *p->at >= '0' && *p->at <= '7')) {
		*ret_char = escape_octal(p, c);
		return 0;
	}
	if (c == 'x' && *p->at)
		r = *p->at == '{' ? escape_braces(p, ret_char, &taken)
				  : escape_two(p, ret_char, &taken);
	if (r != 0 || taken)
		return r;
	if (c >= 0x80 || parser_is_alnum(c))
		return parser_refuse(p, "invalid escape sequence", from, p->at);
	*ret_char = c;
	return 0;
}
