/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as people type them. Pure. */
#ifndef XAGENT_AGENT_CLI_DURATION_H
#define XAGENT_AGENT_CLI_DURATION_H

#include <stdint.h>

#include "agent/util/str.h"

/* A year: longer is a mistake. */
#define DURATION_MAX_NS (366ULL * 24 * 3600 * 1000000000ULL)

/* "10" and "1.5" are seconds; else Go's form: "500ms", "1h30m", with units h m s ms us µs ns and at most six decimals. 0, -EINVAL, or
 * -ERANGE (above the maximum). */
int duration_parse(struct str text, uint64_t *ret_ns);

#endif
