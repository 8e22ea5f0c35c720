/* SPDX-License-Identifier: Apache-2.0 */
/* What all perf events of a CPU have in common. */
#include "agent/util/perf_event.h"

#include <unistd.h>

bool perf_event_is_dead(int fd, uint64_t *enabled_ns)
{
	struct {
		uint64_t count;
		uint64_t enabled_ns;
	} now;

	if (read(fd, &now, sizeof(now)) != (ssize_t)sizeof(now))
		return false;
	bool stands = now.enabled_ns == *enabled_ns;
	*enabled_ns = now.enabled_ns;
	return stands;
}
