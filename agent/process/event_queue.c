/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded side-band records that wait for their time. */
#include "agent/process/event_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

#define EVENT_QUEUE_MIN_CAP 256
/* Kept after a burst. */
#define EVENT_QUEUE_IDLE_CAP 4096

void event_queue_init(struct event_queue *q, size_t max)
{
	*q = (struct event_queue){ .max = max };
}

/* The event that was handed out last lies in front of `first`. */
static void release_handed_out(struct event_queue *q)
{
	if (q->first == 0)
		return;
	free((char *)q->items[q->first - 1].ev.path);
	q->items[q->first - 1].ev.path = NULL;
}

void event_queue_fini(struct event_queue *q)
{
	release_handed_out(q);
	for (size_t i = q->first; i < q->n; i++)
		free((char *)q->items[i].ev.path);
	free(q->items);
	*q = (struct event_queue){ 0 };
}

static void close_gap(struct event_queue *q)
{
	if (q->first == 0)
		return;
	release_handed_out(q);
	q->n -= q->first;
	memmove(q->items, q->items + q->first, q->n * sizeof(*q->items));
	q->first = 0;
	if (q->n == 0 && q->cap > EVENT_QUEUE_IDLE_CAP) {
		free(q->items);
		q->items = NULL;
		q->cap = 0;
	}
}

static int queue_reserve(struct event_queue *q)
{
	if (q->n < q->cap)
		return 0;
	size_t cap = MAX_OF(q->cap * 2, (size_t)EVENT_QUEUE_MIN_CAP);
	struct queued_event *items = reallocarray(q->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	q->items = items;
	q->cap = cap;
	return 0;
}

int event_queue_put(struct event_queue *q, const struct process_event *ev,
		    enum sideband_outcome what, uint32_t tid)
{
	char *path = NULL;

	close_gap(q);
	if (q->n >= q->max)
		return -ENOBUFS;
	int r = queue_reserve(q);
	if (r < 0)
		return r;
	if (ev->path) {
		path = strdup(ev->path);
		if (!path)
			return -ENOMEM;
	}
	q->items[q->n] =
		(struct queued_event){ .ev = *ev, .what = what, .tid = tid, .seq = q->seq++ };
	q->items[q->n++].ev.path = path;
	return 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct queued_event *x = a;
	const struct queued_event *y = b;

	if (x->ev.time_ns != y->ev.time_ns)
		return x->ev.time_ns < y->ev.time_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void event_queue_sort(struct event_queue *q)
{
	close_gap(q);
	if (q->n > 1)
		qsort(q->items, q->n, sizeof(*q->items), compare_events);
	/* Numbers need to be unique among waiting events only. */
	for (size_t i = 0; i < q->n; i++)
		q->items[i].seq = (uint32_t)i;
	q->seq = (uint32_t)q->n;
}

const struct queued_event *event_queue_next(struct event_queue *q, uint64_t time_ns)
{
	release_handed_out(q);
	if (q->first == q->n || q->items[q->first].ev.time_ns > time_ns)
		return NULL;
	return &q->items[q->first++];
}

size_t event_queue_n(const struct event_queue *q)
{
	return q->n - q->first;
}
