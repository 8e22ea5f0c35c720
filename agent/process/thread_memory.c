/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of another process, by the page.
 *
 * A page of a file that a server has (FUSE, NFS) comes when the server answers, which may be never: readers fetch it, and it is given up after
 * a while.
 */
#include "agent/process/thread_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "agent/util/macro.h"
#include "agent/util/reader.h"

struct page_call {
	struct reader_call call;
	uint32_t tid;
	uint64_t page;
	bool is_read;
	uint8_t bytes[WIRE_PAGE_BYTES];
};

static void page_run(struct reader_call *call)
{
	struct page_call *c = CONTAINER_OF(call, struct page_call, call);
	struct iovec local = { .iov_base = c->bytes, .iov_len = sizeof(c->bytes) };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)c->page,
				.iov_len = sizeof(c->bytes) };

	c->is_read = process_vm_readv((pid_t)c->tid, &local, 1, &remote, 1, 0) ==
		     (ssize_t)sizeof(c->bytes);
}

static void page_free(struct reader_call *call)
{
	free(CONTAINER_OF(call, struct page_call, call));
}

static bool fetch(struct thread_memory *m, uint64_t page)
{
	const struct reader_subject subject = { .reason = READER_memory, .pid = m->pid };
	struct page_call *c = calloc(1, sizeof(*c));

	if (!c)
		return false;
	c->call = (struct reader_call){ .run = page_run, .free = page_free };
	c->tid = m->tid;
	c->page = page;
	int r = reader_run(&c->call, &subject);
	m->unanswered |= r == -ETIMEDOUT || r == -EHOSTDOWN;
	if (r < 0)
		return false;
	bool is_read = c->is_read;
	memcpy(m->bytes, c->bytes, sizeof(m->bytes));
	page_free(&c->call);
	return is_read;
}

static bool hold(struct thread_memory *m, uint64_t page)
{
	if (m->page == page && page != 0)
		return true;
	m->page = fetch(m, page) ? page : 0;
	return m->page != 0;
}

int thread_memory_read(struct thread_memory *m, uint64_t addr, void *dst, size_t n)
{
	for (size_t done = 0, part; done < n; done += part) {
		uint64_t at = (addr + done) % WIRE_PAGE_BYTES;

		part = MIN_OF(n - done, (size_t)(WIRE_PAGE_BYTES - at));
		if (!hold(m, addr + done - at))
			return -EFAULT;
		memcpy((char *)dst + done, m->bytes + at, part);
	}
	return 0;
}
