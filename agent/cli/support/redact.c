/* SPDX-License-Identifier: Apache-2.0 */
/* Texts without their secrets. */
#include "agent/cli/support/redact.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/component.h"
#include "agent/util/str.h"
#include "river-config/river.h"

/* A tree takes some 20 times the bytes of its text. */
#define TREE_MAX_BYTES ((size_t)512 << 20)

/* Bytes of the source that something else stands for. */
struct edit {
	size_t begin, end;
	const char *by;
};

struct edits {
	struct redactor *r;
	const char *text;
	struct edit *items; /* owned */
	size_t n;
	int error;
};

void redactor_fini(struct redactor *r)
{
	secret_texts_fini(&r->texts);
}

static void add_edit(struct edits *e, const struct river_range *at, const char *by)
{
	struct edit *items = reallocarray(e->items, e->n + 1, sizeof(*items));

	if (!items) {
		e->error = -ENOMEM;
		return;
	}
	e->items = items;
	items[e->n++] = (struct edit){ at->start.offset, (size_t)at->end.offset + 1, by };
}

/* a.b.c, true: says nothing but where it comes from. */
static bool is_name(const char *from, const char *to)
{
	if (*from >= '0' && *from <= '9')
		return false;
	for (; from < to; from++)
		if (strchr("\"`([{+-", *from))
			return false;
	return true;
}

static void hide(struct edits *e, const struct river_stmt *attribute)
{
	const struct river_range *at = river_expr_range(attribute->value);
	const char *from = e->text + at->start.offset;
	const char *to = e->text + at->end.offset + 1;
	int r;

	if (is_name(from, to))
		return;
	add_edit(e, at, "\"" REDACTED "\"");
	r = secret_texts_add_literals(&e->r->texts, from, to);
	if (r < 0)
		e->error = r;
}

static const struct river_field *find_field(const struct river_schema *schema, const char *name)
{
	for (size_t i = 0; schema && i < schema->n_fields; i++)
		if (schema->fields[i].kind != RIVER_KIND_LABEL &&
		    strcmp(schema->fields[i].name, name) == 0)
			return &schema->fields[i];
	return NULL;
}

/* Texts by their type, and yet where people write tokens and passwords. */
static bool is_credential_map(const struct river_field *f)
{
	return f->kind == RIVER_KIND_STRING_MAP &&
	       (strcmp(f->name, "headers") == 0 || strcmp(f->name, "endpoint_params") == 0);
}

static bool is_secret_field(const struct river_field *f)
{
	return f->kind == RIVER_KIND_SECRET || f->kind == RIVER_KIND_OPTIONAL_SECRET ||
	       f->kind == RIVER_KIND_SECRET_LIST_MAP || is_credential_map(f);
}

static void walk_attribute(struct edits *e, const struct river_stmt *stmt,
			   const struct river_schema *schema)
{
	const struct river_field *f = find_field(schema, stmt->name);

	if (!f || is_secret_field(f))
		hide(e, stmt);
}

static void walk_arguments(struct edits *e, const struct river_body *body,
			   const struct river_schema *schema)
{
	for (size_t i = 0; i < body->n_stmts; i++) {
		const struct river_stmt *stmt = body->stmts[i];
		const struct river_field *f;

		if (stmt->kind == RIVER_STMT_ATTRIBUTE) {
			walk_attribute(e, stmt, schema);
			continue;
		}
		f = find_field(schema, stmt->name);
		walk_arguments(e, &stmt->body, f ? f->schema : NULL);
	}
}

static bool holds_components(const struct river_stmt *block)
{
	return strcmp(block->name, "declare") == 0 || strcmp(block->name, "foreach") == 0 ||
	       strcmp(block->name, "template") == 0;
}

static void walk_components(struct edits *e, const struct river_body *body)
{
	for (size_t i = 0; i < body->n_stmts; i++) {
		const struct river_stmt *stmt = body->stmts[i];
		const struct component_kind *kind;

		if (stmt->kind == RIVER_STMT_ATTRIBUTE) {
			hide(e, stmt);
			continue;
		}
		if (holds_components(stmt)) {
			walk_components(e, &stmt->body);
			continue;
		}
		kind = component_kind_find(stmt->name);
		walk_arguments(e, &stmt->body, kind ? kind->schema : NULL);
	}
}

static void leave_comments_out(struct edits *e, const struct river_file *file)
{
	for (size_t i = 0; i < file->n_comments; i++)
		add_edit(e, &file->comments[i].range,
			 file->comments[i].text[1] == '/' ? "// (left out)" : "/* (left out) */");
}

static int compare_edits(const void *a, const void *b)
{
	size_t left = ((const struct edit *)a)->begin;
	size_t right = ((const struct edit *)b)->begin;

	return (left > right) - (left < right);
}

static int apply(struct edits *e, size_t n, struct buf *out)
{
	size_t at = 0;

	if (e->n > 1)
		qsort(e->items, e->n, sizeof(e->items[0]), compare_edits);
	for (size_t i = 0; i < e->n; i++) {
		/* A comment inside of a hidden expression is gone with it. */
		if (e->items[i].begin < at)
			continue;
		(void)buf_append(out, e->text + at, e->items[i].begin - at);
		(void)buf_append_str(out, e->items[i].by);
		at = e->items[i].end;
		assert(at <= n);
	}
	(void)buf_append(out, e->text + at, n - at);
	return out->failed ? -ENOBUFS : REDACTED_TEXT;
}

static int redact_file(struct edits *e, const struct river_file *file, size_t n, struct buf *out)
{
	walk_components(e, &file->body);
	leave_comments_out(e, file);
	return e->error < 0 ? e->error : apply(e, n, out);
}

int redact_config(struct redactor *r, const char *text, size_t n, struct buf *out)
{
	struct edits e = { .r = r, .text = text };
	const struct river_file *file = NULL;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TREE_MAX_BYTES);
	river_diags_init(&diags, &arena);
	int result = river_parse("", text, n, &arena, &diags, &file);
	bool is_parsed = result == RIVER_OK;
	if (is_parsed)
		result = redact_file(&e, file, n, out);
	else if (result == RIVER_INVALID)
		result = secret_texts_add_broken(&r->texts, text, text + n);
	if (result == 0 && !is_parsed)
		result = REDACT_UNREADABLE;
	free(e.items);
	river_arena_fini(&arena);
	return result;
}

/* Length of "user:password", or of a token alone, before an @, 0 where there is none. */
static size_t userinfo_len(const char *from, const char *end)
{
	const char *at = from;

	while (at < end && !strchr("@/ \t\r\n\"'`\\?#<>", *at))
		at++;
	return at < end && *at == '@' ? (size_t)(at - from) : 0;
}

int redact_text(const struct redactor *r, const char *text, size_t n, struct buf *out)
{
	const char *end = text + n;
	const char *kept = text;

	for (const char *at = text; at < end;) {
		bool in_url = at - text >= 3 && memcmp(at - 3, "://", 3) == 0;
		size_t len = in_url ? userinfo_len(at, end) : 0;

		if (len == 0)
			len = secret_texts_match(&r->texts, at, end);
		if (len == 0) {
			at++;
			continue;
		}
		(void)buf_append(out, kept, (size_t)(at - kept));
		(void)buf_append_str(out, REDACTED);
		assert(len <= (size_t)(end - at));
		at += len;
		kept = at;
	}
	(void)buf_append(out, kept, (size_t)(end - kept));
	return out->failed ? -ENOBUFS : 0;
}
