/* SPDX-License-Identifier: Apache-2.0 */
/* What all perf events of a CPU have in common. */
#include "agent/util/perf_event.h"

#include <errno.h>
#include <unistd.h>

int perf_event_enabled_ns(int fd, uint64_t *ret_ns)
{
	struct {
		uint64_t count;
		uint64_t enabled_ns;
	} now;
	ssize_t n = read(fd, &now, sizeof(now));

	if (n != (ssize_t)sizeof(now))
		return n < 0 ? -errno : -ENODATA;
	*ret_ns = now.enabled_ns;
	return 0;
}

bool perf_event_is_dead(int fd, uint64_t *enabled_ns)
{
	uint64_t now_ns = 0;

	if (perf_event_enabled_ns(fd, &now_ns) < 0)
		return false;
	bool stands = now_ns == *enabled_ns;
	*enabled_ns = now_ns;
	return stands;
}
