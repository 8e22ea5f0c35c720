/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies without a schema: whatever attributes they have, as one object.
 *
 * Equal names are found by sorting, so that a body of many attributes costs no square of them.
 */
#include "river-config/river.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/eval.h"

struct entry {
	const struct river_stmt *stmt;
	bool repeated;
};

struct collector {
	const struct river_scope *scope;
	struct river_arena *arena;
	struct river_diags *diags;
	struct river_object_member *members;
	size_t n_members;
	bool invalid;
};

static int by_name_then_place(const void *a, const void *b)
{
	const struct river_stmt *x = (*(struct entry *const *)a)->stmt;
	const struct river_stmt *y = (*(struct entry *const *)b)->stmt;
	int r = strcmp(x->name, y->name);

	return r ? r
		 : (x->range.start.offset > y->range.start.offset) -
			       (x->range.start.offset < y->range.start.offset);
}

static int mark_repeated(struct river_arena *arena, struct entry *entries, size_t n)
{
	struct entry **sorted = river_arena_alloc(arena, n * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &entries[i];
	qsort(sorted, n, sizeof(struct entry *), by_name_then_place);
	for (size_t i = 1; i < n; i++)
		sorted[i]->repeated = strcmp(sorted[i - 1]->stmt->name, sorted[i]->stmt->name) == 0;
	return 0;
}

static int __attribute__((format(printf, 3, 4)))
complain(struct collector *c, const struct river_stmt *stmt, const char *fmt, ...)
{
	va_list ap;
	int r;

	c->invalid = true;
	va_start(ap, fmt);
	r = river_diag_vadd(c->diags, RIVER_SEVERITY_ERROR, &stmt->range, fmt, ap);
	va_end(ap);
	return r;
}

static int collect(struct collector *c, const struct entry *entry)
{
	const struct river_stmt *stmt = entry->stmt;
	const struct river_value *value;
	int r;

	if (stmt->kind == RIVER_STMT_BLOCK)
		return complain(c, stmt, "nested blocks not supported here");
	if (entry->repeated)
		return complain(c, stmt, "attribute \"%s\" may only be provided once", stmt->name);
	r = river_eval(stmt->value, c->scope, c->arena, c->diags, &value);
	if (r == RIVER_OK)
		c->members[c->n_members++] = (struct river_object_member){
			.key = stmt->name,
			.key_len = strlen(stmt->name),
			.value = (struct river_value *)value,
		};
	c->invalid = c->invalid || r == RIVER_INVALID;
	return r < 0 ? r : 0;
}

int river_eval_attributes(const struct river_body *body, const struct river_scope *scope,
			  struct river_arena *arena, struct river_diags *diags,
			  const struct river_value **ret_object)
{
	struct collector c = { .scope = scope, .arena = arena, .diags = diags };
	struct entry *entries = river_arena_alloc(arena, body->n_stmts * sizeof(*entries));
	struct river_value *object;
	int r;

	c.members = river_arena_alloc(arena, body->n_stmts * sizeof(*c.members));
	if (!entries || !c.members)
		return -ENOMEM;
	for (size_t i = 0; i < body->n_stmts; i++)
		entries[i].stmt = body->stmts[i];
	r = mark_repeated(arena, entries, body->n_stmts);
	for (size_t i = 0; i < body->n_stmts && r >= 0; i++)
		r = collect(&c, &entries[i]);
	if (r < 0 || c.invalid)
		return r < 0 ? r : RIVER_INVALID;
	object = river_value_wrap_object(arena, c.members, c.n_members);
	if (!object)
		return -ENOMEM;
	*ret_object = object;
	return RIVER_OK;
}
