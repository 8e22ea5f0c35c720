/* SPDX-License-Identifier: Apache-2.0 */
/* Operators over values. Both operands are always evaluated before; there is no short circuit. */
#ifndef XAGENT_RIVER_CONFIG_OPERATOR_H
#define XAGENT_RIVER_CONFIG_OPERATOR_H

#include "river-config/error.h"

/* RIVER_OK, RIVER_INVALID with `err` set, or -ENOMEM. The result is fresh. */
int river_operator_binary(enum river_token_kind op, const struct river_value *left,
			  const struct river_value *right, struct river_error *err,
			  struct river_value **ret_value);
int river_operator_unary(enum river_token_kind op, const struct river_value *operand,
			 struct river_error *err, struct river_value **ret_value);

#endif
