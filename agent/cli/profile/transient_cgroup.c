/* SPDX-License-Identifier: Apache-2.0 */
/* A cgroup of our own for one process and its children. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/cli/profile/cgroup2.h"
#include "agent/util/file.h"
#include "agent/util/log.h"
#include "agent/util/str.h"

#define SELF_CGROUP_MAX_BYTES ((size_t)64 * 1024)
#define PROCS_MAX_BYTES ((size_t)1 << 20)
/* Who is inside may fork while being moved out. */
#define EMPTY_TRIES 16

struct transient_cgroup {
	char *path;
	int fd;
	int parent_fd;
};

/* Our own path: the line "0::/a/b". */
static int own_path(struct buf *ret_path)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SELF_CGROUP_MAX_BYTES);
	struct str rest, line;
	int r = file_read(AT_FDCWD, "/proc/self/cgroup", &b);

	rest = (struct str){ b.data, b.len };
	while (r == 0 && str_split(&rest, '\n', &line)) {
		if (!str_starts_with(line, STR_LIT("0::/")))
			continue;
		/* Outside of what we see of the hierarchy. */
		if (memmem(line.p, line.n, "/..", 3))
			return -ENOENT;
		return buf_append(ret_path, line.p + 3, line.n - 3);
	}
	return r < 0 ? r : -ENOENT;
}

static int own_directory(struct buf *ret_path)
{
	_cleanup_fclose_ FILE *mounts = setmntent("/proc/self/mounts", "re");
	int r = mounts ? cgroup2_find_mount(mounts, ret_path) : -errno;

	return r < 0 ? r : own_path(ret_path);
}

static int move(int cgroup_fd, struct str pid)
{
	_cleanup_close_ int fd = openat(cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : file_write_fd(fd, pid.p, pid.n);
}

static int move_pid(int cgroup_fd, uint32_t pid)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%" PRIu32, pid);

	return move(cgroup_fd, (struct str){ text, (size_t)n });
}

static void move_all_out(struct transient_cgroup *cgroup)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROCS_MAX_BYTES);
	struct str rest, pid;

	(void)file_read(cgroup->fd, "cgroup.procs", &b);
	rest = (struct str){ b.data, b.len };
	while (str_split(&rest, '\n', &pid))
		if (pid.n > 0)
			(void)move(cgroup->parent_fd, pid);
}

static void remove_directory(struct transient_cgroup *cgroup)
{
	int e = EBUSY;

	for (int i = 0; i < EMPTY_TRIES && e == EBUSY; i++) {
		move_all_out(cgroup);
		e = rmdir(cgroup->path) < 0 ? errno : 0;
	}
	if (e)
		log_warn("cannot remove the cgroup of the command", LOG_STR("path", cgroup->path),
			 LOG_ERR(e));
}

void transient_cgroup_free(struct transient_cgroup *cgroup)
{
	if (!cgroup)
		return;
	if (cgroup->path)
		remove_directory(cgroup);
	cleanup_close_p(&cgroup->fd);
	cleanup_close_p(&cgroup->parent_fd);
	free(cgroup->path);
	free(cgroup);
}

int transient_cgroup_fd(const struct transient_cgroup *cgroup)
{
	return cgroup->fd;
}

static int open_directory(const char *path, int *ret_fd)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/* The path is kept only of a directory that we made. A left-over of this name (its pid was ours before) is taken over. */
static int make_directory(struct transient_cgroup *cgroup, struct buf *path)
{
	if (path->failed)
		return -ENAMETOOLONG;
	if (mkdir(buf_str(path), 0755) < 0 && errno != EEXIST)
		return -errno;
	cgroup->path = buf_take(path);
	return cgroup->path ? open_directory(cgroup->path, &cgroup->fd) : -ENOMEM;
}

int transient_cgroup_new(uint32_t pid, struct transient_cgroup **ret_cgroup)
{
	_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX);
	_cleanup_(transient_cgroup_freep) struct transient_cgroup *cgroup = malloc(sizeof(*cgroup));

	if (!cgroup)
		return -ENOMEM;
	*cgroup = (struct transient_cgroup){ .fd = -1, .parent_fd = -1 };
	int r = own_directory(&path);
	if (r < 0)
		return r;
	r = open_directory(buf_str(&path), &cgroup->parent_fd);
	if (r < 0)
		return r;
	(void)buf_printf(&path, "/xagent-profile-%" PRIu32, pid);
	r = make_directory(cgroup, &path);
	if (r < 0)
		return r;
	r = move_pid(cgroup->fd, pid);
	if (r < 0)
		return r;
	*ret_cgroup = TAKE_PTR(cgroup);
	return 0;
}
