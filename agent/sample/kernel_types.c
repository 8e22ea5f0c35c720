/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel's types, as far as they are asked for. */
#include "agent/sample/kernel_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/sample/btf_subset.h"
#include "agent/util/cleanup.h"
#include "agent/util/file.h"

#define KERNEL_PATH "/sys/kernel/btf/vmlinux"
/* A kernel with everything built in has 10 MB. */
#define MAX_KERNEL_BYTES ((size_t)64 << 20)
/* 20 KB are usual. */
#define MAX_SUBSET_BYTES ((size_t)4 << 20)

int kernel_types_new(char path[static KERNEL_TYPES_PATH_BYTES])
{
	int fd = memfd_create("xagent-kernel-types", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	(void)snprintf(path, KERNEL_TYPES_PATH_BYTES, "/proc/self/fd/%d", fd);
	return fd;
}

/* Memory for n more bytes, at once: page by page, as reading comes to them, takes longer than the reading. */
static int reserve_pages(struct buf *b, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	int r = buf_reserve(b, n);

	if (r < 0)
		return r;
	uintptr_t begin = ((uintptr_t)b->data + b->len + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)b->data + b->len + n) & ~(page - 1);
	/* Only a hint. */
	if (begin < end)
		(void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
	return 0;
}

static int read_kernel(struct buf *b)
{
	_cleanup_close_ int fd = open(KERNEL_PATH, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	int r = st.st_size > 0 ? reserve_pages(b, (size_t)st.st_size) : 0;
	return r < 0 ? r : file_read_fd(fd, b);
}

int kernel_types_fill(int fd, struct str object)
{
	_cleanup_buf_ struct buf kernel = BUF_INIT(MAX_KERNEL_BYTES);
	_cleanup_buf_ struct buf subset = BUF_INIT(MAX_SUBSET_BYTES);
	int r = read_kernel(&kernel);

	if (r < 0)
		return r;
	r = btf_subset((struct str){ kernel.data, kernel.len }, object, &subset);
	if (r < 0)
		return r;
	return file_write_fd(fd, subset.data, subset.len);
}
