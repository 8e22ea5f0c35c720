/* SPDX-License-Identifier: Apache-2.0 */
/* At most `burst` events in each `interval_ns`; the rest is counted, so that the next one let through can say how many were held. */
#ifndef XAGENT_AGENT_UTIL_RATELIMIT_H
#define XAGENT_AGENT_UTIL_RATELIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct ratelimit {
	uint64_t interval_ns;
	unsigned int burst;
	uint64_t begin_ns;
	unsigned int n;
	unsigned int held;
};

/* True: go on; *ret_held = events held back since the last one let through. */
bool ratelimit_pass(struct ratelimit *rl, uint64_t now_ns, unsigned int *ret_held);

#endif
