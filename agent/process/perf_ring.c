/* SPDX-License-Identifier: Apache-2.0 */
/* The side-band event of one CPU and the ring the kernel writes its records into. */
#include "agent/process/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/process/sideband_decode.h"
#include "agent/util/macro.h"
#include "agent/util/perf_event.h"

/* Of 64 KiB that is a mapping with the longest path (PATH_MAX). */
#define CROWDED_DIVISOR 16

struct perf_ring {
	int fd;
	unsigned int cpu;
	uint64_t enabled_ns;		   /* at the last look */
	struct perf_event_mmap_page *page; /* control page, then the data */
	size_t map_bytes;
	const char *data;
	size_t data_bytes;
	bool was_full;
	bool was_crowded;
	char record[SIDEBAND_RECORD_MAX]; /* one that wraps, put together */
};

/* A software event that never counts: it exists for its records. */
static int event_open(unsigned int cpu, size_t ring_bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = SIDEBAND_SAMPLE_TYPE,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.exclude_kernel = 1, /* asks for less where perf_event_paranoid looks at it */
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)MIN_OF(ring_bytes / 2, PERF_RING_WAKE_BYTES),
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int perf_ring_open(unsigned int cpu, size_t ring_bytes, struct perf_ring **ret_ring)
{
	_cleanup_(perf_ring_closep) struct perf_ring *ring = calloc(1, sizeof(*ring));
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (!ring)
		return -ENOMEM;
	ring->cpu = cpu;
	ring->fd = event_open(cpu, ring_bytes);
	if (ring->fd < 0)
		return ring->fd;
	void *map = mmap(NULL, page_bytes + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			 ring->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	ring->page = map;
	ring->map_bytes = page_bytes + ring_bytes;
	ring->data = (const char *)map + page_bytes;
	ring->data_bytes = ring_bytes;
	*ret_ring = TAKE_PTR(ring);
	return 0;
}

void perf_ring_close(struct perf_ring *ring)
{
	if (!ring)
		return;
	if (ring->page)
		(void)munmap(ring->page, ring->map_bytes);
	if (ring->fd >= 0)
		(void)close(ring->fd);
	free(ring);
}

unsigned int perf_ring_cpu(const struct perf_ring *ring)
{
	return ring->cpu;
}

size_t perf_ring_bytes(const struct perf_ring *ring)
{
	return ring->data_bytes;
}

bool perf_ring_was_full(const struct perf_ring *ring)
{
	return ring->was_full;
}

bool perf_ring_was_crowded(const struct perf_ring *ring)
{
	return ring->was_crowded;
}

int perf_ring_fd(const struct perf_ring *ring)
{
	return ring->fd;
}

bool perf_ring_is_dead(struct perf_ring *ring)
{
	return perf_event_is_dead(ring->fd, &ring->enabled_ns);
}

/* The record at `tail` in one piece. */
static const void *record_at(struct perf_ring *ring, uint64_t tail, size_t n)
{
	size_t at = tail & (ring->data_bytes - 1);
	size_t first = ring->data_bytes - at;

	if (n <= first)
		return ring->data + at;
	memcpy(ring->record, ring->data + at, first);
	memcpy(ring->record + first, ring->data, n - first);
	return ring->record;
}

size_t perf_ring_read(struct perf_ring *ring, perf_ring_fn fn, void *data)
{
	/* Pairs with the kernel's barrier between writing records and publishing data_head
	 * (perf_output_put_handle). */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	size_t skipped = 0;

	ring->was_crowded = ring->data_bytes - (head - tail) < ring->data_bytes / CROWDED_DIVISOR;
	while (tail < head) {
		struct perf_event_header h;

		/* Records are multiples of 8 bytes, so a header never wraps. */
		memcpy(&h, ring->data + (tail & (ring->data_bytes - 1)), sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail) {
			skipped = head - tail;
			break;
		}
		if (h.type == PERF_RECORD_LOST)
			ring->was_full = true;
		fn(record_at(ring, tail, h.size), h.size, data);
		tail += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	return skipped;
}
