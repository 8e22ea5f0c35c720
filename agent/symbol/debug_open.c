/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the separate debug file of a mapped file. */
#include "agent/symbol/debug_open.h"

#include <fcntl.h>
#include <stdio.h>

#include "agent/object/debug_file.h"
#include "agent/process/file_table.h"
#include "agent/util/clock.h"

/* −1: there is none, or none that can be reached. */
static int find_below(const char *root, struct elf *elf, const char *path)
{
	_cleanup_close_ int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	if (root_fd < 0 || debug_file_open(elf, root_fd, path, &fd) != 0)
		return -1;
	return fd;
}

static int find(struct mapped_file *file, uint32_t pid)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct bytes bytes;
	char root[64];

	if (bytes_from_fd(file->fd, &bytes) < 0 || elf_new(bytes, &elf) != 0)
		return -1;
	(void)snprintf(root, sizeof(root), "/proc/%u/root", pid);
	int fd = find_below("/", elf, file->path);
	return fd >= 0 ? fd : find_below(root, elf, file->path);
}

void debug_open(struct mapped_file *file, uint32_t pid, uint64_t now_ns)
{
	if (file->vdso || file->fd < 0 || file->has_debug)
		return;
	if (file->debug_missed_ns && now_ns < file->debug_missed_ns + DEBUG_OPEN_RETRY_NS)
		return;
	int fd = find(file, pid);
	if (fd >= 0)
		mapped_file_take_debug_fd(file, fd);
	else
		file->debug_missed_ns = now_ns;
}
