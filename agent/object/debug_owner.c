/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a separate debug file may tell of an object. */
#include "agent/object/debug_owner.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include "agent/util/foreign_file.h"

bool debug_owner_may_tell(const struct stat *object, const struct stat *debug)
{
	mode_t more = debug->st_mode & ~object->st_mode;

	if (debug->st_uid != 0 && debug->st_uid != object->st_uid)
		return false;
	if ((debug->st_mode & S_IWGRP) && ((more & S_IWGRP) || debug->st_gid != object->st_gid))
		return false;
	return !(more & S_IWOTH);
}

/* Where statfs(2) does not tell it is as good as one. */
static bool is_on_fuse(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || (uint32_t)fs.f_type == FUSE_SUPER_MAGIC;
}

bool debug_owner_may_tell_fd(int object_fd, int debug_fd)
{
	struct stat object, debug;

	if (object_fd < 0)
		return true;
	if (foreign_stat(object_fd, &object) < 0 || foreign_stat(debug_fd, &debug) < 0)
		return false;
	if (object.st_dev != debug.st_dev && is_on_fuse(debug_fd))
		return false;
	return debug_owner_may_tell(&object, &debug);
}
