/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of one component, decoded from text. */
#ifndef XAGENT_TESTS_UNIT_AGENT_COMPONENT_DECODE_H
#define XAGENT_TESTS_UNIT_AGENT_COMPONENT_DECODE_H

#include <string.h>

#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "river-config/river.h"
#include "tests/support/unit.h"

struct decoded {
	struct river_arena arena;
	struct buf messages; /* file:line:column: text, one a line */
	int result;
};

static inline void decoded_write(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static inline void decode(struct decoded *d, const struct river_schema *schema,
			  const struct river_scope *scope, const char *text, void *ret_args)
{
	const struct river_file *file = NULL;
	const struct river_range nowhere = { 0 };
	struct river_diags diags;

	river_arena_init(&d->arena, (size_t)16 << 20);
	buf_init(&d->messages, (size_t)1 << 20);
	river_diags_init(&diags, &d->arena);
	assert_int_equal(river_parse("a", text, strlen(text), &d->arena, &diags, &file), RIVER_OK);
	d->result = river_decode_body(&file->body, &nowhere, schema, scope, &d->arena, &diags,
				      ret_args);
	for (size_t i = 0; i < diags.n_items; i++) {
		river_diag_write(&diags.items[i], decoded_write, &d->messages);
		(void)buf_append_char(&d->messages, '\n');
	}
}

static inline void decoded_fini(struct decoded *d)
{
	river_arena_fini(&d->arena);
	buf_fini(&d->messages);
}

#endif
