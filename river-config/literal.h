/* SPDX-License-Identifier: Apache-2.0 */
/* Literals of the source as values. */
#ifndef XAGENT_RIVER_CONFIG_LITERAL_H
#define XAGENT_RIVER_CONFIG_LITERAL_H

#include "river-config/error.h"

/*
 * NUMBER, FLOAT, STRING, BOOL or NULL. RIVER_OK, RIVER_INVALID (a number too large for a double) or
 * -ENOMEM.
 */
int river_literal_value(const struct river_expr *e, struct river_error *err,
			struct river_value **ret_value);

/* The text of a string literal, escapes resolved; NULL if it is malformed or memory is out. */
char *river_unquote(struct river_arena *a, const char *text, size_t len, size_t *ret_len);

#endif
