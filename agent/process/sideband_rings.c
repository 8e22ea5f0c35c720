/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of the side-band. */
#include "agent/process/sideband_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/process/sideband.h"

#define EPOLL_EVENTS 64

int sideband_rings_init(struct sideband_rings *r)
{
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return r->epoll_fd < 0 ? -errno : 0;
}

void sideband_rings_fini(struct sideband_rings *r)
{
	for (size_t i = 0; i < r->n; i++)
		perf_ring_close(r->items[i]);
	free(r->items);
	if (r->epoll_fd >= 0)
		(void)close(r->epoll_fd);
	*r = (struct sideband_rings){ .epoll_fd = -1 };
}

void sideband_rings_take_edges(struct sideband_rings *r)
{
	struct epoll_event events[EPOLL_EVENTS];

	while (epoll_wait(r->epoll_fd, events, EPOLL_EVENTS, 0) == EPOLL_EVENTS)
		;
}

static bool has_cpu(const struct sideband_rings *r, unsigned int cpu)
{
	for (size_t i = 0; i < r->n; i++)
		if (perf_ring_cpu(r->items[i]) == cpu)
			return true;
	return false;
}

static bool is_grown(const struct sideband_rings *r, const struct perf_ring *ring)
{
	return perf_ring_bytes(ring) > r->ring_bytes;
}

static bool wants_to_grow(const struct sideband_rings *r, const struct perf_ring *ring)
{
	return ring && perf_ring_was_full(ring) && !is_grown(r, ring) &&
	       r->ring_bytes < SIDEBAND_GROWN_BYTES;
}

static bool has_room(const struct sideband_rings *r)
{
	return r->grown_bytes + SIDEBAND_GROWN_BYTES <= r->max_grown_bytes;
}

static void drain_and_close(struct sideband_rings *r, struct perf_ring *ring)
{
	r->drain(ring, r->data);
	if (is_grown(r, ring))
		r->grown_bytes -= perf_ring_bytes(ring);
	perf_ring_close(ring);
}

static int open_ring(struct sideband_rings *r, unsigned int cpu, size_t n_bytes,
		     struct perf_ring **ret_ring)
{
	_cleanup_(perf_ring_closep) struct perf_ring *ring = NULL;
	struct epoll_event want = { .events = EPOLLIN | EPOLLET };
	int result = perf_ring_open(cpu, n_bytes, &ring);

	if (result < 0)
		return result;
	if (epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, perf_ring_fd(ring), &want) < 0)
		return -errno;
	*ret_ring = TAKE_PTR(ring);
	return 0;
}

/* The old one is closed first, or events would come twice: an exit that is counted twice ends a process that lives. 0, or the -errno of that
 * size; then it is of the usual one, or NULL where it cannot be opened at all: one of those that are opened as they come. */
static int reopen(struct sideband_rings *r, size_t i, size_t n_bytes)
{
	unsigned int cpu = perf_ring_cpu(r->items[i]);

	drain_and_close(r, r->items[i]);
	r->items[i] = NULL;
	int result = open_ring(r, cpu, n_bytes, &r->items[i]);
	if (result == 0)
		r->grown_bytes += is_grown(r, r->items[i]) ? n_bytes : 0;
	else
		(void)open_ring(r, cpu, r->ring_bytes, &r->items[i]);
	return result;
}

/* The one that grew longest ago, as the order is: who floods one CPU after the other shall not use up the memory for good. False when none was
 * replaced; as where even the place of all would not do. */
static bool shrink_first(struct sideband_rings *r)
{
	for (size_t i = 0; r->max_grown_bytes >= SIDEBAND_GROWN_BYTES && i < r->n; i++) {
		if (!r->items[i] || !is_grown(r, r->items[i]))
			continue;
		(void)reopen(r, i, r->ring_bytes);
		return true;
	}
	return false;
}

/* Takes its place behind all others. */
static void grow(struct sideband_rings *r, size_t i)
{
	int result = reopen(r, i, SIDEBAND_GROWN_BYTES);
	struct perf_ring *ring = r->items[i];
	/* Not allowed to have more, and never will be. Memory or descriptors that are short may be there the next time that it is full. */
	if (result == -EPERM || result == -EACCES)
		r->max_grown_bytes = 0;
	memmove(&r->items[i], &r->items[i + 1], (r->n - i - 1) * sizeof(struct perf_ring *));
	r->items[r->n - 1] = ring;
}

static void drop_closed(struct sideband_rings *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->items[i])
			r->items[kept++] = r->items[i];
	r->n = kept;
}

/* True when there was any. */
static bool replace_full(struct sideband_rings *r)
{
	bool any = false;
	size_t i = 0;

	for (size_t left = r->n; left > 0; left--) {
		bool wants = wants_to_grow(r, r->items[i]);

		/* One at a time: what has just grown is not made small for the next. */
		if (wants && !any && !has_room(r))
			any = shrink_first(r);
		if (!wants || !has_room(r)) {
			i++;
			continue;
		}
		grow(r, i);
		any = true;
	}
	drop_closed(r);
	return any;
}

static void close_gone(struct sideband_rings *r, const struct cpus *online)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct perf_ring *ring = r->items[i];

		if (cpus_has(online, perf_ring_cpu(ring)) && !perf_ring_is_dead(ring))
			r->items[kept++] = ring;
		else
			drain_and_close(r, ring);
	}
	r->n = kept;
}

static int open_cpu(struct sideband_rings *r, unsigned int cpu)
{
	_cleanup_(perf_ring_closep) struct perf_ring *ring = NULL;
	int result = open_ring(r, cpu, r->ring_bytes, &ring);

	/* Gone between the list and now: the next list will tell. */
	if (result == -ENODEV || result == -ENXIO)
		return 0;
	if (result < 0)
		return result;
	struct perf_ring **items = reallocarray(r->items, r->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	r->items = items;
	r->items[r->n++] = TAKE_PTR(ring);
	return 0;
}

int sideband_rings_sync(struct sideband_rings *r, const struct cpus *online, bool *ret_missed)
{
	int first_error = 0;

	close_gone(r, online);
	bool missed = replace_full(r);
	size_t n_kept = r->n;
	for (size_t i = 0; i < online->n; i++) {
		int result = has_cpu(r, online->ids[i]) ? 0 : open_cpu(r, online->ids[i]);

		if (result < 0 && first_error == 0)
			first_error = result;
	}
	/* What happened on a CPU before its ring was there was missed. */
	*ret_missed = missed || r->n > n_kept;
	return first_error;
}
