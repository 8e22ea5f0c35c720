/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two texts of the configuration language mean the same and say the same: their trees without positions, and their comments. */
#ifndef XAGENT_TESTS_SUPPORT_RIVER_SAME_H
#define XAGENT_TESTS_SUPPORT_RIVER_SAME_H

#include <stdbool.h>

#include "river-config/river.h"

bool river_same_body(const struct river_body *a, const struct river_body *b);

/* In order, to the byte. */
bool river_same_comments(const struct river_file *a, const struct river_file *b);

#endif
