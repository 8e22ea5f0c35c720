/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as /proc/self/mountinfo. */
#include <assert.h>

#include "agent/process/host_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host_facts f = { .own_pid = 7 };

	host_facts_mounts((struct str){ (const char *)data, size }, &f);
	/* It tells of one thing, and touches no other. */
	assert(f.own_pid == 7 && !f.init_hidden && f.cgroup2 == HOST_CGROUP2_NONE);
	return 0;
}
