/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreach: arguments, and how its children are called.
 *
 * A child is called after its item, so that it stays when others come and go: a text with what cannot be in a name replaced, a number,
 * a bool; of anything else the beginning of a digest.
 */
#include "agent/component/graph/foreach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/component/graph/module_kinds.h"
#include "agent/util/hash.h"
#include "agent/util/str.h"

/* Of an item as text: metadata of a target takes some kilobytes, a list of all targets of a node a megabyte. */
#define ITEM_MAX_BYTES ((size_t)16 << 20)

static const char *validate_var(const void *field, struct river_arena *arena)
{
	const char *var = *(const char *const *)field;

	(void)arena;
	return river_is_identifier(var, strlen(var)) ? NULL : "var must be a valid identifier";
}

static const struct river_field foreach_fields[] = {
	RIVER_FIELD_VALUE(struct foreach_args, collection, "collection", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(struct foreach_args, var, "var", .flags = RIVER_REQUIRED,
			   .validate = validate_var),
	RIVER_FIELD_BOOL(struct foreach_args, enable_metrics, "enable_metrics"),
	RIVER_FIELD_STRING(struct foreach_args, id, "id"),
	RIVER_FIELD_BOOL(struct foreach_args, hash_string_id, "hash_string_id"),
};

static const struct river_schema foreach_schema =
	RIVER_SCHEMA(struct foreach_args, "foreach", foreach_fields);

const struct component_kind foreach_kind = {
	.name = "foreach",
	.schema = &foreach_schema,
	.wants_label = true,
	.stability = STABILITY_EXPERIMENTAL,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
};

static bool is_template(const struct river_stmt *stmt)
{
	return stmt->kind == RIVER_STMT_BLOCK && strcmp(stmt->name, "template") == 0;
}

const struct river_stmt *foreach_template(const struct river_stmt *block)
{
	for (size_t i = 0; i < block->body.n_stmts; i++)
		if (is_template(block->body.stmts[i]))
			return block->body.stmts[i];
	return NULL;
}

static int complain(struct river_diags *diags, const struct river_range *at, const char *message)
{
	int r = river_diag_add(diags, RIVER_SEVERITY_ERROR, at, "%s", message);

	return r < 0 ? r : RIVER_INVALID;
}

static int check_templates(const struct river_stmt *block, struct river_diags *diags)
{
	const struct river_stmt *first = foreach_template(block);
	int outcome = RIVER_OK;

	if (!first)
		return complain(diags, &block->range, "missing required block \"template\"");
	for (size_t i = 0; i < block->body.n_stmts; i++) {
		const struct river_stmt *stmt = block->body.stmts[i];
		int r = RIVER_OK;

		if (is_template(stmt) && stmt != first)
			r = complain(diags, &stmt->range,
				     "block \"template\" may only be specified once");
		else if (is_template(stmt) && stmt->label)
			r = complain(diags, &stmt->head_range,
				     "block \"template\" does not support specifying labels");
		if (r < 0)
			return r;
		if (r != RIVER_OK)
			outcome = r;
	}
	return outcome;
}

static void append_text(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

/* With the expression in front, as for any other argument. */
static int check_collection(const struct river_stmt *block, const struct foreach_args *args,
			    struct river_arena *arena, struct river_diags *diags)
{
	_cleanup_buf_ struct buf text = BUF_INIT(ITEM_MAX_BYTES);
	enum river_type type = river_value_type(args->collection);
	const struct river_expr *e = NULL;

	if (type == RIVER_TYPE_ARRAY)
		return RIVER_OK;
	for (size_t i = 0; !e && i < block->body.n_stmts; i++)
		if (strcmp(block->body.stmts[i]->name, "collection") == 0)
			e = block->body.stmts[i]->value;
	if (!e)
		return RIVER_INVALID;
	(void)river_expr_write(e, arena, append_text, &text);
	int r = river_diag_add(diags, RIVER_SEVERITY_ERROR, river_expr_range(e),
			       "%s should be array, got %s", buf_str(&text), river_type_name(type));
	return r < 0 ? r : RIVER_INVALID;
}

/* What is in the template is not evaluated here. */
static int without_templates(const struct river_body *body, struct river_arena *arena,
			     struct river_body *ret_body)
{
	const struct river_stmt **stmts =
		river_arena_alloc(arena, (body->n_stmts + 1) * sizeof(struct river_stmt *));
	size_t n = 0;

	if (!stmts)
		return -ENOMEM;
	for (size_t i = 0; i < body->n_stmts; i++)
		if (!is_template(body->stmts[i]))
			stmts[n++] = body->stmts[i];
	*ret_body = (struct river_body){ .stmts = stmts, .n_stmts = n };
	return 0;
}

int foreach_decode(const struct river_stmt *block, const struct river_scope *scope,
		   struct river_arena *arena, struct river_diags *diags, struct foreach_args *ret)
{
	struct river_body body;
	int r = without_templates(&block->body, arena, &body);
	int templates;

	if (r == 0)
		r = river_decode_body(&body, &block->range, &foreach_schema, scope, arena, diags,
				      ret);
	if (r == RIVER_OK)
		r = check_collection(block, ret, arena, diags);
	templates = r < 0 ? r : check_templates(block, diags);
	return r == RIVER_OK ? templates : r;
}

/* Letters and digits of any script stay. */
static void put_name(struct buf *id, const char *text, size_t n)
{
	struct str rest = { text, n };

	while (rest.n > 0) {
		size_t len = str_utf8_len(rest);
		char named[8] = "a";

		if (len == 0)
			len = 1;
		memcpy(named + 1, rest.p, len);
		bool fits = river_is_identifier(named, len + 1);
		(void)buf_append(id, fits ? rest.p : "_", fits ? len : 1);
		rest = (struct str){ rest.p + len, rest.n - len };
	}
}

static void put_digest(struct buf *id, const char *text, size_t n)
{
	/* Items of one digest would have other numbers behind it: nothing depends on its strength. */
	(void)buf_printf(id, "%016llx", (unsigned long long)hash_bytes(text, n, 0));
}

static void put_number(struct buf *id, const struct river_value *item)
{
	double number = river_value_get_float(item);
	int64_t whole = river_value_get_int(item);
	char text[512]; /* the largest double takes 310 digits before its point */

	if ((double)whole == number)
		(void)snprintf(text, sizeof(text), "%lld", (long long)whole);
	else
		(void)snprintf(text, sizeof(text), "%f", number);
	put_name(id, text, strlen(text));
}

static int put_other(struct buf *id, const struct river_value *item)
{
	_cleanup_buf_ struct buf text = BUF_INIT(ITEM_MAX_BYTES);
	struct river_arena arena;

	river_arena_init(&arena, 4 * ITEM_MAX_BYTES);
	int r = river_value_write(item, RIVER_LAYOUT_LINE, &arena, append_text, &text);
	river_arena_fini(&arena);
	put_digest(id, buf_str(&text), text.len);
	return text.failed ? -ENOMEM : r;
}

static int put_item(const struct foreach_args *args, const struct river_value *item, struct buf *id)
{
	size_t n;
	const char *text = river_value_get_string(item, &n);

	switch (river_value_type(item)) {
	case RIVER_TYPE_STRING:
		if (args->hash_string_id)
			put_digest(id, text, n);
		else
			put_name(id, text, n);
		return 0;
	case RIVER_TYPE_NUMBER:
		put_number(id, item);
		return 0;
	case RIVER_TYPE_BOOL:
		return buf_append_str(id, river_value_get_bool(item) ? "true" : "false");
	default:
		return put_other(id, item);
	}
}

int foreach_child_id(const struct foreach_args *args, const struct river_value *item,
		     struct buf *ret_id)
{
	const struct river_value *field = *args->id && river_value_type(item) == RIVER_TYPE_OBJECT
						  ? river_value_find(item, args->id)
						  : NULL;
	int r = buf_append_str(ret_id, "foreach_");

	if (r == 0)
		r = put_item(args, field ? field : item, ret_id);
	if (r == 0)
		r = buf_append_char(ret_id, '_');
	return ret_id->failed ? -ENOMEM : r;
}
