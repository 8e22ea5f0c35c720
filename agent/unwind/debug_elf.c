/* SPDX-License-Identifier: Apache-2.0 */
/* The separate debug file of an object, for its unwind rules. */
#include "agent/unwind/debug_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/cfi/cfi.h"
#include "agent/object/debug_file.h"
#include "agent/object/go/go_unwind.h"
#include "agent/util/reader.h"

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

/* One call of a reader, which walks paths and reads what it finds; all that it looks at is its own. */
struct find_call {
	struct reader_call call;
	int fd;	    /* of the object; owned */
	char *path; /* owned */
	uint32_t pid;
	int found; /* owned; −1: none */
	int result;
};

static int find(const struct find_call *c, struct elf *elf, int *ret_fd)
{
	char root[64];

	(void)snprintf(root, sizeof(root), "/proc/%u/root", c->pid);
	int r = find_below(root, elf, c->path, ret_fd);
	return r == DEBUG_FILE_NONE ? find_below("/", elf, c->path, ret_fd) : r;
}

static void find_run(struct reader_call *call)
{
	struct find_call *c = CONTAINER_OF(call, struct find_call, call);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_close_ int fd = TAKE_FD(c->fd);
	_cleanup_close_ int found = -1;

	c->result = debug_elf_new(fd, &elf);
	if (c->result == 0)
		c->result = find(c, elf, &found);
	if (c->result == 0 && !has_rules(found))
		c->result = DEBUG_FILE_NONE;
	if (c->result == 0)
		c->found = TAKE_FD(found);
}

static void find_free(struct reader_call *call)
{
	struct find_call *c = CONTAINER_OF(call, struct find_call, call);

	reader_close(c->fd);
	reader_close(c->found);
	free(c->path);
	free(c);
}

static int find_new(const struct process *p, const struct mapped_file *f,
		    struct find_call **ret_call)
{
	struct find_call *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = (struct find_call){
		.call = { .run = find_run, .free = find_free },
		.fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0),
		.path = strdup(f->path ? f->path : ""),
		.pid = p->pid,
		.found = -1,
	};
	if (!c->path || c->fd < 0) {
		int r = c->path ? -errno : -ENOMEM;

		find_free(&c->call);
		return r;
	}
	*ret_call = c;
	return 0;
}

int debug_elf_find(struct elf *elf, const struct process *p, const struct mapped_file *f,
		   int *ret_fd)
{
	struct reader_subject subject = {
		.reason = READER_names, .pid = p->pid, .start = p->start_ticks
	};
	struct find_call *c = NULL;

	if (f->vdso || has_source(go_unwind_new, elf))
		return DEBUG_FILE_NONE;
	int r = find_new(p, f, &c);
	if (r == 0)
		r = reader_run(&c->call, &subject);
	if (r < 0)
		return r;
	r = c->result == -ENOMEM || c->result == 0 ? c->result : DEBUG_FILE_NONE;
	if (r == 0)
		*ret_fd = TAKE_FD(c->found);
	find_free(&c->call);
	return r;
}

int debug_elf_new(int fd, struct elf **ret_debug)
{
	struct bytes bytes;
	int r = bytes_from_fd(fd, &bytes);

	if (r == 0)
		r = elf_new(bytes, ret_debug);
	return r > 0 ? -EBADMSG : r;
}
