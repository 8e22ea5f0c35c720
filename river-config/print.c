/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions and values as text. */
#include "river-config/print.h"

#include <errno.h>
#include <string.h>

#include "river-config/unicode.h"

struct printer {
	struct river_text *t;
	unsigned int indent;
};

static void print_expr(struct printer *p, const struct river_expr *e);

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

/* What stands between elements: the source's line break, or a blank. */
static void print_gap(struct printer *p, bool new_line, bool first)
{
	if (new_line)
		print_newline(p);
	else if (!first)
		river_text_char(p->t, ' ');
}

static void print_items(struct printer *p, const struct river_expr *const *items, size_t n_items,
			uint32_t open_line, uint32_t close_line)
{
	uint32_t line = open_line;

	p->indent++;
	for (size_t i = 0; i < n_items; i++) {
		print_gap(p, items[i]->range.start.line != line, i == 0);
		print_expr(p, items[i]);
		line = items[i]->range.end.line;
		if (i + 1 < n_items || close_line != line)
			river_text_char(p->t, ',');
	}
	p->indent--;
	if (n_items > 0 && close_line != line)
		print_newline(p);
}

static void print_array(struct printer *p, const struct river_expr *e)
{
	river_text_char(p->t, '[');
	print_items(p, e->array.items, e->array.n_items, e->range.start.line, e->range.end.line);
	river_text_char(p->t, ']');
}

/* As in the source: requoting would escape what was not unescaped. */
static size_t field_width(const struct river_object_field *field)
{
	return text_width(field->key.text) + (field->quote ? 2 : 0);
}

static void print_key(struct printer *p, const struct river_object_field *field)
{
	if (field->quote)
		river_text_char(p->t, field->quote);
	river_text_str(p->t, field->key.text);
	if (field->quote)
		river_text_char(p->t, field->quote);
}

static bool spans_lines(const struct river_expr *e);

static bool items_span_lines(const struct river_expr *const *items, size_t n_items,
			     uint32_t open_line, uint32_t close_line)
{
	uint32_t line = open_line;

	for (size_t i = 0; i < n_items; i++) {
		if (items[i]->range.start.line != line || spans_lines(items[i]))
			return true;
		line = items[i]->range.end.line;
	}
	return n_items > 0 && line != close_line;
}

static bool object_spans_lines(const struct river_expr *e)
{
	uint32_t line = e->range.start.line;

	for (size_t i = 0; i < e->object.n_fields; i++) {
		const struct river_object_field *field = &e->object.fields[i];

		if (field->key.range.start.line != line || spans_lines(field->value))
			return true;
		line = field->key.range.end.line;
	}
	return e->object.n_fields > 0 && line != e->range.end.line;
}

/*
 * Whether it is printed on several lines, which is not the same as being written on several: an
 * operator's line break goes away.
 */
static bool spans_lines(const struct river_expr *e)
{
	if (e->range.start.line == e->range.end.line)
		return false;
	switch (e->kind) {
	case RIVER_EXPR_LITERAL:
		return true;
	case RIVER_EXPR_IDENT:
		return false;
	case RIVER_EXPR_ARRAY:
		return items_span_lines(e->array.items, e->array.n_items, e->range.start.line,
					e->range.end.line);
	case RIVER_EXPR_OBJECT:
		return object_spans_lines(e);
	case RIVER_EXPR_PAREN:
	case RIVER_EXPR_UNARY:
		return spans_lines(e->inner);
	case RIVER_EXPR_BINARY:
		return spans_lines(e->binary.left) || spans_lines(e->binary.right);
	case RIVER_EXPR_ACCESS:
		return spans_lines(e->access.of);
	case RIVER_EXPR_INDEX:
		return spans_lines(e->index.of) || spans_lines(e->index.index);
	case RIVER_EXPR_CALL:
		return spans_lines(e->call.function) ||
		       items_span_lines(e->call.args, e->call.n_args,
					e->call.function->range.end.line, e->range.end.line);
	}
	return false;
}

/*
 * Width of the keys of a run: fields on lines of their own whose predecessor's value ends on its
 * line.
 */
static size_t run_width(const struct river_object_field *fields, size_t n_fields)
{
	size_t width = 0;

	for (size_t i = 0; i < n_fields; i++) {
		size_t key_width;

		if (i > 0 && (fields[i].key.range.start.line == fields[i - 1].key.range.end.line ||
			      spans_lines(fields[i - 1].value)))
			break;
		key_width = field_width(&fields[i]);
		width = key_width > width ? key_width : width;
	}
	return width;
}

