/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that one user at a time has for its files. */
#include "agent/util/locked_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "agent/util/cleanup.h"

/* Every directory on the way that is not there. */
static int make_directories(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *p = copy + 1; *copy && (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	if (mkdir(copy, 0700) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

int locked_dir_open(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return TAKE_FD(fd);
}

int locked_dir_make(const char *path)
{
	int r = make_directories(path);

	return r < 0 ? r : locked_dir_open(path);
}
