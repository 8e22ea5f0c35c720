/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string.format: the directives of a format text.
 *
 *	directive = "%" { flag } [ index ] [ width ] [ "." [ index ] precision ] [ index ] verb
 *	flag      = "#" | "0" | "+" | "-" | " "
 *	width, precision = number | "*"
 *	index     = "[" number "]"
 *
 * Nothing is an error: what does not fit is said in the text itself, as Go's fmt does.
 */
#include "river-config/stdlib_format.h"

#include <errno.h>
#include <string.h>

#include "river-config/convert.h"
#include "river-config/stdlib.h"
#include "river-config/unicode.h"

/* Largest width and precision, as in Go. */
#define NUMBER_MAX 1000000

struct directive {
	const char *format;
	size_t len;
	size_t i;	  /* next byte of format */
	size_t i_arg;	  /* next argument */
	bool index_given; /* right before */
	bool index_good;
	bool reordered; /* an index was given somewhere */
	struct river_value *const *args;
	size_t n_args;
	struct river_format f;
};

static bool at(const struct directive *d, char c)
{
	return d->i < d->len && d->format[d->i] == c;
}

static bool take_flag(struct directive *d)
{
	switch (d->i < d->len ? d->format[d->i] : '\0') {
	case '#':
		d->f.sharp = true;
		break;
	case '0':
		d->f.zero = true;
		break;
	case '+':
		d->f.plus = true;
		break;
	case '-':
		d->f.minus = true;
		break;
	case ' ':
		d->f.space = true;
		break;
	default:
		return false;
	}
	d->i++;
	return true;
}

/* Digits up to `end`; a number that is too large swallows the rest. */
static bool take_number(struct directive *d, size_t end, size_t *ret)
{
	size_t value = 0, start = d->i;

	*ret = 0;
	for (; d->i < end && d->format[d->i] >= '0' && d->format[d->i] <= '9'; d->i++) {
		if (value > NUMBER_MAX) {
			d->i = end;
			return false;
		}
		value = value * 10 + (size_t)(d->format[d->i] - '0');
	}
	*ret = value;
	return d->i > start;
}

static bool parse_index(struct directive *d, size_t end)
{
	size_t number;
	bool good;

	d->i++;
	good = take_number(d, end, &number) && d->i == end;
	d->i = end + 1;
	/* [0] is a number, and one that is out of range. */
	if (!good)
		return false;
	if (number == 0 || number > d->n_args)
		d->index_good = false;
	else
		d->i_arg = number - 1;
	return true;
}

static void take_index(struct directive *d)
{
	const char *end;

	d->index_given = false;
	if (!at(d, '['))
		return;
	d->reordered = true;
	end = d->len - d->i < 3 ? NULL : memchr(d->format + d->i, ']', d->len - d->i);
	if (end)
		d->index_given = parse_index(d, (size_t)(end - d->format));
	else
		d->i++;
	if (!d->index_given)
		d->index_good = false;
}

/* A "*": the number is the next argument. */
static bool take_star(struct directive *d, int64_t *ret)
{
	const struct river_value *v;

	d->i++;
	d->index_given = false;
	*ret = 0;
	if (d->i_arg >= d->n_args)
		return false;
	v = d->args[d->i_arg++];
	if (v->type != RIVER_TYPE_NUMBER || v->number_kind == RIVER_NUMBER_FLOAT)
		return false;
	*ret = river_value_get_int(v);
	if (*ret >= -NUMBER_MAX && *ret <= NUMBER_MAX)
		return true;
	*ret = 0;
	return false;
}

static void take_width(struct directive *d)
{
	int64_t number;

	if (!at(d, '*')) {
		d->f.has_width = take_number(d, d->len, &d->f.width);
		if (d->index_given && d->f.has_width)
			d->index_good = false;
		return;
	}
	d->f.has_width = take_star(d, &number);
	if (!d->f.has_width)
		river_text_str(d->f.out, "%!(BADWIDTH)");
	if (number < 0) {
		d->f.minus = true;
		d->f.zero = false;
	}
	d->f.width = (size_t)(number < 0 ? -number : number);
}

