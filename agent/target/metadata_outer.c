/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers in containers (kind, Docker in LXC): their runtime's records are in the outer one's root.
 *
 * A container's first process is a child of its runtime's monitor (containerd's shim, conmon), which has the runtime's root. So the first
 * ancestor with another root than the process's own has it; on a plain host that root is the host's, where was looked already.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "agent/process/proc_stat.h"
#include "agent/target/container_metadata_private.h"
#include "agent/util/file.h"
#include "agent/util/foreign_file.h"

/* Ancestors looked at: a program, its shells and its init. */
#define ANCESTORS_MAX 16
/* As PROC_STAT_MAX: 52 numbers of at most 20 digits and a name. */
#define STAT_MAX_BYTES 2048

struct root_id {
	dev_t device;
	ino_t inode;
};

static bool root_id_equal(struct root_id a, struct root_id b)
{
	return a.device == b.device && a.inode == b.inode;
}

static bool root_id_of_fd(int fd, struct root_id *ret_id)
{
	struct stat st;

	if (fd < 0 || foreign_stat(fd, &st) < 0)
		return false;
	*ret_id = (struct root_id){ st.st_dev, st.st_ino };
	return true;
}

/* A descriptor or -errno. */
static int open_root(const struct metadata_files *files, uint32_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "%u/root", pid);
	int fd = openat(files->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* 0: none. */
static uint32_t parent_of(const struct metadata_files *files, uint32_t pid)
{
	_cleanup_buf_ struct buf b = BUF_INIT(STAT_MAX_BYTES);
	struct proc_stat stat;
	char path[32];

	(void)snprintf(path, sizeof(path), "%u/stat", pid);
	if (file_read(files->proc_fd, path, &b) < 0 ||
	    proc_stat_parse((struct str){ buf_str(&b), b.len }, &stat) < 0)
		return 0;
	return stat.parent_pid;
}

/* The root of the first ancestor that has another one than `own`. A descriptor, or −1. */
static int open_monitors_root(const struct metadata_files *files, uint32_t pid, struct root_id own)
{
	for (unsigned int i = 0; i < ANCESTORS_MAX; i++) {
		struct root_id theirs;

		pid = parent_of(files, pid);
		if (pid == 0)
			return -1;
		_cleanup_close_ int fd = open_root(files, pid);
		if (!root_id_of_fd(fd, &theirs))
			return -1;
		if (!root_id_equal(theirs, own))
			return TAKE_FD(fd);
	}
	return -1;
}

bool metadata_open_outer(const struct metadata_look *look, struct metadata_files *ret_files)
{
	const struct metadata_files *files = look->files;
	struct root_id own, host, theirs;

	if (look->pid == 0 || files->proc_fd < 0 || !root_id_of_fd(files->root_fd, &host))
		return false;
	_cleanup_close_ int own_fd = open_root(files, look->pid);
	if (!root_id_of_fd(own_fd, &own) || root_id_equal(own, host))
		return false;
	_cleanup_close_ int fd = open_monitors_root(files, look->pid, own);
	if (!root_id_of_fd(fd, &theirs) || root_id_equal(theirs, host))
		return false;
	*ret_files = (struct metadata_files){
		.root_fd = TAKE_FD(fd), .proc_fd = -1, .is_foreign = true, .pid = look->pid
	};
	return true;
}
