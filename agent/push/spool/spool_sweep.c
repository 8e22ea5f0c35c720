/* SPDX-License-Identifier: Apache-2.0 */
/* Spools of endpoints that are in no configuration any more. */
#include "agent/push/spool/spool_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/push/spool/spool_scan.h"
#include "agent/util/clock.h"
#include "agent/util/cleanup.h"
#include "agent/util/str.h"

/* Hex digits of a directory's name. */
#define NAME_CHARS 16
/* There is one for each endpoint that ever was. */
#define MAX_DIRECTORIES 4096

static bool is_older(const struct stat *st, uint64_t before_ns)
{
	return st->st_mtim.tv_sec >= 0 && (uint64_t)st->st_mtim.tv_sec < before_ns / NS_PER_S;
}

static DIR *open_list(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

static void sweep_segment(int dir_fd, const char *name, uint64_t before_ns,
			  struct spool_swept *swept)
{
	uint64_t id;
	struct stat st;

	if (!spool_name_parse(name, &id) || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || !is_older(&st, before_ns) ||
	    unlinkat(dir_fd, name, 0) < 0)
		return;
	swept->n_segments++;
	swept->n_bytes += (uint64_t)st.st_size;
}

static void sweep_segments(int dir_fd, uint64_t before_ns, struct spool_swept *swept)
{
	DIR *list = open_list(dir_fd);

	if (!list)
		return;
	for (struct dirent *e; (e = readdir(list));)
		sweep_segment(dir_fd, e->d_name, before_ns, swept);
	(void)closedir(list);
}

/* Who opens one locks it. A directory that has not changed for so long is nobody's who has just opened it and will lock it. */
static void sweep_directory(int parent_fd, const char *name, uint64_t before_ns,
			    struct spool_swept *swept)
{
	_cleanup_close_ int fd =
		openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	sweep_segments(fd, before_ns, swept);
	if (is_older(&st, before_ns))
		(void)unlinkat(parent_fd, name, AT_REMOVEDIR);
}

static bool is_name(const char *name)
{
	return strlen(name) == NAME_CHARS && strspn(name, "0123456789abcdef") == NAME_CHARS;
}

void spool_sweep(const char *path, uint64_t before_ns, struct spool_swept *ret_swept)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : open_list(fd);
	size_t n = 0;

	*ret_swept = (struct spool_swept){ 0 };
	if (!list)
		return;
	for (struct dirent *e; n < MAX_DIRECTORIES && (e = readdir(list)); n++)
		if (is_name(e->d_name))
			sweep_directory(fd, e->d_name, before_ns, ret_swept);
	(void)closedir(list);
}
