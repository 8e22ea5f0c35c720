/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two halves of the parser share: statements and the machine are in parser.c, expressions
 * in expression.c.
 *
 * `failed` and `stopped` turn every further token into EOF, so that no loop needs to look at them.
 */
#ifndef XAGENT_RIVER_CONFIG_PARSER_H
#define XAGENT_RIVER_CONFIG_PARSER_H

#include "river-config/ast.h"
#include "river-config/scanner.h"
#include "river-config/vec.h"

struct river_parser {
	struct river_scanner scanner;
	struct river_arena *arena;
	struct river_diags *diags;
	const char *file;
	struct river_token token;
	struct river_vec comments; /* struct river_comment */
	uint32_t error_line;	   /* of the last filtered error */
	unsigned int depth;
	bool failed;  /* memory */
	bool stopped; /* nesting: only EOF follows */
};

/* Memory of the tree; NULL sets `failed`. */
void *river_parser_alloc(struct river_parser *p, size_t n);
char *river_parser_strndup(struct river_parser *p, const char *s, size_t n);
void river_parser_push(struct river_parser *p, struct river_vec *v, const void *item);

static inline bool river_parser_at(const struct river_parser *p, enum river_token_kind kind)
{
	return p->token.kind == kind;
}

void river_parser_next(struct river_parser *p);

/*
 * The current token, which is complained about if it is of another kind; it is consumed in any
 * case.
 */
struct river_token river_parser_expect(struct river_parser *p, enum river_token_kind kind);

/* At the current token, unless the line has had one already. */
void river_parser_error(struct river_parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Errors with a range of their own are never echoes and are not filtered. */
void river_parser_error_at(struct river_parser *p, const struct river_range *range, const char *fmt,
			   ...) __attribute__((format(printf, 3, 4)));

void river_parser_too_deep(struct river_parser *p);

/* One level down; left again with p->depth--. False at the ceiling. */
bool river_parser_enter(struct river_parser *p);

/* To a token of this kind, or the end. */
void river_parser_skip_to(struct river_parser *p, enum river_token_kind kind);

/* To the terminator of this statement. */
void river_parser_skip_stmt(struct river_parser *p);
struct river_range river_parser_range(const struct river_parser *p,
				      const struct river_token *token);
struct river_ident river_parser_ident(struct river_parser *p, const struct river_token *token);

/* Never NULL unless `failed` or `stopped`. */
const struct river_expr *river_parser_expr(struct river_parser *p);
void river_parser_body(struct river_parser *p, enum river_token_kind until,
		       struct river_body *ret_body);

#endif
