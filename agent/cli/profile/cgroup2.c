/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of the unified cgroup hierarchy. */
#include "agent/cli/profile/cgroup2.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <string.h>
#include <sys/vfs.h>

#include "agent/util/str.h"

#define MOUNT_LINE_BYTES (3 * PATH_MAX)

int cgroup2_find_mount(FILE *mounts, struct buf *ret_path)
{
	_cleanup_free_ char *line = malloc(MOUNT_LINE_BYTES);
	struct mntent m;

	if (!line)
		return -ENOMEM;
	while (getmntent_r(mounts, &m, line, MOUNT_LINE_BYTES))
		if (strcmp(m.mnt_type, "cgroup2") == 0)
			return buf_append_str(ret_path, m.mnt_dir);
	return -ENODEV;
}

static int own_mount(struct buf *ret_path)
{
	_cleanup_fclose_ FILE *mounts = setmntent("/proc/self/mounts", "re");

	return mounts ? cgroup2_find_mount(mounts, ret_path) : -errno;
}

/* As it is, else below the mount point: systemctl and /proc/PID/cgroup show paths from there. */
static int open_path(const char *path, int *ret_fd)
{
	_cleanup_buf_ struct buf below = BUF_INIT(PATH_MAX);
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd < 0) {
		int r = path[0] == '/' ? -errno : -ENOENT;

		if (r != -ENOENT || own_mount(&below) < 0)
			return r;
		(void)buf_printf(&below, "/%s", path);
		fd = open(buf_str(&below), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	*ret_fd = fd;
	return 0;
}

int cgroup2_open(const char *path, struct buf *why, int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	struct statfs fs;
	int r = open_path(path, &fd);

	if (r == 0 && fstatfs(fd, &fs) < 0)
		r = -errno;
	if (r < 0) {
		(void)buf_printf(why, "cannot open cgroup %s: %s", path, strerror(-r));
		return r;
	}
	if (fs.f_type != CGROUP2_SUPER_MAGIC) {
		(void)buf_printf(why, "%s is %s: ", path,
				 fs.f_type == CGROUP_SUPER_MAGIC ? "a directory of cgroup v1"
								 : "no cgroup directory");
		(void)buf_append_str(
			why,
			"the kernel filters by directories of the unified hierarchy (cgroup2)");
		return -EINVAL;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}
