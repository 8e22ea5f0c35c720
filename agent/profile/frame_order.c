/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of an interval that are in files, in order. */
#include "agent/profile/frame_order.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/hash.h"

int frame_order_init(struct frame_order *o, size_t max_bytes)
{
	*o = (struct frame_order){ .cap = max_bytes / sizeof(*o->items) };
	o->items = calloc(o->cap, sizeof(*o->items));
	o->seen = calloc((size_t)1 << FRAME_ORDER_SEEN_BITS, sizeof(*o->seen));
	if (o->items && o->seen)
		return 0;
	frame_order_fini(o);
	return -ENOMEM;
}

void frame_order_fini(struct frame_order *o)
{
	free(o->items);
	free(o->seen);
	*o = (struct frame_order){ 0 };
}

static int compare_frames(const void *a, const void *b)
{
	uint64_t x = ((const struct frame_ref *)a)->word;
	uint64_t y = ((const struct frame_ref *)b)->word;

	return (x > y) - (x < y);
}

static void sort(struct frame_order *o)
{
	size_t n = 0;

	qsort(o->items, o->n, sizeof(*o->items), compare_frames);
	for (size_t i = 0; i < o->n; i++)
		if (n == 0 || !frame_ref_equal(o->items[i], o->items[n - 1]))
			o->items[n++] = o->items[i];
	o->n = n;
}

static bool is_seen(struct frame_order *o, struct frame_ref frame)
{
	struct frame_ref *seen = &o->seen[hash_u64(frame.word) >> (64 - FRAME_ORDER_SEEN_BITS)];
	bool found = frame_ref_equal(*seen, frame);

	*seen = frame;
	return found;
}

/* False when there is no room for more: unless sorting has made some for a quarter, it would be for a few each time, and take for ever. */
static bool add_files(struct frame_order *o, const struct stack *stack)
{
	for (uint32_t i = 0; i < (uint32_t)stack->n_kernel + stack->n_user; i++) {
		struct frame_ref frame = stack->frames[i];

		if (!frame_ref_file_id(frame) || is_seen(o, frame))
			continue;
		if (o->n == o->cap) {
			sort(o);
			if (o->n >= o->cap - o->cap / 4)
				return false;
		}
		o->items[o->n++] = frame;
	}
	return true;
}

static void collect(struct frame_order *o, const struct interval *interval)
{
	for (const struct series *s = interval->series; s; s = s->next)
		for (const struct stack *stack = s->stacks; stack; stack = stack->next)
			if (!add_files(o, stack))
				return;
}

void frame_order_collect(struct frame_order *o, const struct interval *interval)
{
	collect(o, interval);
	sort(o);
}
