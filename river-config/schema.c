/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies into C structs, by table.
 *
 * One decode of one body keeps which rows were seen and whether anything was wrong. Unlike the
 * reference, which stops at the first error of a body, every statement is looked at, so that a
 * person gets all of them at once.
 */
#include "river-config/river.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/eval.h"
#include "river-config/field.h"

struct decoder {
	const struct river_schema *schema;
	const struct river_scope *scope;
	struct river_arena *arena;
	struct river_diags *diags;
	const struct river_body *body;
	char *out;
	bool *seen;    /* a flag a row */
	bool *refused; /* the same: its blocks are too many or too few */
	bool invalid;  /* an error was reported for this body */
};

/*
 * Where a row's value goes. What is ignored is decoded all the same, into memory nobody looks at.
 */
static void *field_memory(struct decoder *d, const struct river_field *field)
{
	if (field->flags & RIVER_IGNORED)
		return river_arena_alloc(d->arena, river_field_size(field));
	return d->out + field->offset;
}

/* Reports and remembers; 0 or -ENOMEM, as the diagnostic is the outcome. */
static int __attribute__((format(printf, 3, 4)))
complain(struct decoder *d, const struct river_range *at, const char *fmt, ...)
{
	va_list ap;
	int r;

	d->invalid = true;
	va_start(ap, fmt);
	r = river_diag_vadd(d->diags, RIVER_SEVERITY_ERROR, at, fmt, ap);
	va_end(ap);
	return r;
}

int river_decode_defaults(const struct river_schema *schema, struct river_arena *arena,
			  void *ret_out)
{
	memset(ret_out, 0, schema->size);
	for (size_t i = 0; i < schema->n_fields; i++) {
		int r = river_field_default(&schema->fields[i], arena, ret_out);

		if (r < 0)
			return r;
	}
	if (schema->init)
		schema->init(ret_out);
	return 0;
}

static int complain_unknown(struct decoder *d, const struct river_stmt *stmt)
{
	return complain(d, &stmt->range, "unrecognized %s name \"%s\"",
			stmt->kind == RIVER_STMT_BLOCK ? "block" : "attribute", stmt->name);
}

static int warn_deprecated(struct decoder *d, const struct river_stmt *stmt,
			   const struct river_field *field)
{
	if (!(field->flags & RIVER_DEPRECATED))
		return 0;
	return river_diag_add(d->diags, RIVER_SEVERITY_WARNING, &stmt->name_range,
			      "\"%s\" is deprecated%s%s", field->name, field->note ? ": " : "",
			      field->note ? field->note : "");
}

static int validate_field(struct decoder *d, const struct river_stmt *stmt,
			  const struct river_field *field, const void *memory)
{
	const char *problem = field->validate ? field->validate(memory, d->arena) : NULL;

	return problem ? complain(d, &stmt->range, "%s", problem) : 0;
}

/* A text that does not mean anything is a value that cannot be converted. */
static int judge_value(const struct river_field *field, const struct river_value *v,
		       struct river_error *err, const void *memory)
{
	const char *problem = NULL;

	if ((field->flags & RIVER_OF_VALUE) && field->validate)
		problem = field->validate(memory, err->arena);
	return problem ? river_error_set(err, v, "%s", problem) : RIVER_OK;
}

static int decode_value(struct decoder *d, const struct river_stmt *stmt,
			const struct river_field *field)
{
	struct river_error err = { .arena = d->arena };
	void *memory = field_memory(d, field);
	struct river_value *v;
	int r;

	if (!memory)
		return -ENOMEM;
	r = river_eval_expr(stmt->value, d->scope, &err, &v);
	if (r == RIVER_OK) {
		r = river_field_convert(field, v, &err, memory);
		if (r == RIVER_OK)
			r = judge_value(field, v, &err, memory);
		river_value_forget(v);
	}
	if (r == RIVER_INVALID) {
		d->invalid = true;
		r = river_error_report(&err, d->diags);
		return r < 0 ? r : 0;
	}
	if (r < 0 || (field->flags & RIVER_OF_VALUE))
		return r;
	return validate_field(d, stmt, field, memory);
}

