/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of an expression. Nodes are immutable once the parser has made them. */
#ifndef XAGENT_RIVER_CONFIG_AST_H
#define XAGENT_RIVER_CONFIG_AST_H

#include "river-config/token.h"

enum river_expr_kind {
	RIVER_EXPR_LITERAL,
	RIVER_EXPR_IDENT,
	RIVER_EXPR_ARRAY,
	RIVER_EXPR_OBJECT,
	RIVER_EXPR_PAREN,
	RIVER_EXPR_UNARY,
	RIVER_EXPR_BINARY,
	RIVER_EXPR_ACCESS,
	RIVER_EXPR_INDEX,
	RIVER_EXPR_CALL,
};

struct river_object_field {
	struct river_ident key; /* without its quotes */
	char quote;		/* '"' or '`' as in the source, 0 for a bare name */
	const struct river_expr *value;
};

struct river_expr {
	enum river_expr_kind kind;
	enum river_token_kind op; /* LITERAL: the token; UNARY, BINARY: the operator */
	unsigned int height;	  /* levels below, this one included */
	struct river_range range;
	union {
		struct {
			const char *text; /* as in the source */
			size_t len;
		} literal;
		const char *ident;
		struct {
			const struct river_expr **items;
			size_t n_items;
		} array;
		struct {
			const struct river_object_field *fields;
			size_t n_fields;
		} object;
		const struct river_expr *inner; /* PAREN, UNARY */
		struct {
			const struct river_expr *left;
			const struct river_expr *right;
			struct river_pos op_pos;
		} binary;
		struct {
			const struct river_expr *of;
			struct river_ident name;
		} access;
		struct {
			const struct river_expr *of;
			const struct river_expr *index;
			struct river_pos open_pos; /* of the bracket */
		} index;
		struct {
			const struct river_expr *function;
			const struct river_expr **args;
			size_t n_args;
			struct river_pos open_pos; /* of the bracket */
		} call;
	};
};

#endif
