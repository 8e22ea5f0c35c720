/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions, laid out. Line breaks stay where the source had them: an element that begins on another line than the one before it ended gets
 * a line of its own.
 */
#include "river-config/format.h"

#include <string.h>

#include "river-config/text.h"

static bool is_on_one_line(const struct river_expr *e)
{
	return e->range.start.line == e->range.end.line;
}

/* Elements of an array, or arguments. Each is indented by itself, so that `[{` and `}]` may stand together. */
static void format_items(struct format_writer *w, const struct river_expr *const *items,
			 size_t n_items, uint32_t open_line, uint32_t close_line)
{
	uint32_t line = open_line;

	for (size_t i = 0; i < n_items; i++) {
		bool is_own_line = items[i]->range.start.line != line;

		if (is_own_line) {
			format_wish(w, FORMAT_INDENT);
			format_wish(w, FORMAT_NEW_RUN);
		} else if (i > 0) {
			format_wish(w, FORMAT_BLANK);
		}
		format_expr(w, items[i]);
		line = items[i]->range.end.line;
		if (i + 1 < n_items || close_line != line)
			format_str(w, NULL, ",");
		if (is_own_line)
			format_wish(w, FORMAT_UNINDENT);
	}
	if (n_items > 0 && close_line != line) {
		/* What is between the last one and the bracket belongs to the elements. */
		format_wish(w, FORMAT_INDENT);
		format_wish(w, FORMAT_NEW_RUN);
		format_wish(w, FORMAT_UNINDENT);
	}
}

static void format_array(struct format_writer *w, const struct river_expr *e)
{
	format_str(w, &e->range.start, "[");
	format_items(w, e->array.items, e->array.n_items, e->range.start.line, e->range.end.line);
	format_str(w, &e->range.end, "]");
}

/* Quotes are made anew where that does not make another key of it. */
static void format_key(struct format_writer *w, const struct river_object_field *field)
{
	struct river_text t = RIVER_TEXT_INIT(w->tabs.out->arena);
	size_t n = strlen(field->key.text);

	if (!field->quote) {
		format_str(w, &field->key.range.start, field->key.text);
		return;
	}
	river_text_quote(&t, field->key.text, n);
	if (t.len != n + 2) {
		t.len = 0;
		river_text_char(&t, field->quote);
		river_text_append(&t, field->key.text, n);
		river_text_char(&t, field->quote);
	}
	if (t.failed)
		w->tabs.failed = true;
	else
		format_token(w, &field->key.range.start, field->key.range.end.line, t.data, t.len);
}

/* The equal signs of fields on lines of their own stand below each other, up to a value of several lines. */
static void wish_field_gap(struct format_writer *w, const struct river_object_field *fields,
			   size_t i, uint32_t line)
{
	if (fields[i].key.range.start.line == line) {
		if (i > 0)
			format_wish(w, FORMAT_BLANK);
		return;
	}
	format_wish(w, i > 0 && is_on_one_line(fields[i - 1].value) ? FORMAT_LINE : FORMAT_NEW_RUN);
}

/* The end of a field is taken to be that of its name, as the reference does; only so do its objects come out the same. */
static void format_object(struct format_writer *w, const struct river_expr *e)
{
	const struct river_object_field *fields = e->object.fields;
	uint32_t line = e->range.start.line;
	size_t n = e->object.n_fields;

	format_str(w, &e->range.start, "{");
	format_wish(w, FORMAT_INDENT);
	for (size_t i = 0; i < n; i++) {
		wish_field_gap(w, fields, i, line);
		format_key(w, &fields[i]);
		format_wish(w, FORMAT_CELL);
		format_str(w, NULL, "=");
		format_wish(w, FORMAT_BLANK);
		format_expr(w, fields[i].value);
		line = fields[i].key.range.end.line;
		if (i + 1 < n || e->range.end.line != line)
			format_str(w, NULL, ",");
	}
	if (n > 0 && e->range.end.line != line)
		format_wish(w, FORMAT_NEW_RUN);
	format_wish(w, FORMAT_UNINDENT);
	format_str(w, &e->range.end, "}");
}

static void format_binary(struct format_writer *w, const struct river_expr *e)
{
	format_expr(w, e->binary.left);
	format_wish(w, FORMAT_BLANK);
	format_str(w, &e->binary.op_pos, river_token_name(e->op));
	format_wish(w, FORMAT_BLANK);
	format_expr(w, e->binary.right);
}

static void format_access(struct format_writer *w, const struct river_expr *e)
{
	const struct river_expr *of = e->access.of;

	format_expr(w, of);
	/* The number would swallow the dot. */
	if (of->kind == RIVER_EXPR_LITERAL && of->op == RIVER_TOKEN_NUMBER)
		format_wish(w, FORMAT_BLANK);
	format_str(w, NULL, ".");
	format_str(w, &e->access.name.range.start, e->access.name.text);
}

static void format_index(struct format_writer *w, const struct river_expr *e)
{
	format_expr(w, e->index.of);
	format_str(w, &e->index.open_pos, "[");
	format_expr(w, e->index.index);
	format_str(w, &e->range.end, "]");
}

static void format_call(struct format_writer *w, const struct river_expr *e)
{
	format_expr(w, e->call.function);
	format_str(w, &e->call.open_pos, "(");
	format_items(w, e->call.args, e->call.n_args, e->call.open_pos.line, e->range.end.line);
	format_str(w, &e->range.end, ")");
}

void format_expr(struct format_writer *w, const struct river_expr *e)
{
	switch (e->kind) {
	case RIVER_EXPR_LITERAL:
		format_token(w, &e->range.start, e->range.end.line, e->literal.text,
			     e->literal.len);
		break;
	case RIVER_EXPR_IDENT:
		format_str(w, &e->range.start, e->ident);
		break;
	case RIVER_EXPR_ARRAY:
		format_array(w, e);
		break;
	case RIVER_EXPR_OBJECT:
		format_object(w, e);
		break;
	case RIVER_EXPR_PAREN:
		format_str(w, &e->range.start, "(");
		format_expr(w, e->inner);
		format_str(w, &e->range.end, ")");
		break;
	case RIVER_EXPR_UNARY:
		format_str(w, &e->range.start, river_token_name(e->op));
		format_expr(w, e->inner);
		break;
	case RIVER_EXPR_BINARY:
		format_binary(w, e);
		break;
	case RIVER_EXPR_ACCESS:
		format_access(w, e);
		break;
	case RIVER_EXPR_INDEX:
		format_index(w, e);
		break;
	case RIVER_EXPR_CALL:
		format_call(w, e);
		break;
	}
}
