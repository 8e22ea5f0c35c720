/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions to values.
 *
 * Every value that an expression yields is a fresh one that has the expression as its origin, so
 * that an error further out can name it. What a name, an access or an index yields belongs to
 * someone else and is aliased first.
 */
#include "river-config/eval.h"

#include <errno.h>
#include <string.h>

#include "river-config/literal.h"
#include "river-config/operator.h"
#include "river-config/stdlib.h"

struct eval {
	const struct river_scope *scope;
	struct river_error *err;
};

static int eval_expr(struct eval *ev, const struct river_expr *e, struct river_value **ret_value);

static int alias(struct eval *ev, const struct river_value *v, struct river_value **ret_value)
{
	*ret_value = river_value_alias(ev->err->arena, v);
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static int eval_ident(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	const struct river_scope *scope = ev->scope;
	const struct river_value *v = NULL;
	int r;

	if (scope->lookup)
		v = scope->lookup(scope->ctx, ev->err->arena, e->ident);
	if (v)
		return alias(ev, v, ret_value);
	r = river_stdlib_value(e->ident, scope, ev->err, ret_value);
	if (r == -ENOENT)
		return river_error_set_at(ev->err, &e->range, "identifier \"%s\" does not exist",
					  e->ident);
	return r;
}

static int eval_list(struct eval *ev, const struct river_expr *const *exprs, size_t n,
		     struct river_value ***ret_items)
{
	struct river_value **items =
		river_arena_alloc(ev->err->arena, n * sizeof(struct river_value *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int r = eval_expr(ev, exprs[i], &items[i]);

		if (r != RIVER_OK)
			return r;
	}
	*ret_items = items;
	return RIVER_OK;
}

static int eval_array(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	struct river_value **items;
	int r = eval_list(ev, e->array.items, e->array.n_items, &items);

	if (r != RIVER_OK)
		return r;
	*ret_value = river_value_wrap_array(ev->err->arena, items, e->array.n_items);
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static int eval_object(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	size_t n = e->object.n_fields;
	struct river_object_member *members =
		river_arena_alloc(ev->err->arena, n * sizeof(*members));

	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct river_object_field *field = &e->object.fields[i];
		int r = eval_expr(ev, field->value, &members[i].value);

		if (r != RIVER_OK)
			return r;
		members[i].key = field->key.text;
		members[i].key_len = strlen(field->key.text);
	}
	*ret_value = river_value_wrap_object(ev->err->arena, members, n);
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static int eval_unary(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	struct river_value *operand;
	int r = eval_expr(ev, e->inner, &operand);

	return r != RIVER_OK ? r : river_operator_unary(e->op, operand, ev->err, ret_value);
}

static int eval_binary(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	struct river_value *left, *right;
	int r = eval_expr(ev, e->binary.left, &left);

	if (r == RIVER_OK)
		r = eval_expr(ev, e->binary.right, &right);
	return r != RIVER_OK ? r : river_operator_binary(e->op, left, right, ev->err, ret_value);
}

#define NOT_AN_OBJECT "expected object or array or a capsule convertible to an object, got capsule"

static int eval_access(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	const char *name = e->access.name.text;
	const struct river_value *member;
	struct river_value *of;
	int r = eval_expr(ev, e->access.of, &of);

	if (r != RIVER_OK)
		return r;
	if (of->type == RIVER_TYPE_CAPSULE)
		return river_error_set(ev->err, of, NOT_AN_OBJECT);
	if (!river_value_open(of))
		return -ENOMEM;
	if (of->type != RIVER_TYPE_OBJECT)
		return river_error_set(ev->err, of,
				       "cannot access field \"%s\" on value of type %s", name,
				       river_type_name(of->type));
	member = river_value_find(of, name);
	if (!member)
		return river_error_set_at(ev->err, &e->access.name.range,
					  "field \"%s\" does not exist", name);
	return alias(ev, member, ret_value);
}

static int index_array(struct eval *ev, const struct river_value *of,
		       const struct river_value *index, struct river_value **ret_value)
{
	int64_t i;

	if (index->type != RIVER_TYPE_NUMBER)
		return river_error_type(ev->err, index, RIVER_TYPE_NUMBER);
	i = river_value_get_int(index);
	if (i < 0 || (uint64_t)i >= of->array.n_items)
		return river_error_set(ev->err, index,
				       "index %lld is out of range of array with length %zu",
				       (long long)i, of->array.n_items);
	return alias(ev, of->array.items[i], ret_value);
}

/* The reference asks for a number here, too. */
static int index_object(struct eval *ev, const struct river_value *of,
			const struct river_value *index, struct river_value **ret_value)
{
	const struct river_value *member;

	if (index->type != RIVER_TYPE_STRING)
		return river_error_type(ev->err, index, RIVER_TYPE_NUMBER);
	if (!river_value_open(of))
		return -ENOMEM;
	member = river_value_find_bytes(of, index->string.text, index->string.len);
	if (member)
		return alias(ev, member, ret_value);
	*ret_value = river_value_new(ev->err->arena, RIVER_TYPE_NULL);
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static int eval_index(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	struct river_value *of, *index;
	int r = eval_expr(ev, e->index.of, &of);

	if (r == RIVER_OK)
		r = eval_expr(ev, e->index.index, &index);
	if (r != RIVER_OK)
		return r;
	switch (of->type) {
	case RIVER_TYPE_ARRAY:
		return index_array(ev, of, index, ret_value);
	case RIVER_TYPE_OBJECT:
		return index_object(ev, of, index, ret_value);
	case RIVER_TYPE_CAPSULE:
		return river_error_set(ev->err, of, NOT_AN_OBJECT);
	default:
		return river_error_set(ev->err, of, "expected object or array, got %s",
				       river_type_name(of->type));
	}
}

static int eval_call(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	struct river_call call = { .scope = ev->scope, .n_args = e->call.n_args, .err = ev->err };
	struct river_value *function;
	int r = eval_expr(ev, e->call.function, &function);

	if (r != RIVER_OK)
		return r;
	if (function->type != RIVER_TYPE_FUNCTION)
		return river_error_type(ev->err, function, RIVER_TYPE_FUNCTION);
	call.function = function;
	r = eval_list(ev, e->call.args, e->call.n_args, &call.args);
	if (r == RIVER_OK)
		r = river_function_call(&call);
	return r == RIVER_OK ? alias(ev, call.result, ret_value) : r;
}

static int eval_kind(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	switch (e->kind) {
	case RIVER_EXPR_LITERAL:
		return river_literal_value(e, ev->err, ret_value);
	case RIVER_EXPR_IDENT:
		return eval_ident(ev, e, ret_value);
	case RIVER_EXPR_ARRAY:
		return eval_array(ev, e, ret_value);
	case RIVER_EXPR_OBJECT:
		return eval_object(ev, e, ret_value);
	case RIVER_EXPR_PAREN:
		return eval_expr(ev, e->inner, ret_value);
	case RIVER_EXPR_UNARY:
		return eval_unary(ev, e, ret_value);
	case RIVER_EXPR_BINARY:
		return eval_binary(ev, e, ret_value);
	case RIVER_EXPR_ACCESS:
		return eval_access(ev, e, ret_value);
	case RIVER_EXPR_INDEX:
		return eval_index(ev, e, ret_value);
	case RIVER_EXPR_CALL:
		return eval_call(ev, e, ret_value);
	}
	return -EINVAL;
}

static int eval_expr(struct eval *ev, const struct river_expr *e, struct river_value **ret_value)
{
	int r = eval_kind(ev, e, ret_value);

	if (r == RIVER_OK)
		(*ret_value)->origin = e;
	return r;
}

int river_eval_expr(const struct river_expr *e, const struct river_scope *scope,
		    struct river_error *err, struct river_value **ret_value)
{
	struct eval ev = { .scope = scope, .err = err };

	return eval_expr(&ev, e, ret_value);
}

int river_eval(const struct river_expr *e, const struct river_scope *scope,
	       struct river_arena *arena, struct river_diags *diags,
	       const struct river_value **ret_value)
{
	struct river_error err = { .arena = arena };
	struct river_value *value;
	int r = river_eval_expr(e, scope, &err, &value);

	if (r == RIVER_INVALID)
		return river_error_report(&err, diags);
	if (r != RIVER_OK)
		return r;
	river_value_forget(value);
	*ret_value = value;
	return RIVER_OK;
}
