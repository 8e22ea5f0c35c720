/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as Go's printer spells them: "1m0s", "1.5s", "500ms", "0s". Pure. */
#ifndef XAGENT_AGENT_COMPONENT_JSON_DURATION_TEXT_H
#define XAGENT_AGENT_COMPONENT_JSON_DURATION_TEXT_H

#include <stdint.h>

/* The longest is that of INT64_MIN, "-2562047h47m16.854775808s". */
#define DURATION_TEXT_BYTES 32

/* Returns `text`. */
const char *duration_text(int64_t ns, char text[static DURATION_TEXT_BYTES]);

#endif
