/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the standard library over any bytes. The first byte says which; the rest is `x` up to
 * the first line break and `y` behind it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/river.h"

#define FUZZ_ARENA_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const expressions[] = {
	"encoding.from_json(y)",
	"encoding.from_yaml(y)",
	"json_path(y, x)",
	"json_path(`[{\"a\": 1, \"b\": [\"x\", 2.5, null, {\"c\": true}]}, [1, 2, 3], \"t\"]`, x)",
	"string.format(x, y, 1, -2.5, null, [y, true], {k = y})",
	"[encoding.from_base64(x), encoding.from_URLbase64(x)]",
	"encoding.url_decode(x)",
	"[string.replace(y, x, \"-\"), string.split(y, x), string.trim(y, x), string.to_upper(y)]",
	"[file.path_join(x, y), string.trim_space(y), string.trim_prefix(y, x)]",
	/* What holds for any text. */
	"encoding.from_base64(encoding.to_base64(y)) == y",
	"encoding.from_URLbase64(encoding.to_URLbase64(y)) == y",
	"encoding.url_decode(encoding.url_encode(y)) == y",
	"string.join(string.split(y, x), x) == y",
	"file.path_join(file.path_join(x, y)) == file.path_join(x, y)",
	"encoding.from_json(encoding.to_json({v = json_decode(y)})) == {v = json_decode(y)}",
};

#define N_EXPRESSIONS (sizeof(expressions) / sizeof(expressions[0]))

struct inputs {
	const char *x, *y;
	size_t x_len, y_len;
};

static const struct river_value *lookup(void *ctx, struct river_arena *a, const char *name)
{
	const struct inputs *in = ctx;

	if (strcmp(name, "x") == 0)
		return river_value_string(a, in->x, in->x_len);
	return strcmp(name, "y") == 0 ? river_value_string(a, in->y, in->y_len) : NULL;
}

static void discard(void *ctx, const char *bytes, size_t n)
{
	volatile size_t *sum = ctx;

	for (size_t i = 0; i < n; i++)
		*sum += (unsigned char)bytes[i];
}

static void eval(const char *text, const struct inputs *in)
{
	const struct river_scope scope = { .lookup = lookup, .ctx = (void *)in };
	const struct river_value *value;
	const struct river_expr *e;
	struct river_arena arena;
	struct river_diags diags;
	size_t sum = 0;
	int r;

	river_arena_init(&arena, FUZZ_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	if (river_parse_expr("fuzz", text, strlen(text), &arena, &diags, &e) != RIVER_OK)
		abort();
	r = river_eval(e, &scope, &arena, &diags, &value);
	if (r == RIVER_OK && river_value_type(value) == RIVER_TYPE_BOOL && strstr(text, "==") &&
	    !river_value_get_bool(value))
		abort();
	if (r == RIVER_OK)
		river_value_write(value, RIVER_LAYOUT_LINES, &arena, discard, &sum);
	for (size_t i = 0; i < diags.n_items; i++)
		river_diag_write(&diags.items[i], discard, &sum);
	if (r == RIVER_INVALID && diags.n_items == 0)
		abort();
	river_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1, *end;
	struct inputs in;

	if (size == 0)
		return 0;
	end = size > 1 ? memchr(text, '\n', size - 1) : NULL;
	in.x = text;
	in.x_len = end ? (size_t)(end - text) : size - 1;
	in.y = end ? end + 1 : text;
	in.y_len = end ? size - 2 - in.x_len : size - 1;
	eval(expressions[data[0] % N_EXPRESSIONS], &in);
	return 0;
}
