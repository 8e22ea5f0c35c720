/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files for unpacked sections. */
#include "agent/object/lines/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/util/cleanup.h"

/* Of what is free, the rest is other people's. */
#define FREE_SHARE 4

static bool has_room(int fd, uint64_t n_bytes)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		return false;
	return n_bytes / (uint64_t)fs.f_bsize < (uint64_t)fs.f_bavail / FREE_SHARE;
}

static int open_here(struct scratch *s, uint64_t n_bytes, int *ret_fd)
{
	_cleanup_close_ int fd = open(s->dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
									     : SCRATCH_NONE;
	if (!has_room(fd, n_bytes))
		return SCRATCH_NONE;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int scratch_open(struct scratch *s, uint64_t n_bytes, int *ret_fd)
{
	if (n_bytes > SCRATCH_FILE_MAX_BYTES || n_bytes > s->max_bytes - s->used_bytes)
		return SCRATCH_NONE;
	int r = s->open ? s->open(s->open_data, n_bytes, ret_fd) : open_here(s, n_bytes, ret_fd);
	if (r != 0)
		return r;
	s->used_bytes += n_bytes;
	s->n_opened++;
	return 0;
}

void scratch_close(struct scratch *s, int fd, uint64_t n_bytes)
{
	(void)close(fd);
	s->used_bytes -= n_bytes;
}
