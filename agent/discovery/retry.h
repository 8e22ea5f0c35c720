/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before a server is asked again that gave no answer, or an error. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_RETRY_H
#define XAGENT_AGENT_DISCOVERY_RETRY_H

#include <stdint.h>

struct retry_options {
	uint64_t min_ns, max_ns;
};

/* Soon enough that nobody misses a container, seldom enough that a thousand agents do not keep a server down. */
#define RETRY_OPTIONS_INIT \
	((struct retry_options){ .min_ns = 500ULL * 1000000, .max_ns = 30ULL * 1000000000 })
/* A server may ask for more than max_ns, but not for more than this. */
#define RETRY_MAX_SERVER_WAIT_NS (300ULL * 1000000000)

/* After so many failures in a row, at least 1: doubles from min to max, and of that a half to all, by `random` (any 64 bits), so that the
 * agents of a cluster do not come back together. Never less than server_wait_ns asks for (0: nothing). */
uint64_t retry_wait_ns(const struct retry_options *options, unsigned int n_failures,
		       uint64_t random, uint64_t server_wait_ns);

#endif
