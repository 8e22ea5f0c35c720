/* SPDX-License-Identifier: Apache-2.0 */
/* The perf side-band: one ring a CPU, one queue. */
#include "agent/process/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/process/event_queue.h"
#include "agent/process/lives.h"
#include "agent/process/perf_ring.h"
#include "agent/process/sideband_decode.h"
#include "agent/util/clock.h"

#define SIDEBAND_EPOLL_EVENTS 64

struct sideband {
	size_t ring_bytes;
	struct telemetry *telemetry;
	int epoll_fd;
	struct perf_ring **rings; /* owned; ascending by CPU */
	size_t n_rings;
	struct event_queue queue;
	struct lives *lives;
	uint64_t n_overflow; /* missed since the last report: the queue was full, or a CPU came */
	uint64_t n_kernel_changes;
	uint64_t now_ns; /* of the collection under way */
};

static bool ring_bytes_valid(size_t n)
{
	return n >= (size_t)sysconf(_SC_PAGESIZE) && (n & (n - 1)) == 0 && n <= 1U << 30;
}

int sideband_new(const struct sideband_options *o, struct sideband **ret_sideband)
{
	_cleanup_(sideband_freep) struct sideband *sb = calloc(1, sizeof(*sb));
	int r;

	if (!sb)
		return -ENOMEM;
	sb->epoll_fd = -1;
	sb->telemetry = o->telemetry;
	sb->ring_bytes = o->ring_bytes ? o->ring_bytes : SIDEBAND_RING_BYTES;
	event_queue_init(&sb->queue, EVENT_QUEUE_MAX);
	if (!ring_bytes_valid(sb->ring_bytes))
		return -EINVAL;
	r = lives_new(o->proc_root ? o->proc_root : "/proc", LIVES_MAX, &sb->lives);
	if (r < 0)
		return r;
	sb->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (sb->epoll_fd < 0)
		return -errno;
	r = sideband_sync_cpus(sb, o->cpus);
	if (r < 0)
		return r;
	if (sb->n_rings == 0)
		return -ENODEV;
	sb->n_overflow = 0; /* nothing is missed before the first ring */
	*ret_sideband = TAKE_PTR(sb);
	return 0;
}

void sideband_free(struct sideband *sb)
{
	if (!sb)
		return;
	for (size_t i = 0; i < sb->n_rings; i++)
		perf_ring_close(sb->rings[i]);
	free(sb->rings);
	event_queue_fini(&sb->queue);
	lives_free(sb->lives);
	if (sb->epoll_fd >= 0)
		(void)close(sb->epoll_fd);
	free(sb);
}

int sideband_fd(const struct sideband *sb)
{
	return sb->epoll_fd;
}

static void enqueue(struct sideband *sb, const struct process_event *ev, enum sideband_outcome what,
		    uint32_t tid)
{
	if (event_queue_put(&sb->queue, ev, what, tid) < 0)
		sb->n_overflow++;
}

static void take_record(const void *record, size_t n, void *data)
{
	struct sideband *sb = data;
	struct process_event ev;
	uint32_t tid;

	enum sideband_outcome what = sideband_decode(record, n, &ev, &tid);
	switch (what) {
	case SIDEBAND_EVENT:
		if (ev.kind == PROCESS_EVENT_LOST) {
			telemetry_count(sb->telemetry, TELEMETRY_sideband_lost, ev.lost);
			sb->n_kernel_changes++;
		}
		enqueue(sb, &ev, what, tid);
		break;
	case SIDEBAND_THREAD_START:
	case SIDEBAND_THREAD_EXIT:
		enqueue(sb, &ev, what, tid);
		break;
	case SIDEBAND_KERNEL_TEXT:
		sb->n_kernel_changes++;
		break;
	case SIDEBAND_MALFORMED:
		telemetry_count(sb->telemetry, TELEMETRY_sideband_malformed, 1);
		break;
	case SIDEBAND_SKIPPED:
		break;
	}
}

static void ring_drain(struct sideband *sb, struct perf_ring *ring)
{
	if (perf_ring_read(ring, take_record, sb) > 0)
		telemetry_count(sb->telemetry, TELEMETRY_sideband_malformed, 1);
}

static void enqueue_late_end(uint32_t pid, void *data)
{
	struct sideband *sb = data;

	enqueue(sb,
		&(struct process_event){
			.kind = PROCESS_EVENT_EXIT, .pid = pid, .time_ns = sb->now_ns },
		SIDEBAND_EVENT, 0);
}

/* The owner must hear of lost events even when the queue is full: the report takes the first free
 * place. */
