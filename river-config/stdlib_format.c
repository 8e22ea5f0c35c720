/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string.format: the directives of a format text.
 *
 *	directive = "%" ( "%" | { flag } [ number ] [ "." [ number ] ] [ "[" number "]" ] verb )
 *	flag      = "#" | "0" | "+" | "-" | " "
 */
#include "river-config/stdlib_format.h"

#include <string.h>

#include "river-config/convert.h"
#include "river-config/print.h"
#include "river-config/stdlib.h"
#include "river-config/unicode.h"

#define VERBS "vtdbcoUxXeEfFgGsq"

struct formatter {
	struct river_call *call;
	struct river_text out;
	const char *s;
	size_t n;
	size_t i;     /* next byte */
	size_t i_arg; /* next argument; the text itself is the first */
	bool indexed; /* arguments were named, so that some may be left over */
};

static bool accept(struct formatter *f, char c)
{
	bool there = f->i < f->n && f->s[f->i] == c;

	f->i += there;
	return there;
}

/* Digits, if there are any; beyond the largest it no longer matters how far. */
static bool accept_number(struct formatter *f, size_t *ret)
{
	size_t start = f->i, value = 0;

	for (; f->i < f->n && f->s[f->i] >= '0' && f->s[f->i] <= '9'; f->i++)
		value = value > RIVER_FORMAT_NUMBER_MAX ? value
							: value * 10 + (size_t)(f->s[f->i] - '0');
	if (f->i > start)
		*ret = value;
	return f->i > start;
}

static void take_flags(struct formatter *f, struct river_format *spec)
{
	bool any = true;

	while (any) {
		bool *const flags[] = { &spec->sharp, &spec->zero, &spec->plus, &spec->minus,
					&spec->space };

		any = false;
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]) && !any; i++)
			any = accept(f, "#0+- "[i]) && (*flags[i] = true);
	}
}

/* Up to the verb, exclusive. */
static int take_spec(struct formatter *f, struct river_format *spec)
{
	take_flags(f, spec);
	(void)accept_number(f, &spec->width);
	spec->has_precision = accept(f, '.');
	if (spec->has_precision)
		(void)accept_number(f, &spec->precision);
	if (spec->width > RIVER_FORMAT_NUMBER_MAX || spec->precision > RIVER_FORMAT_NUMBER_MAX)
		return river_call_error(f->call, "a width or precision is at most %d",
					RIVER_FORMAT_NUMBER_MAX);
	if (!accept(f, '['))
		return RIVER_OK;
	f->indexed = true;
	f->i_arg = 0;
	if (!accept_number(f, &f->i_arg) || !accept(f, ']') || f->i_arg == 0)
		return river_call_error(f->call, "expected a number from 1 on in [ ]");
	return RIVER_OK;
}

static int write_verb(struct formatter *f, size_t begin, struct river_format *spec)
{
	struct river_text value = RIVER_TEXT_INIT(f->out.arena);
	const struct river_value *misfit;
	int len = (int)(f->i - begin);

	if (f->i_arg >= f->call->n_args)
		return river_call_error(f->call, "there is no argument for %.*s", len,
					f->s + begin);
	spec->verb = f->s[f->i - 1];
	spec->out = &f->out;
	if (river_format_value(spec, f->call->args[f->i_arg++], &misfit))
		return RIVER_OK;
	if (misfit->type == RIVER_TYPE_NUMBER)
		river_print_value(&value, misfit, RIVER_LAYOUT_LINE);
	return river_call_error(f->call, "%.*s does not fit %s%s%s", len, f->s + begin,
				river_type_name(misfit->type), value.data ? " " : "",
				value.data ? value.data : "");
}

/* Behind the percent sign. */
static int directive(struct formatter *f)
{
	struct river_format spec = { 0 };
	size_t begin = f->i - 1;
	uint32_t verb;
	int r;

	if (accept(f, '%')) {
		river_text_char(&f->out, '%');
		return RIVER_OK;
	}
	r = take_spec(f, &spec);
	if (r != RIVER_OK)
		return r;
	if (f->i >= f->n)
		return river_call_error(f->call, "expected a verb behind %.*s", (int)(f->n - begin),
					f->s + begin);
	f->i += river_utf8_decode(f->s + f->i, f->n - f->i, &verb);
	if (verb >= 0x80 || !verb || !strchr(VERBS, (int)verb))
		return river_call_error(f->call, "%.*s is not one of the verbs " VERBS,
					(int)(f->i - begin), f->s + begin);
	return write_verb(f, begin, &spec);
}

static int format(struct formatter *f)
{
	while (f->i < f->n && !f->out.failed) {
		const char *percent = memchr(f->s + f->i, '%', f->n - f->i);
		size_t end = percent ? (size_t)(percent - f->s) : f->n;
		int r;

		river_text_append(&f->out, f->s + f->i, end - f->i);
		f->i = end + 1;
		r = percent ? directive(f) : RIVER_OK;
		if (r != RIVER_OK)
			return r;
	}
	if (!f->indexed && f->i_arg < f->call->n_args && !f->out.failed)
		return river_call_error(f->call, "the text takes %zu arguments, got %zu",
					f->i_arg - 1, f->call->n_args - 1);
	return RIVER_OK;
}

static int call_format(struct river_call *c)
{
	struct formatter f = { .call = c, .out = RIVER_TEXT_INIT(c->err->arena), .i_arg = 1 };
	int r = river_to_text(c->args[0], c->err, &f.s, &f.n);

	for (size_t i = 1; r == RIVER_OK && i < c->n_args; i++)
		r = river_check_open(c->args[i], c->err);
	if (r == RIVER_OK)
		r = format(&f);
	if (r == RIVER_OK)
		c->result =
			river_value_wrap_text(c->err->arena, river_text_take(&f.out), f.out.len);
	return r;
}

static const struct river_function rows[] = {
	{ "string.format", call_format, .n_args = 1, .is_variadic = true },
	{ "format", call_format, .n_args = 1, .is_variadic = true, .is_deprecated = true },
};

const struct river_family river_stdlib_format = RIVER_FAMILY(rows);
