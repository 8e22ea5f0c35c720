/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of those who have woken up a thread whose sample is to come, by the number that both have.
 *
 * The kernel half sends the waker first, the sample of the wait when the thread is back on a CPU. Some wait for none: their number never comes, and their place is given to another one.
 * Frames are those of one interval, so none is kept beyond it. Pure.
 */
#ifndef XAGENT_AGENT_PROFILE_WAKER_TABLE_H
#define XAGENT_AGENT_PROFILE_WAKER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/unwind/frame_ref.h"
#include "agent/util/cleanup.h"

/* As they stand in a stack: the outermost one first, what tells who it was last. */
#define WAKER_MAX_FRAMES 128
/* A thread is back within milliseconds: as many may be on the way at once. */
#define WAKER_TABLE_PLACES 1024

struct waker_table {
	struct waker *places[WAKER_TABLE_PLACES]; /* by a hash of their number */
};

struct waker {
	uint64_t id;
	size_t n;
	struct frame_ref frames[];
};

/* Copies the frames, WAKER_MAX_FRAMES at most. *ret_n_lost: how many others had to go, 0 or 1. 0 or -ENOMEM. */
int waker_table_put(struct waker_table *t, uint64_t id, const struct frame_ref *frames, size_t n,
		    size_t *ret_n_lost);
/* No longer in the table, the caller's to free; NULL: there is none. */
struct waker *waker_table_take(struct waker_table *t, uint64_t id);
/* Returns how many there were. */
size_t waker_table_clear(struct waker_table *t);

#endif
