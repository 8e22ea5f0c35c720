/* SPDX-License-Identifier: Apache-2.0 */
/* Which name was meant. */
#ifndef XAGENT_RIVER_CONFIG_SUGGEST_H
#define XAGENT_RIVER_CONFIG_SUGGEST_H

#include "river-config/river.h"

/*
 * The schema's name closest to `name`, or NULL if none is close: at most 2 edits, or a third of its
 * length.
 */
const char *river_suggest(const struct river_schema *schema, const char *name);

#endif
