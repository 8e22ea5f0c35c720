/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before a server is asked again. */
#include "agent/discovery/retry.h"

#include <assert.h>

#include "agent/util/macro.h"

static uint64_t doubled(const struct retry_options *o, unsigned int times)
{
	uint64_t ns = MIN_OF(o->min_ns, o->max_ns);

	for (; times > 0 && ns < o->max_ns; times--)
		ns = ns > o->max_ns / 2 ? o->max_ns : ns * 2;
	return ns;
}

uint64_t retry_wait_ns(const struct retry_options *o, unsigned int n_failures, uint64_t random,
		       uint64_t server_wait_ns)
{
	uint64_t most = doubled(o, n_failures);
	uint64_t wait = most - random % (most / 2 + 1);
	uint64_t wanted = MIN_OF(server_wait_ns, RETRY_MAX_SERVER_WAIT_NS);

	assert(n_failures > 0);
	return MAX_OF(wait, wanted);
}
