/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions and values as text. */
#include "river-config/print.h"

#include <errno.h>
#include <string.h>

#include "river-config/format.h"
#include "river-config/unicode.h"

struct printer {
	struct river_text *t;
	unsigned int indent;
};

static void print_newline(struct printer *p)
{
	river_text_char(p->t, '\n');
	river_text_repeat(p->t, '\t', p->indent);
}

/* Width on a screen that gives every character one cell. */
static size_t text_width(const char *s)
{
	size_t width = 0;

	for (; *s; s++)
		width += ((unsigned char)*s & 0xc0) != 0x80;
	return width;
}

void river_print_expr(struct river_text *t, const struct river_expr *e)
{
	struct format_writer w;

	format_writer_init(&w, NULL, 0, t);
	format_expr(&w, e);
	if (format_finish(&w) < 0)
		t->failed = true;
}

static void print_value(struct printer *p, const struct river_value *v, enum river_layout layout);

static void print_number(struct river_text *t, const struct river_value *v)
{
	switch (v->number_kind) {
	case RIVER_NUMBER_UINT:
		river_text_printf(t, "%llu", (unsigned long long)v->uint_value);
		break;
	case RIVER_NUMBER_INT:
		river_text_printf(t, "%lld", (long long)v->int_value);
		break;
	case RIVER_NUMBER_FLOAT:
		river_text_float(t, v->float_value);
		break;
	}
}

static void print_value_array(struct printer *p, const struct river_value *v,
			      enum river_layout layout)
{
	river_text_char(p->t, '[');
	for (size_t i = 0; i < v->array.n_items; i++) {
		river_text_str(p->t, i > 0 ? ", " : "");
		print_value(p, v->array.items[i], layout);
	}
	river_text_char(p->t, ']');
}

static const char *member_key(struct printer *p, const struct river_object_member *m)
{
	struct river_text t = RIVER_TEXT_INIT(p->t->arena);
	const char *key;

	if (river_is_identifier(m->key, m->key_len))
		return m->key;
	river_text_quote(&t, m->key, m->key_len);
	key = river_text_take(&t);
	if (!key)
		p->t->failed = true;
	return key ? key : "";
}

static bool value_spans_lines(const struct river_value *v)
{
	if (v->type == RIVER_TYPE_OBJECT)
		return river_value_len(v) > 0;
	for (size_t i = 0; v->type == RIVER_TYPE_ARRAY && i < v->array.n_items; i++)
		if (value_spans_lines(v->array.items[i]))
			return true;
	return false;
}

/* As far as the equal signs line up: to the first value of several lines. */
static size_t member_width(struct printer *p, const struct river_object_member *members, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++) {
		size_t key_width = text_width(member_key(p, &members[i]));

		width = key_width > width ? key_width : width;
		if (value_spans_lines(members[i].value))
			break;
	}
	return width;
}

static void print_member(struct printer *p, const struct river_object_member *m, size_t width,
			 enum river_layout layout)
{
	const char *key = member_key(p, m);
	size_t key_width = text_width(key);

	river_text_str(p->t, key);
	river_text_repeat(p->t, ' ', width > key_width ? width - key_width : 0);
	river_text_str(p->t, " = ");
	print_value(p, m->value, layout);
}

static void print_object_line(struct printer *p, const struct river_value *v)
{
	p->t->failed |= !river_value_open(v);
	river_text_char(p->t, '{');
	for (size_t i = 0; i < v->object.n_members; i++) {
		river_text_str(p->t, i > 0 ? ", " : "");
		print_member(p, &v->object.members[i], 0, RIVER_LAYOUT_LINE);
	}
	river_text_char(p->t, '}');
}

static void print_object_lines(struct printer *p, const struct river_value *v)
{
	size_t n = river_value_len(v), width = 0;
	const struct river_object_member *members = v->object.members;

	river_text_char(p->t, '{');
	p->indent++;
	p->t->failed |= !river_value_open(v);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || value_spans_lines(members[i - 1].value))
			width = member_width(p, members + i, n - i);
		print_newline(p);
		print_member(p, &members[i], width, RIVER_LAYOUT_LINES);
		river_text_char(p->t, ',');
	}
	p->indent--;
	if (n > 0)
		print_newline(p);
	river_text_char(p->t, '}');
}

static void print_capsule(struct river_text *t, const struct river_value *v)
{
	if (v->capsule_kind == RIVER_CAPSULE_HOST) {
		river_text_str(t, "capsule(");
		river_text_quote(t, v->capsule.type, strlen(v->capsule.type));
		river_text_char(t, ')');
	} else if (v->string.is_secret) {
		river_text_str(t, "\"(secret)\"");
	} else {
		river_text_quote(t, v->string.text, v->string.len);
	}
}

static void print_value(struct printer *p, const struct river_value *v, enum river_layout layout)
{
	switch (v->type) {
	case RIVER_TYPE_NULL:
		river_text_str(p->t, "null");
		break;
	case RIVER_TYPE_NUMBER:
		print_number(p->t, v);
		break;
	case RIVER_TYPE_STRING:
		river_text_quote(p->t, v->string.text, v->string.len);
		break;
	case RIVER_TYPE_BOOL:
		river_text_str(p->t, v->boolean ? "true" : "false");
		break;
	case RIVER_TYPE_ARRAY:
		print_value_array(p, v, layout);
		break;
	case RIVER_TYPE_OBJECT:
		if (layout == RIVER_LAYOUT_LINES)
			print_object_lines(p, v);
		else
			print_object_line(p, v);
		break;
	case RIVER_TYPE_FUNCTION:
		river_text_str(p->t, "function");
		break;
	case RIVER_TYPE_CAPSULE:
		print_capsule(p->t, v);
		break;
	case RIVER_TYPE_MAX:
		break;
	}
}

void river_print_value(struct river_text *t, const struct river_value *v, enum river_layout layout)
{
	struct printer p = { .t = t };

	print_value(&p, v, layout);
}

static int write_text(struct river_text *t, river_write_fn write, void *ctx)
{
	const char *text = river_text_take(t);

	if (!text)
		return -ENOMEM;
	write(ctx, text, t->len);
	return 0;
}

int river_expr_write(const struct river_expr *e, struct river_arena *arena, river_write_fn write,
		     void *ctx)
{
	struct river_text t = RIVER_TEXT_INIT(arena);

	river_print_expr(&t, e);
	return write_text(&t, write, ctx);
}

int river_value_write(const struct river_value *v, enum river_layout layout,
		      struct river_arena *arena, river_write_fn write, void *ctx)
{
	struct river_text t = RIVER_TEXT_INIT(arena);

	river_print_value(&t, v, layout);
	return write_text(&t, write, ctx);
}
