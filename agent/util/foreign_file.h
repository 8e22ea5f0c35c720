/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files at paths that another user may have written: below the root of a process, below somebody's home, in /tmp.
 *
 * Anything may be there by now: a FIFO that waits for a writer, a device that is armed by opening it (a watchdog), a symbolic link that
 * leads to one of these, a file of procfs or tracefs, another mount. So a path is opened with O_PATH first, which touches nothing. What is
 * there is looked at through that descriptor, and only a regular file of an ordinary file system is opened for reading, through the
 * descriptor again: what was looked at is what is opened. Every path of that kind goes through here.
 *
 * All of it may wait for a file system that does not answer (FUSE, NFS), but for foreign_stat(): see reader.h. Any thread.
 */
#ifndef XAGENT_AGENT_UTIL_FOREIGN_FILE_H
#define XAGENT_AGENT_UTIL_FOREIGN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "agent/util/buf.h"

enum foreign_flags {
	FOREIGN_NO_SYMLINKS = 1 << 0, /* in no component of the path */
	FOREIGN_NO_MOUNTS = 1 << 1,   /* on the mount that root_fd is on */
	FOREIGN_DIRECTORY = 1 << 2,   /* foreign_path() only */
};

/*
 * What `path` leads to below `root_fd`, as a process sees it that has its root there: absolute links and ".." stay inside, links of procfs
 * are not followed. An O_PATH descriptor, or -errno as openat2(2) gives it: -ELOOP (a link that is not followed), -EXDEV (another mount),
 * -ENOENT, -ENOTDIR, -EACCES …
 */
int foreign_path(int root_fd, const char *path, unsigned int flags);

/*
 * stat(2) of a descriptor, O_PATH or not, from what the kernel has: a server is not asked (AT_STATX_DONT_SYNC), so this does not wait. Size
 * and times may be some seconds old on network and FUSE file systems. Device, inode, mode, links, owner, size and times are filled, the rest
 * is 0. 0 or -errno.
 */
int foreign_stat(int fd, struct stat *ret_st);

/*
 * Opens for reading what `path_fd` (borrowed; of foreign_path(), or any other O_PATH descriptor) was found to be. max_bytes: 0 for any size.
 * A descriptor, or
 *	-EINVAL		no regular file: directory, FIFO, socket, device, the link itself
 *	-EMEDIUMTYPE	a regular file by its mode, but of the kernel (procfs, sysfs, debugfs, tracefs, cgroupfs, …): reading it may wait,
 *			have no end, or do something
 *	-EFBIG		larger than max_bytes
 *	-errno		of open(2) and the rest
 */
int foreign_reopen(int path_fd, uint64_t max_bytes);

/* Both steps. ret_st may be NULL. */
int foreign_open(int root_fd, const char *path, unsigned int flags, uint64_t max_bytes,
		 struct stat *ret_st);
/* Appends the whole file, which `b` has room for (-EFBIG: it has not). 0 or -errno. */
int foreign_read(int root_fd, const char *path, struct buf *b, struct stat *ret_st);

/* Whether a file system of this magic number (statfs(2)) has files of the kernel only. Pure. */
bool foreign_is_of_kernel(uint64_t magic);

#endif
