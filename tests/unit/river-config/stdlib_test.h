/* SPDX-License-Identifier: Apache-2.0 */
/* One expression a row: what it yields on one line, or its diagnostics. */
#ifndef XAGENT_TESTS_UNIT_RIVER_CONFIG_STDLIB_TEST_H
#define XAGENT_TESTS_UNIT_RIVER_CONFIG_STDLIB_TEST_H

#include "tests/unit/river-config/river_test.h"

#include <math.h>
#include <stdlib.h>

/*
 * `secret` and `maybe` are secrets, `plain` an optional one that is none, `plain_json` one whose text
 * is JSON, those with `no_` are empty; `max` the largest unsigned number, `nan` no number, `cap` a capsule of the host.
 */
static inline const struct river_value *stdlib_lookup(void *ctx, struct river_arena *a,
						      const char *name)
{
	(void)ctx;
	if (strcmp(name, "secret") == 0)
		return river_value_secret(a, "pass", 4);
	if (strcmp(name, "maybe") == 0)
		return river_value_optional_secret(a, "hush", 4, true);
	if (strcmp(name, "plain") == 0)
		return river_value_optional_secret(a, "open", 4, false);
	if (strcmp(name, "plain_json") == 0)
		return river_value_optional_secret(a, "{\"a\":1}", 7, false);
	if (strcmp(name, "no_secret") == 0)
		return river_value_secret(a, "", 0);
	if (strcmp(name, "no_maybe") == 0)
		return river_value_optional_secret(a, "", 0, true);
	if (strcmp(name, "no_plain") == 0)
		return river_value_optional_secret(a, "", 0, false);
	if (strcmp(name, "max") == 0)
		return river_value_uint(a, UINT64_MAX);
	if (strcmp(name, "nan") == 0)
		return river_value_float(a, NAN);
	if (strcmp(name, "inf") == 0)
		return river_value_float(a, INFINITY);
	return strcmp(name, "cap") == 0 ? river_value_capsule(a, "T", (void *)1) : NULL;
}

static inline void stdlib_eval(const char *text, size_t arena_bytes, enum river_stability stability,
			       struct output *out)
{
	const struct river_scope scope = { .lookup = stdlib_lookup, .stability = stability };
	const struct river_value *value;
	const struct river_expr *e;
	struct river_arena arena;
	struct river_diags diags;
	int r;

	out->len = 0;
	out->data[0] = '\0';
	river_arena_init(&arena, arena_bytes);
	river_diags_init(&diags, &arena);
	r = river_parse_expr("", text, strlen(text), &arena, &diags, &e);
	assert_true(r != RIVER_INVALID);
	if (r == RIVER_OK)
		r = river_eval(e, &scope, &arena, &diags, &value);
	if (r == RIVER_OK)
		r = river_value_write(value, RIVER_LAYOUT_LINE, &arena, output_write, out);
	else if (r == RIVER_INVALID)
		output_diags(out, &diags);
	if (r < 0)
		output_str(out, "fault");
	river_arena_fini(&arena);
}

static inline void test_stdlib_row(void **state)
{
	const struct row *row = *state;
	struct output *out = malloc(sizeof(*out));

	assert_non_null(out);
	stdlib_eval(row->input, TEST_ARENA_BYTES, RIVER_STABILITY_EXPERIMENTAL, out);
	assert_string_equal(out->data, row->expected);
	free(out);
}

#define OK(input, expected)            \
	{                              \
		input, input, expected \
	}
/* Without the file's name: line:column: message. */
#define BAD(input, expected)                \
	{                                   \
		input, input, expected "\n" \
	}

#endif
