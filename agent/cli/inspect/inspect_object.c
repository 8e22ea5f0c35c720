/* SPDX-License-Identifier: Apache-2.0 */
/* A file to look at. */
#include "agent/cli/inspect/inspect_object.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "agent/object/debug_file.h"

static int fail(struct buf *why, const char *path, int r, const char *text)
{
	(void)buf_printf(why, "%s: %s", path, text);
	return r;
}

static int open_file(struct inspect_object *o, const char *path, struct bytes *ret_bytes)
{
	/* A FIFO must not hold us up; what is no regular file is refused next. */
	o->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return o->fd < 0 ? -errno : bytes_from_fd(o->fd, ret_bytes);
}

static int open_elf(struct inspect_object *o, const char *path, struct buf *why)
{
	struct bytes bytes;
	int r = open_file(o, path, &bytes);

	if (r == -EINVAL)
		return fail(why, path, r, "not a regular file");
	if (r < 0)
		return fail(why, path, r, strerror(-r));
	r = elf_new(bytes, &o->elf);
	if (r < 0)
		return fail(why, path, r, strerror(-r));
	switch ((enum elf_outcome)r) {
	case ELF_NOT_ELF:
		return fail(why, path, -EINVAL, "not an ELF file");
	case ELF_MALFORMED:
		return fail(why, path, -EINVAL, "ELF headers that contradict themselves");
	case ELF_FOREIGN:
		return fail(why, path, -EINVAL, "an ELF file of the other byte order");
	case ELF_OUTCOME_MAX:
		break;
	}
	return 0;
}

/* Without one there may be fewer names and rules, and nothing is wrong. */
static void open_debug(struct inspect_object *o, const char *path)
{
	_cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *real = realpath(path, NULL);
	struct bytes bytes;

	if (root_fd < 0 || !real || debug_file_open(o->elf, root_fd, real, &o->debug_fd) != 0)
		return;
	if (bytes_from_fd(o->debug_fd, &bytes) == 0)
		(void)elf_new(bytes, &o->debug);
}

int inspect_object_open(struct inspect_object *o, const char *path, struct buf *why)
{
	assert(o->fd < 0 && !o->elf);

	int r = open_elf(o, path, why);

	if (r < 0)
		return r;
	open_debug(o, path);
	return 0;
}

void inspect_object_fini(struct inspect_object *o)
{
	elf_free(o->debug);
	elf_free(o->elf);
	cleanup_close_p(&o->debug_fd);
	cleanup_close_p(&o->fd);
	*o = INSPECT_OBJECT_INIT;
}