static void take_precision(struct directive *d)
{
	int64_t number;

	/* At the very end it is a verb. */
	if (!at(d, '.') || d->i + 1 == d->len)
		return;
	d->i++;
	if (d->index_given)
		d->index_good = false;
	take_index(d);
	if (!at(d, '*')) {
		take_number(d, d->len, &d->f.precision);
		d->f.has_precision = true;
		return;
	}
	d->f.has_precision = take_star(d, &number) && number >= 0;
	if (!d->f.has_precision)
		river_text_str(d->f.out, "%!(BADPREC)");
	d->f.precision = d->f.has_precision ? (size_t)number : 0;
}

static void complain(struct directive *d, uint32_t verb, const char *what)
{
	river_text_str(d->f.out, "%!");
	river_text_rune(d->f.out, verb);
	river_text_str(d->f.out, what);
}

static void write_verb(struct directive *d, uint32_t verb)
{
	if (verb == '%') {
		river_text_char(d->f.out, '%');
	} else if (!d->index_good) {
		complain(d, verb, "(BADINDEX)");
	} else if (d->i_arg >= d->n_args) {
		complain(d, verb, "(MISSING)");
	} else {
		if (verb == 'v') {
			d->f.sharp_v = d->f.sharp;
			d->f.plus_v = d->f.plus;
			d->f.sharp = d->f.plus = false;
		}
		river_format_value(&d->f, d->args[d->i_arg++], verb);
	}
}

/* Behind the percent sign. */
static void directive(struct directive *d)
{
	uint32_t verb;

	d->f = (struct river_format){ .out = d->f.out };
	d->index_good = true;
	while (take_flag(d))
		;
	take_index(d);
	take_width(d);
	take_precision(d);
	if (!d->index_given)
		take_index(d);
	if (d->i >= d->len) {
		river_text_str(d->f.out, "%!(NOVERB)");
		return;
	}
	d->i += river_utf8_decode(d->format + d->i, d->len - d->i, &verb);
	write_verb(d, verb);
}

static void write_extra(struct directive *d)
{
	if (d->reordered || d->i_arg >= d->n_args)
		return;
	d->f = (struct river_format){ .out = d->f.out };
	river_text_str(d->f.out, "%!(EXTRA ");
	for (size_t i = d->i_arg; i < d->n_args; i++) {
		river_text_str(d->f.out, i > d->i_arg ? ", " : "");
		river_text_str(d->f.out, river_format_type(d->args[i]));
		if (d->args[i]->type == RIVER_TYPE_NULL)
			continue;
		river_text_char(d->f.out, '=');
		river_format_value(&d->f, d->args[i], 'v');
	}
	river_text_char(d->f.out, ')');
}

static void format(struct directive *d)
{
	while (d->i < d->len && !d->f.out->failed) {
		const char *percent = memchr(d->format + d->i, '%', d->len - d->i);
		size_t end = percent ? (size_t)(percent - d->format) : d->len;

		river_text_append(d->f.out, d->format + d->i, end - d->i);
		d->i = end + 1;
		if (percent)
			directive(d);
	}
	write_extra(d);
}

static int call_format(struct river_call *c)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct directive d = { .args = c->args + 1, .n_args = c->n_args - 1, .f = { .out = &t } };
	int r = river_to_text(c->args[0], c->err, &d.format, &d.len);

	for (size_t i = 1; r == RIVER_OK && i < c->n_args; i++)
		r = river_check_open(c->args[i], c->err);
	if (r != RIVER_OK)
		return r;
	format(&d);
	c->result = river_value_wrap_text(c->err->arena, river_text_take(&t), t.len);
	return RIVER_OK;
}

static const struct river_function rows[] = {
	{ "string.format", call_format, .n_args = 1, .is_variadic = true },
	{ "format", call_format, .n_args = 1, .is_variadic = true, .is_deprecated = true },
};

const struct river_family river_stdlib_format = RIVER_FAMILY(rows);
