/* SPDX-License-Identifier: Apache-2.0 */
/* Where a result goes. */
#include "agent/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/file.h"
#include "agent/util/str.h"

#define TEMPORARY_SUFFIX ".tmp"
#define OUTPUT_MODE 0666 /* as open(2) of any program: the umask decides */

static int fail(struct buf *why, const char *path, int r)
{
	(void)buf_printf(why, "cannot write %s: %s", path ? path : "to standard output",
			 strerror(-r));
	return r;
}

/* To be replaced rather than written to. */
static bool is_replaceable(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

static int directory_of(const char *path, struct buf *ret_directory)
{
	struct str base = str_basename(str_from(path));
	size_t n = (size_t)(base.p - path);

	return n == 0 ? buf_append_str(ret_directory, ".") : buf_append(ret_directory, path, n);
}

static int check_path(const char *path)
{
	_cleanup_buf_ struct buf directory = BUF_INIT(PATH_MAX);
	struct stat st;
	int r;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!is_replaceable(path))
		return access(path, W_OK) < 0 ? -errno : 0;
	r = directory_of(path, &directory);
	if (r < 0)
		return r;
	if (stat(buf_str(&directory), &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return access(buf_str(&directory), W_OK) < 0 ? -errno : 0;
}

int output_check(const char *path, struct buf *why)
{
	int r = path ? check_path(path) : 0;

	return r < 0 ? fail(why, path, r) : 0;
}

static int write_at(const char *path, int flags, const void *bytes, size_t n)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | flags, OUTPUT_MODE);

	return fd < 0 ? -errno : file_write_fd(fd, bytes, n);
}

static int replace(const char *path, const void *bytes, size_t n)
{
	_cleanup_buf_ struct buf temporary = BUF_INIT(PATH_MAX);
	int r = buf_printf(&temporary, "%s%s", path, TEMPORARY_SUFFIX);

	if (r < 0)
		return -ENAMETOOLONG;
	/* Never through somebody's link, never into somebody's file. */
	(void)unlink(buf_str(&temporary));
	r = write_at(buf_str(&temporary), O_CREAT | O_EXCL, bytes, n);
	if (r == 0 && rename(buf_str(&temporary), path) < 0)
		r = -errno;
	if (r < 0 && r != -EEXIST)
		(void)unlink(buf_str(&temporary));
	return r;
}

int output_write(const char *path, const void *bytes, size_t n, struct buf *why)
{
	int r;

	if (!path)
		r = file_write_fd(STDOUT_FILENO, bytes, n);
	else if (is_replaceable(path))
		r = replace(path, bytes, n);
	else
		r = write_at(path, O_TRUNC, bytes, n);
	return r < 0 ? fail(why, path, r) : 0;
}

int output_append(const char *path, const void *bytes, size_t n, struct buf *why)
{
	int r = path ? write_at(path, O_APPEND, bytes, n) : file_write_fd(STDOUT_FILENO, bytes, n);

	return r < 0 ? fail(why, path, r) : 0;
}
