/* SPDX-License-Identifier: Apache-2.0 */
/* Times of /pyroscope/render. Pure. */
#ifndef XAGENT_AGENT_STORE_RENDER_TIME_H
#define XAGENT_AGENT_STORE_RENDER_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/str.h"

/*
 *	time	= "now" [ "-" { number unit } ] | number
 *	unit	= "ms" | "s" | "m" | "h" | "d" | "w" | "M" | "y"
 *
 * A number alone is Unix time in seconds, or in milli-, micro- or nanoseconds when it is too large for that.
 */
bool render_parse_time(struct str text, int64_t now_ms, int64_t *ret_ms);

/* The steps of a timeline: at least 15 s, some 1,500 of them, and a length that people like. */
int64_t render_step_s(int64_t range_ms);

#endif
