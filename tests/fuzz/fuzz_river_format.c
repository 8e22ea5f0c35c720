/* SPDX-License-Identifier: Apache-2.0 */
/* A file formatted: any bytes; the result means the same, has every comment, and is formatted as itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/river.h"
#include "tests/support/river_same.h"

#define FUZZ_ARENA_BYTES ((size_t)64 << 20)

/* Blocks one in the other are indented, so a text may become as long as the square of its length; what is longer is not looked at. */
#define FUZZ_TEXT_MAX ((size_t)256 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	char data[FUZZ_TEXT_MAX];
	size_t len;
};

static void append(void *ctx, const char *bytes, size_t n)
{
	struct text *t = ctx;

	if (n <= FUZZ_TEXT_MAX && t->len <= FUZZ_TEXT_MAX - n)
		memcpy(t->data + t->len, bytes, n);
	t->len += n;
}

static const struct river_file *parse(const char *text, size_t len, struct river_arena *arena)
{
	const struct river_file *file = NULL;
	struct river_diags diags;

	river_diags_init(&diags, arena);
	int r = river_parse("fuzz", text, len, arena, &diags, &file);
	if (r == RIVER_INVALID)
		abort();
	return r == RIVER_OK ? file : NULL;
}

static int format(const char *text, size_t len, struct river_arena *arena, struct text *ret_text)
{
	struct river_diags diags;

	ret_text->len = 0;
	river_diags_init(&diags, arena);
	int r = river_format("fuzz", text, len, arena, &diags, append, ret_text);
	if (r != RIVER_OK && ret_text->len > 0)
		abort();
	if (r == RIVER_INVALID && diags.n_errors == 0)
		abort();
	return r;
}

static void check(const char *text, size_t len, struct river_arena *arena)
{
	static struct text first, second;

	if (format(text, len, arena, &first) != RIVER_OK || first.len > FUZZ_TEXT_MAX)
		return;
	const struct river_file *before = parse(text, len, arena);
	const struct river_file *after = parse(first.data, first.len, arena);
	if (before && after &&
	    (!river_same_body(&before->body, &after->body) || !river_same_comments(before, after)))
		abort();
	int r = format(first.data, first.len, arena, &second);
	if (r == RIVER_INVALID)
		abort();
	if (r == RIVER_OK &&
	    (first.len != second.len || memcmp(first.data, second.data, first.len) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct river_arena arena;

	river_arena_init(&arena, FUZZ_ARENA_BYTES);
	check((const char *)data, size, &arena);
	river_arena_fini(&arena);
	return 0;
}
