/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long to wait before the next attempt, and whether there is one. Pure.
 *
 * The n-th wait is uniform in [min · 2ⁿ, min · 2ⁿ⁺¹), both ends capped at max: the jitter keeps the
 * agents of a cluster from coming back together.
 */
#ifndef XAGENT_AGENT_PUSH_BACKOFF_H
#define XAGENT_AGENT_PUSH_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

struct backoff_options {
	uint64_t min_ns;
	uint64_t max_ns;
	unsigned int max_attempts; /* in total, the first included; 0: no limit */
};

/* max_backoff_retries = 10 of pyroscope.write means ten attempts and nine waits. */
#define BACKOFF_OPTIONS_INIT       \
	((struct backoff_options){ \
		.min_ns = 500ULL * 1000000, .max_ns = 300ULL * 1000000000, .max_attempts = 10 })

/* n_failures: attempts that failed in a row, ≥ 1. `random` is any 64 random bits. `server_wait_ns`
 * is what Retry-After asked for (0: nothing): never less is waited, but never more than max. */
uint64_t backoff_wait_ns(const struct backoff_options *options, unsigned int n_failures,
			 uint64_t random, uint64_t server_wait_ns);

bool backoff_has_attempt(const struct backoff_options *options, unsigned int n_attempts);

#endif
