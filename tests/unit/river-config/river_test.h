/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of river-config share: text into memory, one table row a test, one load from text
 * to diagnostics. */
#ifndef XAGENT_TESTS_UNIT_RIVER_CONFIG_RIVER_TEST_H
#define XAGENT_TESTS_UNIT_RIVER_CONFIG_RIVER_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "river-config/river.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Enough for every test but those of limits, which make their own. */
#define TEST_ARENA_BYTES (16 << 20)

struct row {
	const char *name;
	const char *input;
	const char *expected;
};

/* What was written, always NUL-terminated. */
struct output {
	char data[1 << 16];
	size_t len;
};

static inline void output_write(void *ctx, const char *bytes, size_t n)
{
	struct output *out = ctx;

	assert_true(n < sizeof(out->data) - out->len);
	memcpy(out->data + out->len, bytes, n);
	out->len += n;
	out->data[out->len] = '\0';
}

static inline void output_str(struct output *out, const char *s)
{
	output_write(out, s, strlen(s));
}

/* A line a diagnostic, compact form; warnings begin with "warning: ". */
static inline void output_diags(struct output *out, const struct river_diags *diags)
{
	for (size_t i = 0; i < diags->n_items; i++) {
		if (diags->items[i].severity == RIVER_SEVERITY_WARNING)
			output_str(out, "warning: ");
		river_diag_write(&diags->items[i], output_write, out);
		output_str(out, "\n");
	}
}

/* One test a row: the row is the test's state. `tests` has room for n_rows entries. */
static inline size_t add_rows(struct CMUnitTest *tests, const struct row *rows, size_t n_rows,
			      CMUnitTestFunction run)
{
	for (size_t i = 0; i < n_rows; i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
						.test_func = run,
						.initial_state = (void *)&rows[i] };
	return n_rows;
}

#endif
