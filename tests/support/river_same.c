/* SPDX-License-Identifier: Apache-2.0 */
/* Trees and comments, compared. */
#include "tests/support/river_same.h"

#include <string.h>

#include "river-config/ast.h"

static bool same_expr(const struct river_expr *a, const struct river_expr *b);

static bool same_list(const struct river_expr *const *a, size_t n_a,
		      const struct river_expr *const *b, size_t n_b)
{
	for (size_t i = 0; n_a == n_b && i < n_a; i++)
		if (!same_expr(a[i], b[i]))
			return false;
	return n_a == n_b;
}

/* How a key is quoted does not matter, only that its text stays. */
static bool same_object(const struct river_expr *a, const struct river_expr *b)
{
	size_t n = a->object.n_fields;

	for (size_t i = 0; n == b->object.n_fields && i < n; i++) {
		const struct river_object_field *x = &a->object.fields[i];
		const struct river_object_field *y = &b->object.fields[i];

		if (strcmp(x->key.text, y->key.text) != 0 || !same_expr(x->value, y->value))
			return false;
	}
	return n == b->object.n_fields;
}

static bool same_literal(const struct river_expr *a, const struct river_expr *b)
{
	return a->literal.len == b->literal.len &&
	       memcmp(a->literal.text, b->literal.text, a->literal.len) == 0;
}

static bool same_expr(const struct river_expr *a, const struct river_expr *b)
{
	if (a->kind != b->kind || a->op != b->op)
		return false;
	switch (a->kind) {
	case RIVER_EXPR_LITERAL:
		return same_literal(a, b);
	case RIVER_EXPR_IDENT:
		return strcmp(a->ident, b->ident) == 0;
	case RIVER_EXPR_ARRAY:
		return same_list(a->array.items, a->array.n_items, b->array.items,
				 b->array.n_items);
	case RIVER_EXPR_OBJECT:
		return same_object(a, b);
	case RIVER_EXPR_PAREN:
	case RIVER_EXPR_UNARY:
		return same_expr(a->inner, b->inner);
	case RIVER_EXPR_BINARY:
		return same_expr(a->binary.left, b->binary.left) &&
		       same_expr(a->binary.right, b->binary.right);
	case RIVER_EXPR_ACCESS:
		return strcmp(a->access.name.text, b->access.name.text) == 0 &&
		       same_expr(a->access.of, b->access.of);
	case RIVER_EXPR_INDEX:
		return same_expr(a->index.of, b->index.of) &&
		       same_expr(a->index.index, b->index.index);
	case RIVER_EXPR_CALL:
		return same_expr(a->call.function, b->call.function) &&
		       same_list(a->call.args, a->call.n_args, b->call.args, b->call.n_args);
	}
	return false;
}

static const char *label_of(const struct river_stmt *stmt)
{
	return stmt->label ? stmt->label : "";
}

static bool same_stmt(const struct river_stmt *a, const struct river_stmt *b)
{
	if (a->kind != b->kind || strcmp(a->name, b->name) != 0)
		return false;
	if (a->kind == RIVER_STMT_ATTRIBUTE)
		return same_expr(a->value, b->value);
	return strcmp(label_of(a), label_of(b)) == 0 && river_same_body(&a->body, &b->body);
}

bool river_same_body(const struct river_body *a, const struct river_body *b)
{
	for (size_t i = 0; a->n_stmts == b->n_stmts && i < a->n_stmts; i++)
		if (!same_stmt(a->stmts[i], b->stmts[i]))
			return false;
	return a->n_stmts == b->n_stmts;
}

bool river_same_comments(const struct river_file *a, const struct river_file *b)
{
	for (size_t i = 0; a->n_comments == b->n_comments && i < a->n_comments; i++)
		if (strcmp(a->comments[i].text, b->comments[i].text) != 0)
			return false;
	return a->n_comments == b->n_comments;
}