static int decode_attribute(struct decoder *d, const struct river_stmt *stmt)
{
	const struct river_field *field = river_field_find(d->schema, stmt->name);
	bool *seen;
	int r;

	if (!field)
		return complain_unknown(d, stmt);
	seen = &d->seen[field - d->schema->fields];
	if (*seen && !river_field_is_block(field))
		return complain(d, &stmt->range, "attribute \"%s\" may only be provided once",
				stmt->name);
	*seen = true;
	if (river_field_is_block(field))
		return complain(d, &stmt->range,
				"\"%s\" must be a block, but is used as an attribute", stmt->name);
	r = warn_deprecated(d, stmt, field);
	return r < 0 ? r : decode_value(d, stmt, field);
}

static size_t count_blocks(const struct river_body *body, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < body->n_stmts; i++)
		n += body->stmts[i]->kind == RIVER_STMT_BLOCK &&
		     strcmp(body->stmts[i]->name, name) == 0;
	return n;
}

/* The next of the structs of a repeated block; the first one makes room for all. */
static void *blocks_next(struct decoder *d, const struct river_field *field,
			 struct river_blocks *blocks, bool first)
{
	if (first) {
		blocks->n_items = 0;
		blocks->items = river_arena_alloc(d->arena, count_blocks(d->body, field->name) *
								    field->schema->size);
	}
	if (!blocks->items)
		return NULL;
	return (char *)blocks->items + blocks->n_items++ * field->schema->size;
}

static void *block_memory(struct decoder *d, const struct river_field *field, void *memory,
			  bool first)
{
	if (field->kind == RIVER_KIND_BLOCKS)
		return blocks_next(d, field, memory, first);
	if (field->kind == RIVER_KIND_BLOCK_PTR)
		return *(void **)memory = river_arena_alloc(d->arena, field->schema->size);
	return memory;
}

static const struct river_field *label_field(const struct river_schema *schema)
{
	for (size_t i = 0; i < schema->n_fields; i++)
		if (schema->fields[i].kind == RIVER_KIND_LABEL)
			return &schema->fields[i];
	return NULL;
}

/* Of nested blocks; what labels mean at the top level is the caller's business. */
static int check_label(struct decoder *d, const struct river_stmt *block,
		       const struct river_schema *schema)
{
	bool wanted = label_field(schema) != NULL;

	if (wanted && !block->label)
		return complain(d, &block->head_range, "block \"%s\" requires non-empty label",
				block->name);
	if (!wanted && block->label)
		return complain(d, &block->head_range,
				"block \"%s\" does not support specifying labels", block->name);
	return 0;
}

/* The blocks of an ignored row share nothing, each is decoded as if it were the only one. */
static int decode_nested(struct decoder *d, const struct river_stmt *stmt,
			 const struct river_field *field, bool first)
{
	bool ignored = field->flags & RIVER_IGNORED;
	void *memory =
		ignored ? river_arena_alloc(d->arena, field->schema->size) : field_memory(d, field);
	void *out = memory && !ignored ? block_memory(d, field, memory, first) : memory;
	int r;

	if (!out)
		return -ENOMEM;
	r = check_label(d, stmt, field->schema);
	if (r >= 0)
		r = river_decode_block(stmt, field->schema, d->scope, d->arena, d->diags, out);
	if (r == RIVER_INVALID)
		d->invalid = true;
	return r == RIVER_OK ? validate_field(d, stmt, field, memory) : r < 0 ? r : 0;
}

/* At the first of them: whether there are as many as there may be. */
static int check_count(struct decoder *d, const struct river_stmt *stmt,
		       const struct river_field *field, bool *ret_refused)
{
	bool repeated = field->kind == RIVER_KIND_BLOCKS;
	size_t n, want = repeated ? field->length : 1;

	*ret_refused = false;
	n = want ? count_blocks(d->body, stmt->name) : 0;
	if (n == want)
		return 0;
	*ret_refused = true;
	if (!repeated)
		return complain(d, &stmt->range, "block \"%s\" may only be specified once",
				stmt->name);
	return complain(d, &stmt->range,
			"block \"%s\" must be specified exactly %zu times, but was specified %zu "
			"times",
			stmt->name, want, n);
}

