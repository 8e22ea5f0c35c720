/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the unwind table of one file in the worker. */
#include "agent/unwind/object_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/object/vdso.h"
#include "agent/unwind/debug_elf.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

static int build_bytes(const struct object_build *b, struct bytes *ret_bytes)
{
	return b->fd < 0 ? vdso_image(ret_bytes) : bytes_from_fd(b->fd, ret_bytes);
}

/* Without code nothing tells what the offsets are of. */
static bool has_text(const struct elf *elf)
{
	uint64_t begin, end;

	return elf_text_range(elf, &begin, &end);
}

static int build(struct object_build *b)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(elf_freep) struct elf *debug = NULL;
	_cleanup_(unwind_info_freep) struct unwind_info *info = NULL;
	struct bytes bytes;
	int r = build_bytes(b, &bytes);

	if (r == 0)
		r = elf_new(bytes, &elf);
	if (r != 0)
		return r < 0 ? r : ROW_TABLE_NONE;
	if (!has_text(elf))
		return ROW_TABLE_TOO_LARGE;
	if (b->debug_fd >= 0)
		r = debug_elf_new(b->debug_fd, &debug);
	if (r < 0)
		return r;
	r = unwind_info_new(elf, debug, &info);
	if (r == 0)
		r = row_table_build(info, elf, b->max_bytes, &b->table);
	if (r == 0)
		b->bias = row_table_regions(b->table)->bias;
	return r;
}

static uint64_t digest(const struct object_build *b)
{
	struct siphash s;

	siphash_init(&s, &b->key);
	if (b->table)
		row_table_hash(b->table, &s);
	return siphash_finish(&s, NULL, 0);
}

static void build_run(struct worker_job *job)
{
	struct object_build *b = CONTAINER_OF(job, struct object_build, job);

	uint64_t n_failed = reader_n_failed();

	/* Sources take what they cannot read for what is not there. */
	b->result = reader_result_since(n_failed, build(b));
	b->digest = digest(b);
}

static int own_fd(int fd, int *ret_fd)
{
	if (fd < 0)
		return 0;
	*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return *ret_fd < 0 ? -errno : 0;
}

int object_build_new(const struct mapped_file *f, int debug_fd, size_t max_bytes,
		     const struct siphash_key *key, struct object_build **ret_build)
{
	_cleanup_(object_build_freep) struct object_build *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->job.run = build_run;
	b->fd = b->debug_fd = -1;
	b->max_bytes = max_bytes;
	b->key = *key;
	int r = f->vdso ? 0 : f->fd < 0 ? -EBADF : own_fd(f->fd, &b->fd);
	if (r == 0)
		r = own_fd(debug_fd, &b->debug_fd);
	if (r < 0)
		return r;
	*ret_build = TAKE_PTR(b);
	return 0;
}

void object_build_free(struct object_build *b)
{
	if (!b)
		return;
	reader_close(b->fd);
	reader_close(b->debug_fd);
	row_table_free(b->table);
	free(b);
}
