/* SPDX-License-Identifier: Apache-2.0 */
/* One number of /proc/PID/status. */
#include "agent/cli/proc_status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "agent/util/buf.h"
#include "agent/util/file.h"
#include "agent/util/str.h"

/* Some 1.5 KiB, and the list of supplementary groups: at most 65536 of 11 bytes. */
#define STATUS_MAX_BYTES ((size_t)1 << 20)

int proc_status_number(uint32_t tid, const char *key, uint32_t *ret_number)
{
	_cleanup_buf_ struct buf b = BUF_INIT(STATUS_MAX_BYTES);
	char path[sizeof("/proc/4294967295/status")];
	struct str k = str_from(key), rest, line;
	uint64_t number;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tid);
	if (file_read(AT_FDCWD, path, &b) < 0)
		return -ESRCH;
	rest = (struct str){ b.data, b.len };
	while (str_split(&rest, '\n', &line)) {
		if (!str_starts_with(line, k))
			continue;
		line = str_trim((struct str){ line.p + k.n, line.n - k.n });
		if (str_scan_u64(&line, 10, UINT32_MAX, &number) < 0)
			return -ESRCH;
		*ret_number = (uint32_t)number;
		return 0;
	}
	return -ESRCH;
}
