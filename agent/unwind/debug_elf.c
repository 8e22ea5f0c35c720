/* SPDX-License-Identifier: Apache-2.0 */
/* The separate debug file of an object, for its unwind rules. */
#include "agent/unwind/debug_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "agent/object/cfi.h"
#include "agent/object/debug_file.h"
#include "agent/object/go_unwind.h"

static bool has_source(int (*make)(struct elf *elf, struct unwind_source **ret_source),
		       struct elf *elf)
{
	struct unwind_source *source = NULL;

	if (make(elf, &source) != 0)
		return false;
	source->free(source);
	return true;
}

/* Most debug files have lines and types only. */
static bool has_rules(int fd)
{
	_cleanup_(elf_freep) struct elf *debug = NULL;

	return debug_elf_new(fd, &debug) == 0 && has_source(cfi_debug_frame_new, debug);
}

static int find_below(const char *root, struct elf *elf, const char *path, int *ret_fd)
{
	_cleanup_close_ int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = root_fd < 0 ? DEBUG_FILE_NONE : debug_file_open(elf, root_fd, path, ret_fd);

	return r < 0 && r != -ENOMEM ? DEBUG_FILE_NONE : r;
}

int debug_elf_find(struct elf *elf, const struct process *p, const struct mapped_file *f,
		   int *ret_fd)
{
	const char *path = f->path ? f->path : "";
	char root[64];

	if (f->vdso || has_source(go_unwind_new, elf))
		return DEBUG_FILE_NONE;
	(void)snprintf(root, sizeof(root), "/proc/%u/root", p->pid);
	int r = find_below(root, elf, path, ret_fd);
	if (r == DEBUG_FILE_NONE)
		r = find_below("/", elf, path, ret_fd);
	if (r != 0 || has_rules(*ret_fd))
		return r;
	cleanup_close_p(ret_fd);
	*ret_fd = -1;
	return DEBUG_FILE_NONE;
}

int debug_elf_new(int fd, struct elf **ret_debug)
{
	struct bytes bytes;
	int r = bytes_from_fd(fd, &bytes);

	if (r == 0)
		r = elf_new(bytes, ret_debug);
	return r > 0 ? -EBADMSG : r;
}
