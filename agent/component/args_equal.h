/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two decoded blocks hold the same arguments, by the table that decoded them. Pure. */
#ifndef XAGENT_AGENT_COMPONENT_ARGS_EQUAL_H
#define XAGENT_AGENT_COMPONENT_ARGS_EQUAL_H

#include "river-config/river.h"

bool args_equal(const struct river_schema *schema, const void *a, const void *b);

#endif
