/* SPDX-License-Identifier: Apache-2.0 */
/* Trees laid out as the language's own formatter does it. */
#ifndef XAGENT_RIVER_CONFIG_FORMAT_H
#define XAGENT_RIVER_CONFIG_FORMAT_H

#include "river-config/ast.h"
#include "river-config/format_writer.h"

void format_expr(struct format_writer *w, const struct river_expr *e);

#endif
