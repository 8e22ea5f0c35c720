/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of wakers until the samples of those whom they have woken up come. */
#include "agent/profile/waker_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/hash.h"

static struct waker **place_of(struct waker_table *t, uint64_t id)
{
	return &t->places[hash_u64(id) % WAKER_TABLE_PLACES];
}

int waker_table_put(struct waker_table *t, uint64_t id, const struct frame_ref *frames, size_t n,
		    size_t *ret_n_lost)
{
	struct waker **place = place_of(t, id);
	struct waker *w = malloc(sizeof(*w) + n * sizeof(*frames));

	assert(n <= WAKER_MAX_FRAMES);
	*ret_n_lost = 0;
	if (!w)
		return -ENOMEM;
	w->id = id;
	w->n = n;
	memcpy(w->frames, frames, n * sizeof(*frames));
	*ret_n_lost = *place != NULL;
	free(*place);
	*place = w;
	return 0;
}

struct waker *waker_table_take(struct waker_table *t, uint64_t id)
{
	struct waker **place = place_of(t, id);

	return *place && (*place)->id == id ? TAKE_PTR(*place) : NULL;
}

size_t waker_table_clear(struct waker_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < WAKER_TABLE_PLACES; i++) {
		n += t->places[i] != NULL;
		free(t->places[i]);
		t->places[i] = NULL;
	}
	return n;
}
