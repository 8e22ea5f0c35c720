/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a text is JSON, and in Go's words why not.
 *
 * jansson is stricter than Go about texts that are no UTF-8, and says things differently. So this
 * walks over the text first: it finds the first byte that does not belong, and writes a copy whose
 * strings have a replacement character for each byte, or escaped half of a pair, that is none.
 */
#include "river-config/json.h"

#include <stdio.h>
#include <string.h>

#include "river-config/unicode.h"

struct checker {
	const char *s;
	size_t n;
	size_t i;
	unsigned int depth;
	struct river_text *clean;
	const char *problem;
};

static bool check_value(struct checker *c);

static bool fail(struct checker *c, const char *problem)
{
	if (!c->problem)
		c->problem = problem;
	return false;
}

/* A byte as a character between single quotes. */
static void quote_byte(struct river_text *t, unsigned char byte)
{
	char utf8[RIVER_UTF8_MAX];
	struct river_text quoted = RIVER_TEXT_INIT(t->arena);

	if (byte == '\'' || byte == '"') {
		river_text_str(t, byte == '"' ? "'\"'" : "'\\''");
		return;
	}
	river_text_quote(&quoted, utf8, river_utf8_encode(byte, utf8));
	if (quoted.failed || quoted.len < 2) {
		t->failed = true;
		return;
	}
	river_text_char(t, '\'');
	river_text_append(t, quoted.data + 1, quoted.len - 2);
	river_text_char(t, '\'');
}

static bool bad_byte(struct checker *c, unsigned char byte, const char *where)
{
	struct river_text t = RIVER_TEXT_INIT(c->clean->arena);
	const char *text;

	river_text_str(&t, "invalid character ");
	quote_byte(&t, byte);
	river_text_printf(&t, " %s", where);
	text = river_text_take(&t);
	if (!text)
		c->clean->failed = true;
	return fail(c, text ? text : "");
}

/* Where white space would be in order. */
static bool unexpected(struct checker *c, const char *where)
{
	if (c->i >= c->n)
		return fail(c, "unexpected end of JSON input");
	return bad_byte(c, (unsigned char)c->s[c->i], where);
}

/* Inside of a token: the end counts as a blank. */
static bool unexpected_within(struct checker *c, const char *where)
{
	return bad_byte(c, c->i < c->n ? (unsigned char)c->s[c->i] : ' ', where);
}

static bool at(const struct checker *c, char wanted)
{
	return c->i < c->n && c->s[c->i] == wanted;
}

static bool at_digit(const struct checker *c)
{
	return c->i < c->n && c->s[c->i] >= '0' && c->s[c->i] <= '9';
}

static void take(struct checker *c, size_t n)
{
	river_text_append(c->clean, c->s + c->i, n);
	c->i += n;
}

static bool take_if(struct checker *c, char wanted)
{
	if (!at(c, wanted))
		return false;
	take(c, 1);
	return true;
}

static void skip_space(struct checker *c)
{
	while (at(c, ' ') || at(c, '\t') || at(c, '\r') || at(c, '\n'))
		c->i++;
}

static bool hex_digit(char ch, uint32_t *value)
{
	uint32_t digit;

	if (ch >= '0' && ch <= '9')
		digit = (uint32_t)(ch - '0');
	else if (ch >= 'a' && ch <= 'f')
		digit = (uint32_t)(ch - 'a') + 10;
	else if (ch >= 'A' && ch <= 'F')
		digit = (uint32_t)(ch - 'A') + 10;
	else
		return false;
	*value = *value << 4 | digit;
	return true;
}

/* Four digits at `i`; the number of those that are good. */
static size_t hex_at(const struct checker *c, size_t i, uint32_t *ret)
{
	size_t n = 0;

	*ret = 0;
	while (n < 4 && i + n < c->n && hex_digit(c->s[i + n], ret))
		n++;
	return n;
}

/* Behind the backslash, at the u. */
static bool check_unicode(struct checker *c)
{
	uint32_t code, low;
	size_t good = hex_at(c, c->i + 1, &code);

	if (good < 4) {
		c->i += 1 + good;
		return unexpected_within(c, "in \\u hexadecimal character escape");
	}
	if (code < 0xd800 || code >= 0xe000) {
		river_text_char(c->clean, '\\');
		take(c, 5);
		return true;
	}
	if (code < 0xdc00 && c->n - c->i > 10 && c->s[c->i + 5] == '\\' && c->s[c->i + 6] == 'u' &&
	    hex_at(c, c->i + 7, &low) == 4 && low >= 0xdc00 && low < 0xe000) {
		river_text_char(c->clean, '\\');
		take(c, 11);
		return true;
	}
	river_text_rune(c->clean, RIVER_CHAR_REPLACEMENT);
	c->i += 5;
	return true;
}

