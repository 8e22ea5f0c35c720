/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation errors and the text they become. */
#include "river-config/error.h"

#include <errno.h>

#include "river-config/print.h"
#include "river-config/text.h"

static int __attribute__((format(printf, 2, 0)))
error_vset(struct river_error *err, const char *fmt, va_list ap)
{
	struct river_text t = RIVER_TEXT_INIT(err->arena);

	river_text_vprintf(&t, fmt, ap);
	err->problem = river_text_take(&t);
	err->path = "";
	return err->problem ? RIVER_INVALID : -ENOMEM;
}

int river_error_set(struct river_error *err, const struct river_value *v, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = error_vset(err, fmt, ap);
	va_end(ap);
	err->origin = v->origin;
	err->range = NULL;
	return r;
}

int river_error_set_at(struct river_error *err, const struct river_range *range, const char *fmt,
		       ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = error_vset(err, fmt, ap);
	va_end(ap);
	err->origin = NULL;
	err->range = range;
	return r;
}

int river_error_type(struct river_error *err, const struct river_value *v, enum river_type expected)
{
	return river_error_set(err, v, "should be %s, got %s", river_type_name(expected),
			       river_type_name(v->type));
}

static int error_step(struct river_error *err, const struct river_value *container,
		      struct river_text *step)
{
	river_text_str(step, err->path);
	err->path = river_text_take(step);
	err->origin = container->origin;
	return err->path ? RIVER_INVALID : -ENOMEM;
}

int river_error_in_item(struct river_error *err, const struct river_value *container, size_t i,
			int r)
{
	struct river_text step = RIVER_TEXT_INIT(err->arena);

	if (r != RIVER_INVALID || err->origin || err->range)
		return r;
	river_text_printf(&step, "[%zu]", i);
	return error_step(err, container, &step);
}

int river_error_in_member(struct river_error *err, const struct river_value *container,
			  const char *key, int r)
{
	struct river_text step = RIVER_TEXT_INIT(err->arena);

	if (r != RIVER_INVALID || err->origin || err->range)
		return r;
	river_text_printf(&step, ".%s", key);
	return error_step(err, container, &step);
}

int river_error_report(const struct river_error *err, struct river_diags *diags)
{
	struct river_text t = RIVER_TEXT_INIT(err->arena);
	const char *text;
	int r;

	if (err->range) {
		r = river_diag_add(diags, RIVER_SEVERITY_ERROR, err->range, "%s", err->problem);
		return r < 0 ? r : RIVER_INVALID;
	}
	if (err->origin)
		river_print_expr(&t, err->origin);
	river_text_str(&t, err->path);
	river_text_char(&t, ' ');
	river_text_str(&t, err->problem);
	text = river_text_take(&t);
	if (!text)
		return -ENOMEM;
	r = river_diag_add(diags, RIVER_SEVERITY_ERROR, err->origin ? &err->origin->range : NULL,
			   "%s", text);
	return r < 0 ? r : RIVER_INVALID;
}
