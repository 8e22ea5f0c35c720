/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of river-config share: text into memory, and one load from text to diagnostics. */
#ifndef XAGENT_TESTS_UNIT_RIVER_CONFIG_RIVER_TEST_H
#define XAGENT_TESTS_UNIT_RIVER_CONFIG_RIVER_TEST_H

#include <string.h>

#include "river-config/river.h"
#include "tests/support/unit.h"

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

#endif
