/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoints of this kernel. */
#include "agent/sample/tracepoint.h"

#include <errno.h>
#include <string.h>

#include "agent/sample/tracefs.h"
#include "agent/util/cleanup.h"

int tracepoint_open(struct buf *why)
{
	int fd = tracefs_open();

	if (fd < 0)
		(void)buf_printf(
			why,
			"tracepoints cannot be looked up: tracefs is not mounted here, and "
			"mounting it failed (%s); mount -t tracefs "
			"nodev /sys/kernel/tracing, in a container the host's /sys/kernel/tracing",
			strerror(-fd));
	return fd;
}

int tracepoint_id(int tracefs_fd, const struct tracepoint_name *name, struct buf *why,
		  uint64_t *ret_id)
{
	int r = tracefs_event_id(tracefs_fd, name->group, name->name, ret_id);

	if (r == -ENOENT)
		(void)buf_printf(why,
				 "this kernel has no tracepoint %s:%s; available_events in "
				 "/sys/kernel/tracing lists all",
				 name->group, name->name);
	return r;
}

int tracepoint_check(const char *const *names, size_t n, struct buf *why)
{
	_cleanup_close_ int fd = n > 0 ? tracepoint_open(why) : -1;

	if (n > 0 && fd < 0)
		return fd;
	for (size_t i = 0; i < n; i++) {
		struct tracepoint_name name;
		uint64_t ignored;
		int r = tracepoint_name_parse(names[i], &name, why);

		if (r < 0)
			return r;
		r = tracepoint_id(fd, &name, why, &ignored);
		if (r < 0)
			return r;
	}
	return 0;
}
