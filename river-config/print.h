/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions and values as text of the language. */
#ifndef XAGENT_RIVER_CONFIG_PRINT_H
#define XAGENT_RIVER_CONFIG_PRINT_H

#include "river-config/text.h"
#include "river-config/value.h"

/*
 * Line breaks stay where the source had them, indentation is one tab a level, everything else is
 * laid out anew.
 */
void river_print_expr(struct river_text *t, const struct river_expr *e);

void river_print_value(struct river_text *t, const struct river_value *v, enum river_layout layout);

#endif
