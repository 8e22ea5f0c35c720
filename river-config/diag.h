/* SPDX-License-Identifier: Apache-2.0 */
/* What the compact and the pretty printer share. */
#ifndef XAGENT_RIVER_CONFIG_DIAG_H
#define XAGENT_RIVER_CONFIG_DIAG_H

#include "river-config/out.h"

/* Position and message, no line break. */
void river_diag_put(struct river_out *out, const struct river_diag *diag);

#endif
