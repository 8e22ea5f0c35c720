/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation with origins kept, for those who go on to convert the value. */
#ifndef XAGENT_RIVER_CONFIG_EVAL_H
#define XAGENT_RIVER_CONFIG_EVAL_H

#include "river-config/error.h"

/*
 * RIVER_OK, RIVER_INVALID with `err` set, or -ENOMEM. Values are made in err->arena; call
 * river_value_forget on what leaves.
 */
int river_eval_expr(const struct river_expr *e, const struct river_scope *scope,
		    struct river_error *err, struct river_value **ret_value);

#endif