static bool check_escape(struct checker *c)
{
	c->i++;
	if (at(c, 'u'))
		return check_unicode(c);
	if (c->i >= c->n || !memchr("bfnrt\\/\"", c->s[c->i], 8))
		return unexpected_within(c, "in string escape code");
	river_text_char(c->clean, '\\');
	take(c, 1);
	return true;
}

static bool check_character(struct checker *c)
{
	uint32_t ch;
	size_t step;

	if (c->i >= c->n || (unsigned char)c->s[c->i] < 0x20)
		return unexpected(c, "in string literal");
	if (c->s[c->i] == '\\')
		return check_escape(c);
	step = river_utf8_decode(c->s + c->i, c->n - c->i, &ch);
	river_text_rune(c->clean, ch);
	c->i += step;
	return true;
}

static bool check_string(struct checker *c)
{
	take(c, 1);
	while (!at(c, '"'))
		if (!check_character(c))
			return false;
	take(c, 1);
	return true;
}

static void take_digits(struct checker *c)
{
	while (at_digit(c))
		take(c, 1);
}

static bool check_number(struct checker *c)
{
	take_if(c, '-');
	if (!at_digit(c))
		return unexpected_within(c, "in numeric literal");
	if (!take_if(c, '0'))
		take_digits(c);
	if (take_if(c, '.')) {
		if (!at_digit(c))
			return unexpected_within(c, "after decimal point in numeric literal");
		take_digits(c);
	}
	if (take_if(c, 'e') || take_if(c, 'E')) {
		if (!take_if(c, '+'))
			take_if(c, '-');
		if (!at_digit(c))
			return unexpected_within(c, "in exponent of numeric literal");
		take_digits(c);
	}
	return true;
}

static bool check_word(struct checker *c, const char *word)
{
	char where[64];

	for (size_t i = 0; word[i]; i++) {
		if (take_if(c, word[i]))
			continue;
		snprintf(where, sizeof(where), "in literal %s (expecting '%c')", word, word[i]);
		return unexpected_within(c, where);
	}
	return true;
}

static bool enter(struct checker *c)
{
	take(c, 1);
	skip_space(c);
	return ++c->depth <= RIVER_DEPTH_MAX || fail(c, "exceeded max depth");
}

static bool check_array(struct checker *c)
{
	if (!enter(c))
		return false;
	while (!at(c, ']')) {
		if (!check_value(c))
			return false;
		skip_space(c);
		if (at(c, ']'))
			break;
		if (!take_if(c, ','))
			return unexpected(c, "after array element");
		skip_space(c);
		if (at(c, ']'))
			return unexpected(c, "looking for beginning of value");
	}
	take(c, 1);
	c->depth--;
	return true;
}

static bool check_member(struct checker *c)
{
	if (!at(c, '"'))
		return unexpected(c, "looking for beginning of object key string");
	if (!check_string(c))
		return false;
	skip_space(c);
	if (!take_if(c, ':'))
		return unexpected(c, "after object key");
	return check_value(c);
}

static bool check_object(struct checker *c)
{
	if (!enter(c))
		return false;
	while (!at(c, '}')) {
		if (!check_member(c))
			return false;
		skip_space(c);
		if (at(c, '}'))
			break;
		if (!take_if(c, ','))
			return unexpected(c, "after object key:value pair");
		skip_space(c);
		if (at(c, '}'))
			return unexpected(c, "looking for beginning of object key string");
	}
	take(c, 1);
	c->depth--;
	return true;
}

static bool check_value(struct checker *c)
{
	skip_space(c);
	switch (c->i < c->n ? c->s[c->i] : '\0') {
	case '{':
		return check_object(c);
	case '[':
		return check_array(c);
	case '"':
		return check_string(c);
	case 't':
		return check_word(c, "true");
	case 'f':
		return check_word(c, "false");
	case 'n':
		return check_word(c, "null");
	default:
		break;
	}
	if (at(c, '-') || at_digit(c))
		return check_number(c);
	return unexpected(c, "looking for beginning of value");
}

const char *river_json_check(const char *s, size_t n, struct river_text *clean)
{
	struct checker c = { .s = s, .n = n, .clean = clean };

	if (check_value(&c)) {
		skip_space(&c);
		if (c.i < n)
			unexpected(&c, "after top-level value");
	}
	return c.problem;
}