static int decode_block(struct decoder *d, const struct river_stmt *stmt)
{
	const struct river_field *field = river_field_find(d->schema, stmt->name);
	size_t i;
	bool first;
	int r;

	if (!field)
		return complain_unknown(d, stmt);
	i = (size_t)(field - d->schema->fields);
	first = !d->seen[i];
	d->seen[i] = true;
	if (!river_field_is_block(field))
		return complain(d, &stmt->range,
				"\"%s\" must be an attribute, but is used as a block", stmt->name);
	r = warn_deprecated(d, stmt, field);
	if (r < 0)
		return r;
	if (first)
		r = check_count(d, stmt, field, &d->refused[i]);
	if (r < 0 || d->refused[i])
		return r;
	return decode_nested(d, stmt, field, first);
}

static int check_required(struct decoder *d, const struct river_range *range)
{
	for (size_t i = 0; i < d->schema->n_fields; i++) {
		const struct river_field *field = &d->schema->fields[i];
		int r;

		if (d->seen[i] || !(field->flags & RIVER_REQUIRED))
			continue;
		r = complain(d, range, "missing required %s \"%s\"",
			     river_field_is_block(field) ? "block" : "attribute", field->name);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_whole(struct decoder *d, const struct river_range *range)
{
	const char *problem = NULL;

	if (!d->invalid && d->schema->validate)
		problem = d->schema->validate(d->out, d->arena);
	return problem ? complain(d, range, "%s", problem) : 0;
}

static int decode_stmts(struct decoder *d)
{
	int r = 0;

	for (size_t i = 0; i < d->body->n_stmts && r >= 0; i++) {
		const struct river_stmt *stmt = d->body->stmts[i];

		r = stmt->kind == RIVER_STMT_BLOCK ? decode_block(d, stmt)
						   : decode_attribute(d, stmt);
	}
	return r;
}

static int decode_all(struct decoder *d, const struct river_range *range)
{
	int r = decode_stmts(d);

	if (r >= 0)
		r = check_required(d, range);
	if (r >= 0)
		r = check_whole(d, range);
	if (r < 0)
		return r;
	return d->invalid ? RIVER_INVALID : RIVER_OK;
}

static int decoder_init(struct decoder *d, const struct river_schema *schema, void *out)
{
	d->schema = schema;
	d->out = out;
	d->seen = river_arena_alloc(d->arena, schema->n_fields * sizeof(*d->seen));
	d->refused = river_arena_alloc(d->arena, schema->n_fields * sizeof(*d->refused));
	if (!d->seen || !d->refused)
		return -ENOMEM;
	return river_decode_defaults(schema, d->arena, out);
}

int river_decode_body(const struct river_body *body, const struct river_range *range,
		      const struct river_schema *schema, const struct river_scope *scope,
		      struct river_arena *arena, struct river_diags *diags, void *ret_out)
{
	struct decoder d = { .scope = scope, .arena = arena, .diags = diags, .body = body };
	int r = decoder_init(&d, schema, ret_out);

	return r < 0 ? r : decode_all(&d, range);
}

int river_decode_block(const struct river_stmt *block, const struct river_schema *schema,
		       const struct river_scope *scope, struct river_arena *arena,
		       struct river_diags *diags, void *ret_out)
{
	struct decoder d = { .scope = scope, .arena = arena, .diags = diags, .body = &block->body };
	const struct river_field *label = label_field(schema);
	int r = decoder_init(&d, schema, ret_out);

	if (r >= 0 && label && block->label)
		r = river_field_set_text(arena, block->label, strlen(block->label),
					 d.out + label->offset);
	return r < 0 ? r : decode_all(&d, &block->range);
}
