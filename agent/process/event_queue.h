/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded side-band records that wait for their time: gathered ring by ring, handed out in the
 * order in which they happened. */
#ifndef XAGENT_AGENT_PROCESS_EVENT_QUEUE_H
#define XAGENT_AGENT_PROCESS_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/event.h"
#include "agent/process/sideband_decode.h"

/* More than all rings of the largest machines hold at once is not gathered: 120 bytes each and a
 * path. */
#define EVENT_QUEUE_MAX 131072

struct queued_event {
	struct process_event ev;    /* ev.path is owned */
	enum sideband_outcome what; /* EVENT, THREAD_START, THREAD_EXIT */
	uint32_t tid;
	uint32_t seq; /* order of arrival, among equal times */
};

struct event_queue {
	struct queued_event *items;
	size_t first; /* handed out up to here */
	size_t n;     /* end of the used part of items */
	size_t cap;
	size_t max;
	uint32_t seq;
};

void event_queue_init(struct event_queue *q, size_t max);
void event_queue_fini(struct event_queue *q);

/* Copies `ev` with its path. 0, -ENOBUFS (ceiling) or -ENOMEM. */
int event_queue_put(struct event_queue *q, const struct process_event *ev,
		    enum sideband_outcome what, uint32_t tid);

/* Brings what was put since into the order of time. */
void event_queue_sort(struct event_queue *q);

/* The oldest event when it happened at time_ns or before, else NULL. Borrowed until the next call.
 */
const struct queued_event *event_queue_next(struct event_queue *q, uint64_t time_ns);

size_t event_queue_n(const struct event_queue *q);

#endif
