/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc shows of one thread. */
#include "agent/cli/threads/thread_state.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "agent/process/proc.h"
#include "agent/process/proc_stat.h"
#include "agent/util/file.h"
#include "agent/util/str.h"

int thread_read(uint32_t pid, uint32_t tid, const char *name, struct buf *text)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", pid, tid, name);
	return file_read(AT_FDCWD, path, text);
}

enum thread_state thread_state(uint32_t pid, uint32_t tid)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROC_STAT_MAX);
	struct proc_stat stat;

	if (thread_read(pid, tid, "stat", &b) < 0 ||
	    proc_stat_parse((struct str){ buf_str(&b), b.len }, &stat) < 0 ||
	    proc_stat_is_dead(&stat))
		return THREAD_DEAD;
	return stat.state == 'D' ? THREAD_UNINTERRUPTIBLE : THREAD_LIVE;
}

void thread_name(uint32_t pid, uint32_t tid, char *ret_name, size_t n)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROC_COMM_MAX);

	assert(n > 0);
	(void)thread_read(pid, tid, "comm", &b);
	str_copy_utf8(ret_name, n, str_trim((struct str){ buf_str(&b), b.len }));
}