static void print_field(struct printer *p, const struct river_object_field *field, size_t width)
{
	size_t key_width = field_width(field);

	print_key(p, field);
	river_text_repeat(p->t, ' ', width > key_width ? width - key_width : 0);
	river_text_str(p->t, " = ");
	print_expr(p, field->value);
}

/*
 * The end of a field is taken to be that of its name, as the reference does; only so do its objects
 * come out the same.
 */
static void print_object(struct printer *p, const struct river_expr *e)
{
	const struct river_object_field *fields = e->object.fields;
	uint32_t line = e->range.start.line;
	size_t n = e->object.n_fields, width = 0;

	river_text_char(p->t, '{');
	p->indent++;
	for (size_t i = 0; i < n; i++) {
		bool new_line = fields[i].key.range.start.line != line;

		if (!new_line)
			width = 0;
		else if (i == 0 || width == 0 || spans_lines(fields[i - 1].value))
			width = run_width(fields + i, n - i);
		print_gap(p, new_line, i == 0);
		print_field(p, &fields[i], width);
		line = fields[i].key.range.end.line;
		if (i + 1 < n || e->range.end.line != line)
			river_text_char(p->t, ',');
	}
	p->indent--;
	if (n > 0 && e->range.end.line != line)
		print_newline(p);
	river_text_char(p->t, '}');
}

/* A number would swallow the dot. */
static bool needs_blank_before_dot(const struct river_expr *of)
{
	return of->kind == RIVER_EXPR_LITERAL &&
	       (of->op == RIVER_TOKEN_NUMBER || of->op == RIVER_TOKEN_FLOAT);
}

static void print_access(struct printer *p, const struct river_expr *e)
{
	print_expr(p, e->access.of);
	river_text_str(p->t, needs_blank_before_dot(e->access.of) ? " ." : ".");
	river_text_str(p->t, e->access.name.text);
}

static void print_expr(struct printer *p, const struct river_expr *e)
{
	switch (e->kind) {
	case RIVER_EXPR_LITERAL:
		river_text_append(p->t, e->literal.text, e->literal.len);
		break;
	case RIVER_EXPR_IDENT:
		river_text_str(p->t, e->ident);
		break;
	case RIVER_EXPR_ARRAY:
		print_array(p, e);
		break;
	case RIVER_EXPR_OBJECT:
		print_object(p, e);
		break;
	case RIVER_EXPR_PAREN:
		river_text_char(p->t, '(');
		print_expr(p, e->inner);
		river_text_char(p->t, ')');
		break;
	case RIVER_EXPR_UNARY:
		river_text_str(p->t, river_token_name(e->op));
		print_expr(p, e->inner);
		break;
	case RIVER_EXPR_BINARY:
		print_expr(p, e->binary.left);
		river_text_printf(p->t, " %s ", river_token_name(e->op));
		print_expr(p, e->binary.right);
		break;
	case RIVER_EXPR_ACCESS:
		print_access(p, e);
		break;
	case RIVER_EXPR_INDEX:
		print_expr(p, e->index.of);
		river_text_char(p->t, '[');
		print_expr(p, e->index.index);
		river_text_char(p->t, ']');
		break;
	case RIVER_EXPR_CALL:
		print_expr(p, e->call.function);
		river_text_char(p->t, '(');
		print_items(p, e->call.args, e->call.n_args, e->call.function->range.end.line,
			    e->range.end.line);
		river_text_char(p->t, ')');
		break;
	}
}

void river_print_expr(struct river_text *t, const struct river_expr *e)
{
	struct printer p = { .t = t };

	print_expr(&p, e);
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
		return v->object.n_members > 0;
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
	river_text_char(p->t, '{');
	for (size_t i = 0; i < v->object.n_members; i++) {
		river_text_str(p->t, i > 0 ? ", " : "");
		print_member(p, &v->object.members[i], 0, RIVER_LAYOUT_LINE);
	}
	river_text_char(p->t, '}');
}

static void print_object_lines(struct printer *p, const struct river_value *v)
{
	const struct river_object_member *members = v->object.members;
	size_t n = v->object.n_members, width = 0;

	river_text_char(p->t, '{');
	p->indent++;
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
