/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner.
 *
 * A newline ends a statement where the last token could end one (`terminator_due`); elsewhere it is
 * white space. A comment that runs to the end of its line stands for the newline, and the
 * terminator is emitted before it, at its position.
 */
#include "river-config/scanner.h"

#include <string.h>

#include "river-config/text.h"
#include "river-config/unicode.h"

#define CHAR_BOM 0xfeffU

static const char *const token_names[] = {
#define X(kind, name, precedence) [RIVER_TOKEN_##kind] = (name),
	RIVER_TOKENS(X)
#undef X
};

static const unsigned char token_precedences[] = {
#define X(kind, name, precedence) [RIVER_TOKEN_##kind] = (precedence),
	RIVER_TOKENS(X)
#undef X
};

const char *river_token_name(enum river_token_kind kind)
{
	return token_names[kind];
}

unsigned int river_token_precedence(enum river_token_kind kind)
{
	return token_precedences[kind];
}

static struct river_pos scanner_pos(struct river_scanner *s, size_t offset)
{
	const char *newline;

	while (s->counted < offset &&
	       (newline = memchr(s->text + s->counted, '\n', offset - s->counted))) {
		s->line++;
		s->line_offset = s->counted = (size_t)(newline - s->text) + 1;
	}
	s->counted = offset > s->counted ? offset : s->counted;
	return (struct river_pos){
		.offset = (uint32_t)offset,
		.line = s->line,
		.column = (uint32_t)(offset - s->line_offset) + 1,
	};
}

static void scanner_error_at(struct river_scanner *s, struct river_pos pos, const char *message)
{
	struct river_range at = { .file = s->file, .start = pos };

	if (river_diag_add(s->diags, RIVER_SEVERITY_ERROR, &at, "%s", message) < 0)
		s->failed = true;
}

static void scanner_error(struct river_scanner *s, size_t offset, const char *message)
{
	scanner_error_at(s, scanner_pos(s, offset), message);
}

/* `illegal character U+0023 '#'` and what follows. */
static void scanner_error_char(struct river_scanner *s, size_t offset, uint32_t c, const char *more)
{
	struct river_text t = RIVER_TEXT_INIT(s->diags->arena);
	const char *message;

	/* Nobody will see it: megabytes of such characters must not fill the arena with texts. */
	if (s->diags->n_items >= RIVER_DIAGS_MAX) {
		scanner_error(s, offset, "");
		return;
	}
	c = c == RIVER_CHAR_INVALID ? RIVER_CHAR_REPLACEMENT : c;
	river_text_printf(&t, "illegal character U+%04X", c);
	if (river_is_printable(c)) {
		river_text_str(&t, " '");
		river_text_rune(&t, c);
		river_text_char(&t, '\'');
	}
	river_text_str(&t, more);
	message = river_text_take(&t);
	if (message)
		scanner_error(s, offset, message);
	else
		s->failed = true;
}

/* Decodes the character at `offset` without saying anything. */
static void scanner_seek(struct river_scanner *s, size_t offset)
{
	s->offset = offset;
	s->ch_len = 0;
	s->ch = RIVER_CHAR_END;
	if (offset < s->len)
		s->ch_len = river_utf8_decode(s->text + offset, s->len - offset, &s->ch);
}

static void scanner_advance(struct river_scanner *s)
{
	scanner_seek(s, s->offset + s->ch_len);
	if (s->ch == 0)
		scanner_error(s, s->offset, "illegal character NUL");
	else if (s->ch == RIVER_CHAR_INVALID)
		scanner_error(s, s->offset, "illegal UTF-8 encoding");
	else if (s->ch == CHAR_BOM && s->offset > 0)
		scanner_error(s, s->offset, "illegal byte order mark");
}

void river_scanner_init(struct river_scanner *s, const char *file, const char *text, size_t len,
			struct river_diags *diags)
{
	*s = (struct river_scanner){
		.file = file, .text = text, .len = len, .diags = diags, .line = 1
	};
	scanner_advance(s);
	if (s->ch == CHAR_BOM)
		scanner_advance(s);
}

static bool is_decimal(uint32_t c)
{
	return c >= '0' && c <= '9';
}