static void report_overflow(struct sideband *sb)
{
	struct process_event ev = { .kind = PROCESS_EVENT_LOST,
				    .lost = sb->n_overflow,
				    .time_ns = sb->now_ns };

	if (sb->n_overflow == 0 || event_queue_put(&sb->queue, &ev, SIDEBAND_EVENT, 0) < 0)
		return;
	telemetry_count(sb->telemetry, TELEMETRY_sideband_lost, sb->n_overflow);
	sb->n_overflow = 0;
}

/* Rings are registered edge-triggered: taking the edges makes our descriptor quiet until a ring
 * fills again. */
static void take_edges(struct sideband *sb)
{
	struct epoll_event events[SIDEBAND_EPOLL_EVENTS];

	while (epoll_wait(sb->epoll_fd, events, SIDEBAND_EPOLL_EVENTS, 0) == SIDEBAND_EPOLL_EVENTS)
		;
}

uint64_t sideband_collect(struct sideband *sb)
{
	take_edges(sb);
	sb->now_ns = clock_mono_ns();
	report_overflow(sb);
	lives_recheck(sb->lives, sb->now_ns, enqueue_late_end, sb);
	for (size_t i = 0; i < sb->n_rings; i++)
		ring_drain(sb, sb->rings[i]);
	event_queue_sort(&sb->queue);
	return sb->now_ns;
}

static bool is_for_owner(struct sideband *sb, const struct queued_event *item)
{
	const struct process_event *ev = &item->ev;

	if (item->what == SIDEBAND_THREAD_START) {
		lives_thread_start(sb->lives, ev->pid);
		return false;
	}
	if (item->what == SIDEBAND_THREAD_EXIT)
		return lives_thread_exit(sb->lives, ev->pid, item->tid, ev->time_ns);
	if (ev->kind == PROCESS_EVENT_FORK)
		lives_fork(sb->lives, ev->pid);
	else if (ev->kind == PROCESS_EVENT_EXEC)
		lives_exec(sb->lives, ev->pid);
	else if (ev->kind == PROCESS_EVENT_LOST)
		lives_forget(sb->lives);
	return true;
}

void sideband_deliver_until(struct sideband *sb, uint64_t time_ns, sideband_fn fn, void *data)
{
	const struct queued_event *item;

	while ((item = event_queue_next(&sb->queue, time_ns)))
		if (is_for_owner(sb, item))
			fn(&item->ev, data);
}

uint64_t sideband_n_kernel_changes(const struct sideband *sb)
{
	return sb->n_kernel_changes;
}

void sideband_read(struct sideband *sb, sideband_fn fn, void *data)
{
	sideband_deliver_until(sb, sideband_collect(sb), fn, data);
}

static bool have_cpu(const struct sideband *sb, unsigned int cpu)
{
	for (size_t i = 0; i < sb->n_rings; i++)
		if (perf_ring_cpu(sb->rings[i]) == cpu)
			return true;
	return false;
}

static void close_gone(struct sideband *sb, const struct cpus *online)
{
	size_t kept = 0;

	for (size_t i = 0; i < sb->n_rings; i++) {
		struct perf_ring *ring = sb->rings[i];

		if (cpus_has(online, perf_ring_cpu(ring)) && !perf_ring_is_dead(ring)) {
			sb->rings[kept++] = ring;
			continue;
		}
		ring_drain(sb, ring);
		perf_ring_close(ring);
	}
	sb->n_rings = kept;
}

static int open_cpu(struct sideband *sb, unsigned int cpu)
{
	_cleanup_(perf_ring_closep) struct perf_ring *ring = NULL;
	struct epoll_event want = { .events = EPOLLIN | EPOLLET };
	int r = perf_ring_open(cpu, sb->ring_bytes, &ring);

	/* Gone between the list and now: the next list will tell. */
	if (r == -ENODEV || r == -ENXIO)
		return 0;
	if (r < 0)
		return r;
	if (epoll_ctl(sb->epoll_fd, EPOLL_CTL_ADD, perf_ring_fd(ring), &want) < 0)
		return -errno;
	struct perf_ring **rings = reallocarray(sb->rings, sb->n_rings + 1, sizeof(*rings));
	if (!rings)
		return -ENOMEM;
	sb->rings = rings;
	sb->rings[sb->n_rings++] = TAKE_PTR(ring);
	return 0;
}

int sideband_sync_cpus(struct sideband *sb, const struct cpus *online)
{
	int first_error = 0;

	close_gone(sb, online);
	size_t n_kept = sb->n_rings;
	for (size_t i = 0; i < online->n; i++) {
		int r = have_cpu(sb, online->ids[i]) ? 0 : open_cpu(sb, online->ids[i]);

		if (r < 0 && first_error == 0)
			first_error = r;
	}
	/* What happened on a CPU before its ring was there was missed. */
	sb->n_overflow += sb->n_rings > n_kept;
	return first_error;
}
