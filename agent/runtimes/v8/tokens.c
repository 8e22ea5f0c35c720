/* SPDX-License-Identifier: Apache-2.0 */
/* Words and signs of a JavaScript source. */
#include "agent/runtimes/v8/tokens.h"

#include <string.h>

struct reader {
	const struct source *source;
	uint32_t at;
	struct token token;
};

uint32_t source_char(const struct source *s, uint32_t at)
{
	uint16_t wide;

	if (at >= s->n)
		return 0;
	if (!s->is_wide)
		return ((const uint8_t *)s->chars)[at];
	memcpy(&wide, (const char *)s->chars + 2 * (size_t)at, sizeof(wide));
	return wide;
}

bool source_is(const struct source *s, const struct token *t, const char *word)
{
	size_t n = strlen(word);

	if (t->kind != TOKEN_WORD || t->is_escaped || t->end - t->begin != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (source_char(s, t->begin + (uint32_t)i) != (unsigned char)word[i])
			return false;
	return true;
}

static uint32_t peek(const struct reader *r, uint32_t n)
{
	return source_char(r->source, r->at + n);
}

static bool is_over(const struct reader *r)
{
	return r->at >= r->source->n;
}

bool source_is_newline(uint32_t c)
{
	return c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029;
}

static bool is_space(uint32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || c == 0xfeff || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

static bool is_digit(uint32_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_of_word(uint32_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '$' || c == '\\' || (c >= 0x80 && !is_space(c));
}

static void skip_line(struct reader *r)
{
	while (!is_over(r) && !source_is_newline(peek(r, 0)))
		r->at++;
}

/* False: it has no end. */
static bool skip_comment(struct reader *r)
{
	for (r->at += 2; !is_over(r); r->at++) {
		if (peek(r, 0) == '*' && peek(r, 1) == '/') {
			r->at += 2;
			return true;
		}
		r->token.is_behind_newline |= source_is_newline(peek(r, 0));
	}
	return false;
}

/* Spaces and comments. False: a comment without an end, or one of HTML, which some programs may have and others not. */
static bool skip_spaces(struct reader *r)
{
	for (; !is_over(r);) {
		uint32_t c = peek(r, 0);

		if (is_space(c)) {
			r->token.is_behind_newline |= source_is_newline(c);
			r->at++;
		} else if (c == '/' && peek(r, 1) == '/') {
			skip_line(r);
		} else if (c == '/' && peek(r, 1) == '*') {
			if (!skip_comment(r))
				return false;
		} else if (c == '#' && r->at == 0 && peek(r, 1) == '!') {
			skip_line(r);
		} else {
			return !(c == '<' && peek(r, 1) == '!' && peek(r, 2) == '-' &&
				 peek(r, 3) == '-') &&
			       !(c == '-' && peek(r, 1) == '-' && peek(r, 2) == '>' &&
				 r->token.is_behind_newline);
		}
	}
	return true;
}

static enum token_kind read_word(struct reader *r, enum token_kind kind)
{
	for (; is_of_word(peek(r, 0)); r->at++) {
		if (peek(r, 0) != '\\')
			continue;
		r->token.is_escaped = true;
		if (peek(r, 1) == 'u' && peek(r, 2) == '{')
			while (!is_over(r) && peek(r, 0) != '}')
				r->at++;
	}
	return kind;
}

static void skip_digits(struct reader *r)
{
	while (is_digit(peek(r, 0)) || peek(r, 0) == '_')
		r->at++;
}

/* With whatever letters stand behind: those of another base, a big one's. */
static enum token_kind read_number(struct reader *r)
{
	bool has_base = peek(r, 0) == '0' && is_of_word(peek(r, 1)) && !is_digit(peek(r, 1));

	skip_digits(r);
	if (!has_base && peek(r, 0) == '.') {
		r->at++;
		skip_digits(r);
	}
	if (!has_base && (peek(r, 0) | 32) == 'e' && (peek(r, 1) == '+' || peek(r, 1) == '-'))
		r->at += 2;
	return read_word(r, TOKEN_NUMBER);
}

static enum token_kind read_string(struct reader *r, uint32_t quote)
{
	for (r->at++; !is_over(r); r->at++) {
		uint32_t c = peek(r, 0);

		if (c == quote) {
			r->at++;
			return TOKEN_STRING;
		}
		if (c == '\n' || c == '\r')
			return TOKEN_BAD;
		if (c == '\\')
			r->at += peek(r, 1) == '\r' && peek(r, 2) == '\n' ? 2 : 1;
	}
	return TOKEN_BAD;
}

static enum token_kind read_template(struct reader *r)
{
	for (; !is_over(r); r->at++) {
		uint32_t c = peek(r, 0);

		if (c == '`') {
			r->at++;
			return TOKEN_TEMPLATE;
		}
		if (c == '$' && peek(r, 1) == '{') {
			r->at += 2;
			return TOKEN_TEMPLATE_OPEN;
		}
		if (c == '\\')
			r->at++;
	}
	return TOKEN_BAD;
}

static enum token_kind read_regexp(struct reader *r)
{
	bool is_in_class = false;

	for (r->at++; !is_over(r) && !source_is_newline(peek(r, 0)); r->at++) {
		uint32_t c = peek(r, 0);

		if (c == '/' && !is_in_class) {
			r->at++;
			return read_word(r, TOKEN_REGEXP);
		}
		if (c == '[')
			is_in_class = true;
		else if (c == ']')
			is_in_class = false;
		else if (c == '\\' && !source_is_newline(peek(r, 1)))
			r->at++;
	}
	return TOKEN_BAD;
}

/* Of n characters that tell something. */
static enum token_kind read_sign(struct reader *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		r->token.sign = r->token.sign << 8 | peek(r, i);
	r->at += n;
	return TOKEN_SIGN;
}

/* One character, or several of it, and equals signs behind: "=", ">>>=", "!==". */
static enum token_kind read_operator(struct reader *r)
{
	uint32_t c = peek(r, 0), n = 0;

	if (!c || !strchr("+-*/%&|^!<>=?~", (int)c))
		return TOKEN_BAD;
	if (c == '=' && peek(r, 1) != '=')
		return read_sign(r, peek(r, 1) == '>' ? 2 : 1);
	if ((c == '+' || c == '-') && peek(r, 1) == c)
		return read_sign(r, 2);
	while (n < 3 && peek(r, n) == c)
		n++;
	if (c == '?' && n == 1)
		return read_sign(r, peek(r, 1) == '.' && !is_digit(peek(r, 2)) ? 2 : 1);
	while (peek(r, n) == '=' && n < 4)
		n++;
	r->at += n;
	return TOKEN_OPERATOR;
}

static enum token_kind read_slash(struct reader *r, enum slash slash)
{
	if (slash == SLASH_UNSURE)
		return TOKEN_BAD;
	if (slash == SLASH_BEGINS)
		return read_regexp(r);
	r->at += peek(r, 1) == '=' ? 2 : 1;
	return TOKEN_OPERATOR;
}

static enum token_kind read_any(struct reader *r, enum slash slash)
{
	uint32_t c = peek(r, 0);

	if (is_digit(c) || (c == '.' && is_digit(peek(r, 1))))
		return read_number(r);
	if (is_of_word(c))
		return read_word(r, TOKEN_WORD);
	if (c == '#' && is_of_word(peek(r, 1)) && !is_digit(peek(r, 1))) {
		r->at++;
		return read_word(r, TOKEN_PRIVATE);
	}
	if (c == '"' || c == '\'')
		return read_string(r, c);
	if (c == '`') {
		r->at++;
		return read_template(r);
	}
	if (c == '/')
		return read_slash(r, slash);
	if (c == '.')
		return read_sign(r, peek(r, 1) == '.' && peek(r, 2) == '.' ? 3 : 1);
	if (c && c < 0x80 && strchr("()[]{};,:", (int)c))
		return read_sign(r, 1);
	return c < 0x80 ? read_operator(r) : TOKEN_BAD;
}

static struct token finish(struct reader *r, uint32_t *at)
{
	r->token.end = r->at;
	/* A backslash at the very end leads beyond it. */
	if (r->at > r->source->n)
		r->token.kind = TOKEN_BAD;
	*at = r->at;
	return r->token;
}

struct token token_next(const struct source *source, uint32_t *at, enum slash slash)
{
	/* The first line is one, too. */
	struct reader r = { .source = source,
			    .at = *at,
			    .token = { .is_behind_newline = *at == 0 } };
	bool is_skipped = skip_spaces(&r);

	r.token.begin = r.at;
	if (is_skipped)
		r.token.kind = is_over(&r) ? TOKEN_END : read_any(&r, slash);
	return finish(&r, at);
}

struct token token_template_rest(const struct source *source, uint32_t *at)
{
	struct reader r = { .source = source, .at = *at, .token = { .begin = *at } };

	r.token.kind = read_template(&r);
	return finish(&r, at);
}
