/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, laid out. */
#include "river-config/format.h"

#include <errno.h>
#include <string.h>

/*
 * What is laid out is laid out again until nothing changes: a line break that went away, or a comment that moved, may be a reason to do something
 * else with what stands beside it. Two or three times are usual.
 */
#define FORMAT_MAX_PASSES 8

static void format_body(struct format_writer *w, const struct river_body *body);

static void format_attribute(struct format_writer *w, const struct river_stmt *stmt)
{
	format_str(w, &stmt->name_range.start, stmt->name);
	format_wish(w, FORMAT_CELL);
	format_str(w, NULL, "=");
	format_wish(w, FORMAT_BLANK);
	format_expr(w, stmt->value);
}

static void format_label(struct format_writer *w, const struct river_stmt *stmt)
{
	struct river_text t = RIVER_TEXT_INIT(w->tabs.out->arena);

	river_text_quote(&t, stmt->label, strlen(stmt->label));
	format_wish(w, FORMAT_BLANK);
	if (t.failed)
		w->tabs.failed = true;
	else
		format_on_line(w, &stmt->label_range.start, t.data, t.len);
}

static void format_block(struct format_writer *w, const struct river_stmt *stmt)
{
	format_str(w, &stmt->name_range.start, stmt->name);
	if (stmt->label && *stmt->label)
		format_label(w, stmt);
	format_wish(w, FORMAT_BLANK);
	format_on_line(w, &stmt->head_range.end, "{", 1);
	format_wish(w, FORMAT_INDENT);
	if (stmt->body.n_stmts > 0) {
		format_wish(w, FORMAT_NEW_RUN);
		format_body(w, &stmt->body);
		format_wish(w, FORMAT_NEW_RUN);
	} else {
		format_wish(w, FORMAT_BLANK);
	}
	format_wish(w, FORMAT_UNINDENT);
	format_str(w, &stmt->range.end, "}");
}

static bool is_on_one_line(const struct river_stmt *stmt)
{
	return stmt->range.start.line == stmt->range.end.line;
}

/* Blocks are always set off, attributes where the source does so. */
static bool wants_blank_line(const struct river_stmt *before, const struct river_stmt *stmt)
{
	return stmt->kind == RIVER_STMT_BLOCK ||
	       stmt->range.start.line > before->range.end.line + 1;
}

static void format_body(struct format_writer *w, const struct river_body *body)
{
	for (size_t i = 0; i < body->n_stmts; i++) {
		const struct river_stmt *stmt = body->stmts[i];

		if (i > 0)
			format_wish(w, is_on_one_line(body->stmts[i - 1]) ? FORMAT_LINE
									  : FORMAT_NEW_RUN);
		if (i > 0 && wants_blank_line(body->stmts[i - 1], stmt))
			format_wish(w, FORMAT_NEW_RUN);
		if (stmt->kind == RIVER_STMT_BLOCK)
			format_block(w, stmt);
		else
			format_attribute(w, stmt);
	}
}

static int format_tree(const struct river_file *file, struct river_text *out)
{
	struct format_writer w;

	format_writer_init(&w, file->comments, file->n_comments, out);
	format_body(&w, &file->body);
	int r = format_finish(&w);
	if (r == 0)
		river_text_char(out, '\n');
	return out->failed ? -ENOMEM : r;
}

/* One pass. The result lives in `arena`. */
static int format_once(const char *name, const char *text, size_t len, struct river_arena *arena,
		       struct river_diags *diags, struct river_text *ret_out)
{
	const struct river_file *file;
	int r = river_parse(name, text, len, arena, diags, &file);

	if (r != RIVER_OK)
		return r;
	*ret_out = RIVER_TEXT_INIT(arena);
	return format_tree(file, ret_out);
}

static bool same(const struct river_text *a, const char *text, size_t len)
{
	return a->len == len && memcmp(a->data, text, len) == 0;
}

/* `text` and `arenas[0]` hold the first pass. What cannot be read again is kept as it was before: meaning goes before beauty. */
static int settle(const char *name, struct river_text *text, struct river_arena arenas[2])
{
	for (unsigned int pass = 1; pass < FORMAT_MAX_PASSES; pass++) {
		struct river_arena *arena = &arenas[pass % 2];
		struct river_diags diags;
		struct river_text next;

		river_arena_fini(arena);
		river_diags_init(&diags, arena);
		int r = format_once(name, text->data, text->len, arena, &diags, &next);
		if (r < 0)
			return r;
		if (r == RIVER_INVALID || same(&next, text->data, text->len))
			return RIVER_OK;
		*text = next;
	}
	return RIVER_OK;
}

int river_format(const char *name, const char *text, size_t len, struct river_arena *arena,
		 struct river_diags *diags, river_write_fn write, void *ctx)
{
	struct river_arena arenas[2];
	struct river_text out;

	river_arena_init(&arenas[0], arena->max_bytes);
	river_arena_init(&arenas[1], arena->max_bytes);
	int r = format_once(name, text, len, arena, diags, &out);
	if (r == RIVER_OK)
		r = settle(name, &out, arenas);
	if (r == RIVER_OK)
		write(ctx, out.data, out.len);
	river_arena_fini(&arenas[0]);
	river_arena_fini(&arenas[1]);
	return r;
}
