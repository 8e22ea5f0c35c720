/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the standard library: who may call, with how many arguments, and what is said when it goes wrong. */
#include "river-config/stdlib.h"

#include <errno.h>

#include "river-config/text.h"

int river_call_error(struct river_call *c, const char *fmt, ...)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	const char *problem;
	va_list ap;

	va_start(ap, fmt);
	river_text_vprintf(&t, fmt, ap);
	va_end(ap);
	problem = river_text_take(&t);
	return problem ? river_error_set(c->err, c->function, "%s", problem) : -ENOMEM;
}

static int check_open(const struct river_value *v, struct river_error *err, unsigned int depth)
{
	/* What the host made of texts holds no secret. */
	size_t n = river_value_is_foreign(v) ? 0 : river_value_len(v);
	int r = RIVER_OK;

	if (river_value_is_secret(v))
		return river_error_type(err, v, RIVER_TYPE_STRING);
	if (depth > RIVER_DEPTH_MAX)
		return river_error_set(err, v, "is nested deeper than %d levels", RIVER_DEPTH_MAX);
	for (size_t i = 0; i < n && r == RIVER_OK && v->type == RIVER_TYPE_ARRAY; i++)
		r = river_error_in_item(err, v, i, check_open(v->array.items[i], err, depth + 1));
	for (size_t i = 0; i < n && r == RIVER_OK && v->type == RIVER_TYPE_OBJECT; i++)
		r = river_error_in_member(err, v, v->object.members[i].key,
					  check_open(v->object.members[i].value, err, depth + 1));
	return r;
}

int river_check_open(const struct river_value *v, struct river_error *err)
{
	return check_open(v, err, 0);
}

/* The names alone are meant, without the bracket: from the first letter to where the last name begins. */
static const struct river_range *name_range(const struct river_call *c)
{
	const struct river_expr *e = c->function->origin;
	struct river_range *range;

	if (!e || e->kind != RIVER_EXPR_ACCESS)
		return e ? &e->range : NULL;
	range = river_arena_alloc(c->err->arena, sizeof(*range));
	if (!range)
		return &e->range;
	*range = e->range;
	range->end = e->access.name.range.start;
	return range;
}

int river_call_error_bare(struct river_call *c, const char *fmt, ...)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	const struct river_range *range = name_range(c);
	const char *problem;
	va_list ap;

	va_start(ap, fmt);
	river_text_vprintf(&t, fmt, ap);
	va_end(ap);
	problem = river_text_take(&t);
	if (!problem)
		return -ENOMEM;
	return range ? river_error_set_at(c->err, range, "%s", problem)
		     : river_error_set(c->err, c->function, "%s", problem);
}

static int check_stability(struct river_call *c)
{
	const struct river_function *row = c->function->function;

	if (!row->is_experimental || c->scope->stability >= RIVER_STABILITY_EXPERIMENTAL)
		return RIVER_OK;
	return river_call_error_bare(
		c,
		"%s is at stability level \"experimental\", which is below the "
		"minimum allowed stability level \"%s\". Use --stability.level "
		"command-line flag to enable \"experimental\" features",
		row->name, river_stability_name(c->scope->stability));
}

const char *river_stability_name(enum river_stability stability)
{
	static const char *const names[RIVER_STABILITY_MAX] = {
		[RIVER_STABILITY_GENERALLY_AVAILABLE] = "generally-available",
		[RIVER_STABILITY_PUBLIC_PREVIEW] = "public-preview",
		[RIVER_STABILITY_EXPERIMENTAL] = "experimental",
	};

	return stability < RIVER_STABILITY_MAX ? names[stability] : "";
}

int river_function_call(struct river_call *c)
{
	const struct river_function *row = c->function->function;
	int r = check_stability(c);

	if (r != RIVER_OK)
		return r;
	if (c->n_args < row->n_args || (c->n_args > row->n_args && !row->is_variadic))
		return river_error_set(c->err, c->function, "expected %s%u args, got %zu",
				       row->is_variadic ? "at least " : "", row->n_args, c->n_args);
	r = row->call(c);
	return r == RIVER_OK && !c->result ? -ENOMEM : r;
}
