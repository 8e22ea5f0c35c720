/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: one list for the kinds, their names in messages and the precedence of operators. */
#ifndef XAGENT_RIVER_CONFIG_TOKEN_H
#define XAGENT_RIVER_CONFIG_TOKEN_H

#include "river-config/river.h"

/* kind, name in messages, precedence as a binary operator (0: none) */
#define RIVER_TOKENS(X)                \
	X(ILLEGAL, "ILLEGAL", 0)       \
	X(EOF, "EOF", 0)               \
	X(COMMENT, "COMMENT", 0)       \
	X(IDENT, "IDENT", 0)           \
	X(NUMBER, "NUMBER", 0)         \
	X(FLOAT, "FLOAT", 0)           \
	X(STRING, "STRING", 0)         \
	X(BOOL, "BOOL", 0)             \
	X(NULL, "NULL", 0)             \
	X(TERMINATOR, "TERMINATOR", 0) \
	X(OR, "||", 1)                 \
	X(AND, "&&", 2)                \
	X(NOT, "!", 0)                 \
	X(ASSIGN, "=", 0)              \
	X(EQ, "==", 3)                 \
	X(NEQ, "!=", 3)                \
	X(LT, "<", 3)                  \
	X(LTE, "<=", 3)                \
	X(GT, ">", 3)                  \
	X(GTE, ">=", 3)                \
	X(ADD, "+", 4)                 \
	X(SUB, "-", 4)                 \
	X(MUL, "*", 5)                 \
	X(DIV, "/", 5)                 \
	X(MOD, "%", 5)                 \
	X(POW, "^", 6)                 \
	X(LCURLY, "{", 0)              \
	X(RCURLY, "}", 0)              \
	X(LPAREN, "(", 0)              \
	X(RPAREN, ")", 0)              \
	X(LBRACK, "[", 0)              \
	X(RBRACK, "]", 0)              \
	X(COMMA, ",", 0)               \
	X(DOT, ".", 0)

enum river_token_kind {
#define X(kind, name, precedence) RIVER_TOKEN_##kind,
	RIVER_TOKENS(X)
#undef X
		RIVER_TOKEN_MAX,
};

struct river_token {
	enum river_token_kind kind;
	const char *text; /* borrowed from the source; of literals with delimiters */
	size_t len;
	struct river_pos start;
	struct river_pos end; /* of the last byte */
};

const char *river_token_name(enum river_token_kind kind);
unsigned int river_token_precedence(enum river_token_kind kind);

#endif
