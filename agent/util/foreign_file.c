/* SPDX-License-Identifier: Apache-2.0 */
/* Files at paths that another user may have written. */
#include "agent/util/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"

/* Those that <linux/magic.h> leaves in their file system's own source. */
#define CONFIGFS_MAGIC 0x62656570U   /* fs/configfs/mount.c */
#define FUSECTL_MAGIC 0x65735543U    /* fs/fuse/control.c */
#define MQUEUE_MAGIC 0x19800202U     /* ipc/mqueue.c */
#define NFSD_MAGIC 0x6e667364U	     /* fs/nfsd/nfsctl.c */
#define RPC_PIPEFS_MAGIC 0x67596969U /* net/sunrpc/rpc_pipe.c */

bool foreign_is_of_kernel(uint64_t magic)
{
	static const uint32_t magics[] = {
		PROC_SUPER_MAGIC,     SYSFS_MAGIC,	 DEBUGFS_MAGIC,
		TRACEFS_MAGIC,	      CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		SECURITYFS_MAGIC,     SELINUX_MAGIC,	 SMACK_MAGIC,
		BPF_FS_MAGIC,	      BINFMTFS_MAGIC,	 DEVPTS_SUPER_MAGIC,
		NSFS_MAGIC,	      PIPEFS_MAGIC,	 SOCKFS_MAGIC,
		ANON_INODE_FS_MAGIC,  CONFIGFS_MAGIC,	 FUSECTL_MAGIC,
		MQUEUE_MAGIC,	      NFSD_MAGIC,	 RPC_PIPEFS_MAGIC,
		PSTOREFS_MAGIC,	      EFIVARFS_MAGIC,	 RDTGROUP_SUPER_MAGIC,
		OPENPROM_SUPER_MAGIC, XENFS_SUPER_MAGIC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (magics[i] == (uint32_t)magic)
			return true;
	return false;
}

int foreign_path(int root_fd, const char *path, unsigned int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (flags & FOREIGN_DIRECTORY ? O_DIRECTORY : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS |
			   (flags & FOREIGN_NO_SYMLINKS ? RESOLVE_NO_SYMLINKS : 0) |
			   (flags & FOREIGN_NO_MOUNTS ? RESOLVE_NO_XDEV : 0),
	};
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static struct timespec time_of(const struct statx_timestamp *t)
{
	return (struct timespec){ .tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec };
}

int foreign_stat(int fd, struct stat *ret_st)
{
	struct statx x;

	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
		  &x) < 0)
		return -errno;
	*ret_st = (struct stat){
		.st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
		.st_ino = x.stx_ino,
		.st_mode = x.stx_mode,
		.st_nlink = x.stx_nlink,
		.st_uid = x.stx_uid,
		.st_gid = x.stx_gid,
		.st_size = (off_t)x.stx_size,
		.st_mtim = time_of(&x.stx_mtime),
		.st_ctim = time_of(&x.stx_ctime),
	};
	return 0;
}

/* Whether the descriptor leads to what may be opened. 0 or the reason why not. */
static int check(int path_fd, uint64_t max_bytes)
{
	struct statfs fs;
	struct stat st;
	int r = foreign_stat(path_fd, &st);

	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (max_bytes && (uint64_t)st.st_size > max_bytes)
		return -EFBIG;
	if (fstatfs(path_fd, &fs) < 0)
		return -errno;
	return foreign_is_of_kernel((uint64_t)fs.f_type) ? -EMEDIUMTYPE : 0;
}

int foreign_reopen(int path_fd, uint64_t max_bytes)
{
	char link[64];
	int r = path_fd < 0 ? -EBADF : check(path_fd, max_bytes);

	if (r < 0)
		return r;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int foreign_open(int root_fd, const char *path, unsigned int flags, uint64_t max_bytes,
		 struct stat *ret_st)
{
	_cleanup_close_ int path_fd = foreign_path(root_fd, path, flags);

	if (path_fd < 0)
		return path_fd;
	_cleanup_close_ int fd = foreign_reopen(path_fd, max_bytes);
	int r = fd < 0 ? fd : ret_st ? foreign_stat(fd, ret_st) : 0;
	return r < 0 ? r : TAKE_FD(fd);
}

int foreign_read(int root_fd, const char *path, struct buf *b, struct stat *ret_st)
{
	_cleanup_close_ int fd = foreign_open(root_fd, path, 0, b->max_bytes - b->len, ret_st);
	int r = fd < 0 ? fd : file_read_fd(fd, b);

	return r == -ENOBUFS ? -EFBIG : r;
}
