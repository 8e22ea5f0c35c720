/* SPDX-License-Identifier: Apache-2.0 */
/* Indices of a table that the kernel half reads. */
#include "agent/unwind/slots.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct slot_freed {
	uint32_t slot;
	uint64_t since_ns;
};

int slots_init(struct slots *s, uint32_t first, uint32_t n)
{
	assert(n > first);
	*s = (struct slots){ .first = first, .n = n, .n_fresh = first };
	s->queue = calloc(n, sizeof(*s->queue));
	return s->queue ? 0 : -ENOMEM;
}

void slots_fini(struct slots *s)
{
	free(s->queue);
	*s = (struct slots){ 0 };
}

uint32_t slots_take(struct slots *s, uint64_t now_ns)
{
	const struct slot_freed *oldest = &s->queue[s->head];

	if (s->n_fresh < s->n)
		return s->n_fresh++;
	if (!s->n_queued || oldest->since_ns + KERNEL_ARENA_GRACE_NS > now_ns)
		return 0;
	s->head = (s->head + 1) % s->n;
	s->n_queued--;
	return oldest->slot;
}

void slots_give(struct slots *s, uint32_t slot, uint64_t now_ns)
{
	assert(slot >= s->first && slot < s->n && s->n_queued < s->n);
	s->queue[(s->head + s->n_queued++) % s->n] =
		(struct slot_freed){ .slot = slot, .since_ns = now_ns };
}