static void skip_space(struct river_scanner *s)
{
	while (s->ch == ' ' || s->ch == '\t' || s->ch == '\r' ||
	       (s->ch == '\n' && !s->terminator_due))
		scanner_advance(s);
}

static void skip_decimals(struct river_scanner *s)
{
	while (is_decimal(s->ch))
		scanner_advance(s);
}

/* digits [ "." digits ] [ ("e" | "E") [ "+" | "-" ] digits ], or without the first digits. */
static enum river_token_kind scan_number(struct river_scanner *s, struct river_pos start)
{
	enum river_token_kind kind = RIVER_TOKEN_NUMBER;

	skip_decimals(s);
	if (s->ch == '.') {
		kind = RIVER_TOKEN_FLOAT;
		scanner_advance(s);
		skip_decimals(s);
	}
	if (s->ch == 'e' || s->ch == 'E') {
		kind = RIVER_TOKEN_FLOAT;
		scanner_advance(s);
		if (s->ch == '+' || s->ch == '-')
			scanner_advance(s);
		if (!is_decimal(s->ch))
			scanner_error_at(s, start, "exponent has no digits");
		skip_decimals(s);
	}
	return kind;
}

static unsigned int digit_value(uint32_t c)
{
	if (is_decimal(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* n digits; every complaint is about the first character after the backslash. */
static void scan_code_point(struct river_scanner *s, size_t start, unsigned int n,
			    unsigned int base, uint32_t max)
{
	uint32_t value = 0;

	for (; n > 0; n--) {
		unsigned int digit = digit_value(s->ch);

		if (s->ch == RIVER_CHAR_END) {
			scanner_error(s, start, "escape sequence not terminated");
			return;
		}
		if (digit >= base) {
			scanner_error_char(s, start, s->ch, " in escape sequence");
			return;
		}
		value = value * base + digit;
		scanner_advance(s);
	}
	if (value > max || (value >= 0xd800 && value < 0xe000))
		scanner_error(s, start, "escape sequence is invalid Unicode code point");
}

/* Behind the backslash. */
static void scan_escape(struct river_scanner *s)
{
	size_t start = s->offset;

	if (s->ch == RIVER_CHAR_END) {
		scanner_error(s, start, "escape sequence not terminated");
	} else if (s->ch < 0x80 && s->ch && strchr("abfnrtv\\\"", (int)s->ch)) {
		scanner_advance(s);
	} else if (s->ch >= '0' && s->ch <= '7') {
		scan_code_point(s, start, 3, 8, 255);
	} else if (s->ch == 'x') {
		scanner_advance(s);
		scan_code_point(s, start, 2, 16, 255);
	} else if (s->ch == 'u') {
		scanner_advance(s);
		scan_code_point(s, start, 4, 16, 0x10ffff);
	} else if (s->ch == 'U') {
		scanner_advance(s);
		scan_code_point(s, start, 8, 16, 0x10ffff);
	} else {
		scanner_error(s, start, "unknown escape sequence");
	}
}

/* Behind the opening quote, which `quote` is. */
static void scan_string(struct river_scanner *s, struct river_pos start, uint32_t quote)
{
	for (;;) {
		uint32_t c = s->ch;

		if (c == '\n' || c == RIVER_CHAR_END) {
			scanner_error_at(s, start, "string literal not terminated");
			return;
		}
		scanner_advance(s);
		if (c == quote)
			return;
		if (c == '\\')
			scan_escape(s);
	}
}

static void scan_raw_string(struct river_scanner *s, struct river_pos start)
{
	while (s->ch != '`') {
		if (s->ch == RIVER_CHAR_END) {
			scanner_error_at(s, start, "string literal not terminated");
			return;
		}
		scanner_advance(s);
	}
	scanner_advance(s);
}

/* Behind the slash, on the second character. */
static void scan_comment(struct river_scanner *s, struct river_pos start)
{
	bool block = s->ch == '*';

	scanner_advance(s);
	while (s->ch != RIVER_CHAR_END && (block || s->ch != '\n')) {
		bool star = s->ch == '*';

		scanner_advance(s);
		if (block && star && s->ch == '/') {
			scanner_advance(s);
			return;
		}
	}
	if (block)
		scanner_error_at(s, start, "block comment not terminated");
}

/* Offset behind the block comment whose `*` is at i, or 0 if a newline or the end comes first. */
static size_t block_comment_end(const struct river_scanner *s, size_t i)
{
	for (i++; i < s->len && s->text[i] != '\n'; i++)
		if (s->text[i] == '*' && i + 1 < s->len && s->text[i + 1] == '/')
			return i + 2;
	return 0;
}

/* Behind a slash: whether nothing but comments and white space is left on this line. */
static bool comments_end_line(const struct river_scanner *s)
{
	size_t i = s->offset;

	while (i < s->len && (s->text[i] == '/' || s->text[i] == '*')) {
		if (s->text[i] == '/')
			return true;
		i = block_comment_end(s, i);
		if (i == 0)
			return true;
		while (i < s->len && strchr(" \t\r", s->text[i]) && s->text[i])
			i++;
		if (i >= s->len || s->text[i] == '\n')
			return true;
		if (s->text[i] != '/')
			return false;
		i++;
	}
	return false;
}

static enum river_token_kind pick(struct river_scanner *s, char c, enum river_token_kind with,
				  enum river_token_kind without)
{
	if (s->ch != (unsigned char)c)
		return without;
	scanner_advance(s);
	return with;
}

static enum river_token_kind scan_pair(struct river_scanner *s, char c, enum river_token_kind kind,
				       const char *message)
{
	if (s->ch == (unsigned char)c)
		scanner_advance(s);
	else
		scanner_error(s, s->offset, message);
	return kind;
}

static enum river_token_kind scan_operator(struct river_scanner *s, uint32_t c)
{
	switch (c) {
	case '|':
		return scan_pair(s, '|', RIVER_TOKEN_OR, "missing second | in ||");
	case '&':
		return scan_pair(s, '&', RIVER_TOKEN_AND, "missing second & in &&");
	case '!':
		return pick(s, '=', RIVER_TOKEN_NEQ, RIVER_TOKEN_NOT);
	case '=':
		return pick(s, '=', RIVER_TOKEN_EQ, RIVER_TOKEN_ASSIGN);
	case '<':
		return pick(s, '=', RIVER_TOKEN_LTE, RIVER_TOKEN_LT);
	case '>':
		return pick(s, '=', RIVER_TOKEN_GTE, RIVER_TOKEN_GT);
	case '+':
		return RIVER_TOKEN_ADD;
	case '-':
		return RIVER_TOKEN_SUB;
	case '*':
		return RIVER_TOKEN_MUL;
	case '/':
		return RIVER_TOKEN_DIV;
	case '%':
		return RIVER_TOKEN_MOD;
	case '^':
		return RIVER_TOKEN_POW;
	case '{':
		return RIVER_TOKEN_LCURLY;
	case '}':
		return RIVER_TOKEN_RCURLY;
	case '(':
		return RIVER_TOKEN_LPAREN;
	case ')':
		return RIVER_TOKEN_RPAREN;
	case '[':
		return RIVER_TOKEN_LBRACK;
	case ']':
		return RIVER_TOKEN_RBRACK;
	case ',':
		return RIVER_TOKEN_COMMA;
	case '.':
		return RIVER_TOKEN_DOT;
	default:
		return RIVER_TOKEN_ILLEGAL;
	}
}

/* What a token other than a word or a number is; the scanner stands behind its first character. */
static enum river_token_kind scan_other(struct river_scanner *s, uint32_t c, struct river_pos start)
{
	enum river_token_kind kind;

	switch (c) {
	case RIVER_CHAR_END:
		return RIVER_TOKEN_EOF;
	case '\'':
		scanner_error_at(s, start, "illegal single-quoted string; use double quotes");
		scan_string(s, start, '\'');
		s->terminator_due = true;
		return RIVER_TOKEN_ILLEGAL;
	case '"':
		scan_string(s, start, '"');
		return RIVER_TOKEN_STRING;
	case '`':
		scan_raw_string(s, start);
		return RIVER_TOKEN_STRING;
	case '/':
		if (s->ch != '/' && s->ch != '*')
			return RIVER_TOKEN_DIV;
		scan_comment(s, start);
		return RIVER_TOKEN_COMMENT;
	default:
		kind = scan_operator(s, c);
		/* A byte order mark in the middle has been complained about already. */
		if (kind == RIVER_TOKEN_ILLEGAL && c != CHAR_BOM)
			scanner_error_char(s, start.offset, c, "");
		return kind;
	}
}

static enum river_token_kind word_kind(const char *text, size_t len)
{
	if ((len == 4 && memcmp(text, "true", 4) == 0) ||
	    (len == 5 && memcmp(text, "false", 5) == 0))
		return RIVER_TOKEN_BOOL;
	return len == 4 && memcmp(text, "null", 4) == 0 ? RIVER_TOKEN_NULL : RIVER_TOKEN_IDENT;
}

static enum river_token_kind scan_word(struct river_scanner *s)
{
	size_t start = s->offset;

	while (river_is_letter(s->ch) || river_is_digit(s->ch))
		scanner_advance(s);
	return word_kind(s->text + start, s->offset - start);
}

/* A keyword is none. */
bool river_is_identifier(const char *s, size_t len)
{
	uint32_t c;
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		step = river_utf8_decode(s + i, len - i, &c);
		if (!river_is_letter(c) && !(i > 0 && river_is_digit(c)))
			return false;
	}
	return len > 0 && word_kind(s, len) == RIVER_TOKEN_IDENT;
}

static bool ends_statement(enum river_token_kind kind)
{
	switch (kind) {
	case RIVER_TOKEN_IDENT:
	case RIVER_TOKEN_NUMBER:
	case RIVER_TOKEN_FLOAT:
	case RIVER_TOKEN_STRING:
	case RIVER_TOKEN_BOOL:
	case RIVER_TOKEN_NULL:
	case RIVER_TOKEN_RPAREN:
	case RIVER_TOKEN_RBRACK:
	case RIVER_TOKEN_RCURLY:
		return true;
	default:
		return false;
	}
}

static bool at_float(const struct river_scanner *s)
{
	return s->ch == '.' && s->offset + 1 < s->len &&
	       is_decimal((unsigned char)s->text[s->offset + 1]);
}

/* A terminator where one is due: at a newline, at the end, or before comments that end the line. */
static bool scan_terminator(struct river_scanner *s)
{
	size_t start = s->offset;
	bool found = s->ch == '\n' || s->ch == RIVER_CHAR_END;

	if (!s->terminator_due)
		return false;
	if (s->ch == '\n') {
		scanner_advance(s);
	} else if (s->ch == '/') {
		scanner_seek(s, start + 1);
		found = comments_end_line(s);
		scanner_seek(s, start);
	}
	s->terminator_due = !found;
	return found;
}

static void token_finish(struct river_scanner *s, struct river_token *token)
{
	size_t end = s->offset;

	token->text = s->text + token->start.offset;
	token->len = end - token->start.offset;
	while (token->kind == RIVER_TOKEN_COMMENT && token->len &&
	       token->text[token->len - 1] == '\r')
		token->len--;
	token->end =
		token->len ? scanner_pos(s, token->start.offset + token->len - 1) : token->start;
}

struct river_token river_scanner_next(struct river_scanner *s)
{
	struct river_token token;
	uint32_t c;

	skip_space(s);
	token = (struct river_token){ .start = scanner_pos(s, s->offset), .text = "\n", .len = 1 };
	token.end = token.start;
	if (scan_terminator(s)) {
		token.kind = RIVER_TOKEN_TERMINATOR;
		return token;
	}
	c = s->ch;
	if (river_is_letter(c)) {
		token.kind = scan_word(s);
	} else if (is_decimal(c) || at_float(s)) {
		token.kind = scan_number(s, token.start);
	} else {
		scanner_advance(s);
		token.kind = scan_other(s, c, token.start);
	}
	if (token.kind != RIVER_TOKEN_ILLEGAL)
		s->terminator_due = ends_statement(token.kind);
	token_finish(s, &token);
	return token;
}
