/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes as people type them. Pure. */
#ifndef XAGENT_AGENT_UTIL_SIZE_H
#define XAGENT_AGENT_UTIL_SIZE_H

#include <stdint.h>

#include "agent/util/str.h"

/* "64MiB", "64 MiB", "64M" (1024), "100MB" (1000), "4096": whole numbers with B, K, M, G and their forms, either case. 0, -EINVAL, or -ERANGE
 * (above 2^63). */
int size_parse(struct str text, uint64_t *ret_bytes);

#endif
