/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process, by the page. */
#include "agent/cli/thread_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

static int read_all(uint32_t tid, uint64_t addr, void *dst, size_t n)
{
	struct iovec local = { .iov_base = dst, .iov_len = n };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)addr, .iov_len = n };
	ssize_t got = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);

	if (got < 0)
		return -errno;
	return (size_t)got == n ? 0 : -EFAULT;
}

static bool hold(struct thread_memory *m, uint64_t page)
{
	if (m->page == page && page != 0)
		return true;
	m->page = read_all(m->tid, page, m->bytes, sizeof(m->bytes)) == 0 ? page : 0;
	return m->page != 0;
}

int thread_memory_read(struct thread_memory *m, uint64_t addr, void *dst, size_t n)
{
	uint64_t at = addr % WIRE_PAGE_BYTES;

	if (n > WIRE_PAGE_BYTES - at)
		return read_all(m->tid, addr, dst, n);
	if (!hold(m, addr - at))
		return -EFAULT;
	memcpy(dst, m->bytes + at, n);
	return 0;
}
