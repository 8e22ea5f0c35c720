/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References: chains of names that begin with an identifier.
 *
 * A chain is a tower of ACCESS nodes over an IDENT. The walk goes down a tower, notes the names
 * from the last to the first, and either finds an identifier at the bottom or something else, which
 * is then walked on its own.
 */
#include "river-config/ast.h"
#include "river-config/river.h"

struct walk {
	river_reference_fn fn;
	void *ctx;
	struct river_ident parts[RIVER_DEPTH_MAX]; /* a tower is not higher than its tree */
};

static int walk_expr(struct walk *w, const struct river_expr *e);

static int walk_chain(struct walk *w, const struct river_expr *e)
{
	struct river_reference ref = { 0 };
	size_t at = RIVER_DEPTH_MAX;

	for (; e->kind == RIVER_EXPR_ACCESS; e = e->access.of)
		w->parts[--at] = e->access.name;
	if (e->kind != RIVER_EXPR_IDENT)
		return walk_expr(w, e);
	w->parts[--at] = (struct river_ident){ .text = e->ident, .range = e->range };
	ref.parts = &w->parts[at];
	ref.n_parts = RIVER_DEPTH_MAX - at;
	return w->fn(w->ctx, &ref);
}

static int walk_list(struct walk *w, const struct river_expr *const *items, size_t n_items)
{
	int r = 0;

	for (size_t i = 0; i < n_items && r == 0; i++)
		r = walk_expr(w, items[i]);
	return r;
}

static int walk_two(struct walk *w, const struct river_expr *a, const struct river_expr *b)
{
	int r = walk_expr(w, a);

	return r ? r : walk_expr(w, b);
}

static int walk_expr(struct walk *w, const struct river_expr *e)
{
	int r = 0;

	switch (e->kind) {
	case RIVER_EXPR_LITERAL:
		return 0;
	case RIVER_EXPR_IDENT:
	case RIVER_EXPR_ACCESS:
		return walk_chain(w, e);
	case RIVER_EXPR_ARRAY:
		return walk_list(w, e->array.items, e->array.n_items);
	case RIVER_EXPR_OBJECT:
		for (size_t i = 0; i < e->object.n_fields && r == 0; i++)
			r = walk_expr(w, e->object.fields[i].value);
		return r;
	case RIVER_EXPR_PAREN:
	case RIVER_EXPR_UNARY:
		return walk_expr(w, e->inner);
	case RIVER_EXPR_BINARY:
		return walk_two(w, e->binary.left, e->binary.right);
	case RIVER_EXPR_INDEX:
		return walk_two(w, e->index.of, e->index.index);
	case RIVER_EXPR_CALL:
		r = walk_expr(w, e->call.function);
		return r ? r : walk_list(w, e->call.args, e->call.n_args);
	}
	return r;
}

static int walk_body(struct walk *w, const struct river_body *body)
{
	int r = 0;

	for (size_t i = 0; i < body->n_stmts && r == 0; i++) {
		const struct river_stmt *stmt = body->stmts[i];

		r = stmt->kind == RIVER_STMT_ATTRIBUTE ? walk_expr(w, stmt->value)
						       : walk_body(w, &stmt->body);
	}
	return r;
}

int river_expr_references(const struct river_expr *e, river_reference_fn fn, void *ctx)
{
	struct walk w;

	w.fn = fn;
	w.ctx = ctx;
	return walk_expr(&w, e);
}

int river_body_references(const struct river_body *body, river_reference_fn fn, void *ctx)
{
	struct walk w;

	w.fn = fn;
	w.ctx = ctx;
	return walk_body(&w, body);
}
