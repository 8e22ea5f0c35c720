/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before the next attempt. */
#include "agent/push/backoff.h"

static uint64_t backoff_doubled(uint64_t ns, unsigned int times, uint64_t max_ns)
{
	for (; times > 0 && ns < max_ns; times--)
		ns = ns > max_ns / 2 ? max_ns : ns * 2;
	return ns < max_ns ? ns : max_ns;
}

uint64_t backoff_wait_ns(const struct backoff_options *options, unsigned int n_failures,
			 uint64_t random, uint64_t server_wait_ns)
{
	uint64_t low = backoff_doubled(options->min_ns, n_failures > 0 ? n_failures - 1 : 0,
				       options->max_ns);
	uint64_t high = backoff_doubled(low, 1, options->max_ns);
	uint64_t wait = high > low ? low + random % (high - low) : low;

	if (wait < server_wait_ns)
		wait = server_wait_ns;
	return wait < options->max_ns ? wait : options->max_ns;
}

bool backoff_has_attempt(const struct backoff_options *options, unsigned int n_attempts)
{
	return options->max_attempts == 0 || n_attempts < options->max_attempts;
}
