/* SPDX-License-Identifier: Apache-2.0 */
/* Text to tree to text: any bytes; what was understood must print to text that prints to itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/river.h"

#define FUZZ_ARENA_BYTES ((size_t)64 << 20)
#define FUZZ_TEXT_MAX ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	char data[FUZZ_TEXT_MAX];
	size_t len;
};

static void append(void *ctx, const char *bytes, size_t n)
{
	struct text *t = ctx;

	if (t->len + n <= FUZZ_TEXT_MAX)
		memcpy(t->data + t->len, bytes, n);
	t->len += n;
}

static void discard(void *ctx, const char *bytes, size_t n)
{
	volatile size_t *sum = ctx;

	for (size_t i = 0; i < n; i++)
		*sum += (unsigned char)bytes[i];
}

static int count(void *ctx, const struct river_reference *ref)
{
	*(size_t *)ctx += ref->n_parts + river_stdlib_find(ref);
	return 0;
}

static void check_expr(const struct river_expr *e, struct river_arena *arena)
{
	static struct text first, second;
	const struct river_expr *again;
	struct river_diags diags;

	first.len = second.len = 0;
	river_diags_init(&diags, arena);
	if (river_expr_write(e, arena, append, &first) == 0 && first.len <= FUZZ_TEXT_MAX) {
		int r = river_parse_expr("again", first.data, first.len, arena, &diags, &again);

		if (r == RIVER_INVALID)
			abort();
		if (r == RIVER_OK && river_expr_write(again, arena, append, &second) == 0 &&
		    (first.len != second.len || memcmp(first.data, second.data, first.len) != 0))
			abort();
	}
}

static void check_body(const struct river_body *body, struct river_arena *arena)
{
	for (size_t i = 0; i < body->n_stmts; i++) {
		if (body->stmts[i]->kind == RIVER_STMT_BLOCK)
			check_body(&body->stmts[i]->body, arena);
		else
			check_expr(body->stmts[i]->value, arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct river_source source = { "fuzz", (const char *)data, size };
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;
	size_t sum = 0;
	int r;

	river_arena_init(&arena, FUZZ_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	r = river_parse("fuzz", (const char *)data, size, &arena, &diags, &file);
	if (r >= 0) {
		river_file_require_blocks(file, &diags);
		river_body_references(&file->body, count, &sum);
		river_diags_write_pretty(&diags, &source, 1, size & 1, discard, &sum);
		river_diags_write_summary(&diags, discard, &sum);
	}
	if (r == RIVER_OK)
		check_body(&file->body, &arena);
	river_arena_fini(&arena);
	return 0;
}
