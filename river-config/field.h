/* SPDX-License-Identifier: Apache-2.0 */
/* One row of a schema: what it takes in the caller's struct, its default, and values into it. */
#ifndef XAGENT_RIVER_CONFIG_FIELD_H
#define XAGENT_RIVER_CONFIG_FIELD_H

#include "river-config/error.h"

size_t river_field_size(const struct river_field *field);
bool river_field_is_block(const struct river_field *field);

/* The row of that name, labels excepted; NULL when there is none. */
const struct river_field *river_field_find(const struct river_schema *schema, const char *name);

/* RIVER_OK, RIVER_INVALID with `err` set, -ENOMEM, or -EINVAL for a kind that no attribute has. */
int river_field_convert(const struct river_field *field, const struct river_value *v,
			struct river_error *err, void *out);

/*
 * Its default into the member at its offset of `self`, which is zeroed; -EINVAL if it cannot be
 * converted.
 */
int river_field_default(const struct river_field *field, struct river_arena *arena, char *self);

/* A copy of the text at *out. 0 or -ENOMEM. */
int river_field_set_text(struct river_arena *arena, const char *text, size_t len, void *out);

#endif
