/* SPDX-License-Identifier: Apache-2.0 */
/* A file with other contents and all else as it was. */
#include "agent/cli/config/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "agent/util/file.h"
#include "agent/util/str.h"

#define MODE_BITS 07777

/* POSIX ACLs, as acl(5) has them in an extended attribute. */
#define ACL_NAME "system.posix_acl_access"

/* What a rename would lose: further names of the same file, and a list of who may read it. */
static bool is_more_than_a_name(int fd, const struct stat *st)
{
	return st->st_nlink > 1 || fgetxattr(fd, ACL_NAME, NULL, 0) > 0;
}

/* Answers of a system that does not let this name be replaced. A full disk is none: it would not hold the new contents in place either. */
static bool is_unreplaceable(int r)
{
	return r == -EACCES || r == -EPERM || r == -EROFS || r == -EBUSY || r == -EXDEV ||
	       r == -ENAMETOOLONG;
}

static int put_temporary_name(struct buf *out, const char *path)
{
	struct str base = str_basename(str_from(path));

	/* Hidden, and of no ending that a folder of configurations is searched for. */
	return buf_printf(out, "%.*s.%s.XXXXXX", (int)(base.p - path), path, base.p) < 0
		       ? -ENAMETOOLONG
		       : 0;
}

/* The owner first: a change of owner takes away bits of the mode. */
static int write_like(int fd, const struct stat *st, const struct buf *text)
{
	if (fchown(fd, st->st_uid, st->st_gid) < 0 || fchmod(fd, st->st_mode & MODE_BITS) < 0)
		return -errno;
	int r = file_write_fd(fd, buf_str(text), text->len);

	/* Else a crash could leave the name with nothing in it. */
	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

static int replace(const char *path, const struct stat *st, const struct buf *after)
{
	_cleanup_buf_ struct buf temporary = BUF_INIT(PATH_MAX);
	int r = put_temporary_name(&temporary, path);

	if (r < 0)
		return r;
	_cleanup_close_ int fd = mkostemp(temporary.data, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write_like(fd, st, after);
	if (r == 0 && rename(temporary.data, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(temporary.data);
	return r;
}

static int write_whole(int fd, const struct buf *text)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	int r = file_write_fd(fd, buf_str(text), text->len);

	return r == 0 && ftruncate(fd, (off_t)text->len) < 0 ? -errno : r;
}

static int write_in_place(int fd, const struct buf *before, const struct buf *after)
{
	int r = write_whole(fd, after);

	if (r < 0)
		(void)write_whole(fd, before);
	return r;
}

int rewrite_file(const char *path, const struct buf *before, const struct buf *after)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	struct stat st;

	if (!real || stat(real, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	/* Opened though it may not be needed: who may not write to the file may not replace it either. */
	_cleanup_close_ int fd = open(real, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	int r = is_more_than_a_name(fd, &st) ? -EPERM : replace(real, &st, after);

	return is_unreplaceable(r) ? write_in_place(fd, before, after) : r;
}
