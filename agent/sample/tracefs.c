/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of its tracepoints. */
#include "agent/sample/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/str.h"

static const char *const mount_points[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* The directory is there on hosts where nothing is mounted, too. */
static int open_mounted(const char *path)
{
	_cleanup_close_ int fd = open(path, O_DIRECTORY | O_PATH | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	return fs.f_type == TRACEFS_MAGIC ? TAKE_FD(fd) : -ENOENT;
}

/* Linux 5.2 */
static int mount_detached(void)
{
	_cleanup_close_ int fs_fd = fsopen("tracefs", FSOPEN_CLOEXEC);

	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	int fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	return fd < 0 ? -errno : fd;
}

int tracefs_open(void)
{
	for (size_t i = 0; i < sizeof(mount_points) / sizeof(mount_points[0]); i++) {
		int fd = open_mounted(mount_points[i]);

		if (fd >= 0)
			return fd;
	}
	return mount_detached();
}

int tracefs_event_id(int tracefs_fd, const char *group, const char *name, uint64_t *ret_id)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64);
	char path[256];

	(void)snprintf(path, sizeof(path), "events/%s/%s/id", group, name);
	int r = file_read(tracefs_fd, path, &text);
	if (r < 0)
		return r;
	return str_parse_u64(str_trim((struct str){ buf_str(&text), text.len }), 10, UINT64_MAX,
			     ret_id);
}
