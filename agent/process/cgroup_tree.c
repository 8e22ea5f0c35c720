/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the number of a control group to its path.
 *
 * The number is a file handle: the kernel opens the directory by it wherever it lies in the tree, and tells its path. That needs
 * CAP_DAC_READ_SEARCH in the initial user namespace, and kernfs with 64-bit numbers (Linux 5.5). Where it is refused the tree is walked.
 *
 * A container sees the tree from its own place on. The host's mount is told by the inode of its directory: that of the hierarchy's root
 * is 1 (kernfs counts from there, and the root comes first).
 */
#include "agent/process/cgroup_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "agent/process/cgroup_walk.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define CGROUP_ROOT_INODE 1
/* Somebody may mount a hierarchy of version 1 beside, which says more. */
#define CGROUP_AGREED_NS (10 * NS_PER_S)
/* enum fid_type of include/linux/exportfs.h, which is not for user space. */
#define FILEID_KERNFS 0xfe
/* A host has some thirty lines; one with 1,000 containers some 10,000 of 200 bytes. */
#define MOUNTINFO_MAX_BYTES ((size_t)4 << 20)

struct cgroup_tree {
	int mount_fd;
	char *mount_path; /* as /proc/self/fd shows it */
	bool by_handle;
	struct cgroup_walk walk;
};

static int link_of_fd(int fd, char ret_link[static PATH_MAX])
{
	char name[32];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(name, ret_link, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	ret_link[n] = '\0';
	return 0;
}

/* A directory or -errno. */
static int open_handle(int mount_fd, uint64_t cgroup_id)
{
	_Alignas(struct file_handle) char room[sizeof(struct file_handle) + sizeof(cgroup_id)];
	struct file_handle *handle = (struct file_handle *)room;

	handle->handle_bytes = sizeof(cgroup_id);
	handle->handle_type = FILEID_KERNFS;
	memcpy(handle->f_handle, &cgroup_id, sizeof(cgroup_id));
	int fd = open_by_handle_at(mount_fd, handle, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool may_open_handles(int mount_fd)
{
	struct stat st;

	if (fstat(mount_fd, &st) < 0)
		return false;
	_cleanup_close_ int fd = open_handle(mount_fd, st.st_ino);
	return fd >= 0;
}

static bool is_cgroup2(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static bool is_hierarchy_root(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == CGROUP_ROOT_INODE;
}

/* The best directory so far: the hierarchy's root, else the first of the hierarchy. */
static void consider(const char *path, int *best)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || !is_cgroup2(fd))
		return;
	if (*best >= 0 && (is_hierarchy_root(*best) || !is_hierarchy_root(fd)))
		return;
	cleanup_close_p(best);
	*best = TAKE_FD(fd);
}

/* Line = id parent device root mount-point options { field } "-" type …; paths have blanks as \040: such a mount point is not asked. */
static bool mount_point(struct str line, char ret_path[static PATH_MAX])
{
	struct str field, point = { NULL, 0 };

	for (int i = 0; i < 5 && str_split(&line, ' ', &field); i++)
		point = field;
	while (str_split(&line, ' ', &field) && !str_eq(field, STR_LIT("-")))
		;
	if (!str_split(&line, ' ', &field) || !str_eq(field, STR_LIT("cgroup2")) ||
	    point.n >= PATH_MAX)
		return false;
	memcpy(ret_path, point.p, point.n);
	ret_path[point.n] = '\0';
	return true;
}

static void consider_mounts(int *best)
{
	_cleanup_buf_ struct buf b = BUF_INIT(MOUNTINFO_MAX_BYTES);
	char path[PATH_MAX];
	struct str line;

	/* What is too much is left out. */
	(void)file_read(AT_FDCWD, "/proc/self/mountinfo", &b);
	struct str text = { buf_str(&b), b.len };
	while ((*best < 0 || !is_hierarchy_root(*best)) && str_split(&text, '\n', &line))
		if (mount_point(line, path))
			consider(path, best);
}

/* Where a host's tree is for who sits in a container of it: pid 1's, when pids are the host's; mounted by hand. */
static int find_mount(void)
{
	static const char *const elsewhere[] = {
		"/proc/1/root/sys/fs/cgroup",
		"/proc/1/root/sys/fs/cgroup/unified",
		"/host/sys/fs/cgroup",
		"/host/sys/fs/cgroup/unified",
	};
	int best = -1;

	consider_mounts(&best);
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere) && (best < 0 || !is_hierarchy_root(best)); i++)
		consider(elsewhere[i], &best);
	return best < 0 ? -ENOENT : best;
}

static int open_mount(const char *mount)
{
	if (!mount)
		return find_mount();
	int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cgroup_tree_new(const char *mount, struct cgroup_tree **ret_tree)
{
	char path[PATH_MAX];
	_cleanup_(cgroup_tree_freep) struct cgroup_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	cgroup_walk_init(&t->walk, CGROUP_WALK_MAX);
	t->mount_fd = open_mount(mount);
	if (t->mount_fd < 0)
		return t->mount_fd;
	int r = link_of_fd(t->mount_fd, path);
	if (r < 0)
		return r;
	t->mount_path = strdup(path);
	if (!t->mount_path)
		return -ENOMEM;
	t->by_handle = may_open_handles(t->mount_fd);
	*ret_tree = TAKE_PTR(t);
	return 0;
}

void cgroup_tree_free(struct cgroup_tree *t)
{
	if (!t)
		return;
	cgroup_walk_fini(&t->walk);
	cleanup_close_p(&t->mount_fd);
	free(t->mount_path);
	free(t);
}

/* Below the mount, "" for itself. A directory above it, or beside it, has a path that does not begin with the mount's. */
static const char *below(const struct cgroup_tree *t, const char *path)
{
	size_t n = strlen(t->mount_path);

	if (strncmp(path, t->mount_path, n) != 0 || (path[n] != '\0' && path[n] != '/'))
		return NULL;
	return str_ends_with(str_from(path), STR_LIT(" (deleted)")) ? NULL : path + n;
}

/* No directory of this file system is ever renamed, and no number given again: what was found once holds. */
static int path_by_handle(struct cgroup_tree *t, uint64_t cgroup_id, struct buf *out)
{
	char path[PATH_MAX];
	int r = cgroup_walk_known(&t->walk, cgroup_id, out);

	if (r != -ENOENT)
		return r;
	_cleanup_close_ int fd = open_handle(t->mount_fd, cgroup_id);
	if (fd == -ESTALE)
		return -ENOENT;
	r = fd < 0 ? fd : link_of_fd(fd, path);
	if (r < 0)
		return r;
	const char *found = below(t, path);
	if (!found)
		return -ENOENT;
	cgroup_walk_remember(&t->walk, cgroup_id, found);
	return buf_append_str(out, found[0] ? found : "/");
}

int cgroup_tree_path(struct cgroup_tree *t, uint64_t cgroup_id, struct buf *out)
{
	if (cgroup_id == 0)
		return -ENOENT;
	if (t->by_handle)
		return path_by_handle(t, cgroup_id, out);
	return cgroup_walk_path(&t->walk, t->mount_fd, cgroup_id, clock_mono_ns(), out);
}

void cgroup_tree_agree(struct cgroup_tree *t, uint64_t cgroup_id)
{
	cgroup_walk_agree(&t->walk, cgroup_id, clock_mono_ns() + CGROUP_AGREED_NS);
}

bool cgroup_tree_is_agreed(const struct cgroup_tree *t, uint64_t cgroup_id)
{
	return clock_mono_ns() < cgroup_walk_agreed_until(&t->walk, cgroup_id);
}
