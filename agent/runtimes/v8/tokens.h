/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words and signs of a JavaScript source, which may be anything. Pure.
 *
 * Whether a slash divides or begins a regular expression depends on what stands before it: whoever asks for the next token says so, or that it cannot be told.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_TOKENS_H
#define XAGENT_AGENT_RUNTIMES_V8_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters as V8 has them: one byte each, or two. */
struct source {
	const void *chars;
	uint32_t n;
	bool is_wide;
};

enum token_kind {
	TOKEN_BAD, /* it cannot be told, or no program goes on like that */
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_PRIVATE, /* #name */
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_REGEXP,
	TOKEN_TEMPLATE,	     /* to its end … */
	TOKEN_TEMPLATE_OPEN, /* … or to "${" */
	TOKEN_SIGN,	     /* one of those below */
	TOKEN_OPERATOR,	     /* any other sign */
};

/* The first characters of a sign, the first one in the highest byte in use. */
enum sign {
	SIGN_DOTS = '.' << 16 | '.' << 8 | '.',
	SIGN_ARROW = '=' << 8 | '>',
	SIGN_CHAIN = '?' << 8 | '.',
	SIGN_INCREMENT = '+' << 8 | '+',
	SIGN_DECREMENT = '-' << 8 | '-',
};

enum slash { SLASH_DIVIDES, SLASH_BEGINS, SLASH_UNSURE };

struct token {
	enum token_kind kind;
	uint32_t begin, end;
	uint32_t sign; /* TOKEN_SIGN: enum sign, or the character */
	bool is_behind_newline;
	bool is_escaped; /* a word that is not spelled as it is called */
};

/* The token from *at on, which is behind it afterwards. */
struct token token_next(const struct source *source, uint32_t *at, enum slash slash);
/* What follows the closing brace of "${…}", from *at on: TOKEN_TEMPLATE or TOKEN_TEMPLATE_OPEN. */
struct token token_template_rest(const struct source *source, uint32_t *at);

/* The character there; 0 behind the end. */
uint32_t source_char(const struct source *source, uint32_t at);
/* Whether a line ends with it. */
bool source_is_newline(uint32_t c);
/* Whether a word is that one. */
bool source_is(const struct source *source, const struct token *token, const char *word);

#endif
