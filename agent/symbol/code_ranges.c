/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated code in one address space.
 *
 * Settling is a sweep over all ranges by their begin. A heap holds those that have begun, the latest on top: it owns the addresses up
 * to its end, or up to where one begins that is later still. n ranges have 2n ends, so that at most 2n − 1 pieces come of them.
 */
#include "agent/symbol/code_ranges.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* One page of entries. */
#define CODE_RANGES_MIN_CAP 128

void code_ranges_init(struct code_ranges *r, size_t max)
{
	*r = (struct code_ranges){ 0 };
	code_ranges_set_max(r, max);
}

void code_ranges_set_max(struct code_ranges *r, size_t max)
{
	r->max = MAX_OF(max, (size_t)1);
	r->max_past = r->max / CODE_RANGES_PAST_SHARE;
}

void code_ranges_fini(struct code_ranges *r)
{
	free(r->items);
	superseded_code_fini(&r->past);
	*r = (struct code_ranges){ .max = r->max,
				   .max_past = r->max_past,
				   .n_dropped = r->n_dropped };
}

void code_ranges_reset(struct code_ranges *r)
{
	code_ranges_fini(r);
}

static uint64_t end_of(const struct code_range *range)
{
	return range->begin + range->n_bytes;
}

static int compare_begin(const void *a, const void *b)
{
	const struct code_range *x = a;
	const struct code_range *y = b;

	return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
				    : (x->order > y->order) - (x->order < y->order);
}

static int compare_order(const void *a, const void *b)
{
	const struct code_range *x = a;
	const struct code_range *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* The newest half stays. */
static void drop_oldest(struct code_ranges *r)
{
	size_t keep = MAX_OF(r->max / 2, (size_t)1);

	if (r->n <= keep)
		return;
	qsort(r->items, r->n, sizeof(*r->items), compare_order);
	memmove(r->items, r->items + (r->n - keep), keep * sizeof(*r->items));
	r->n_dropped += r->n - keep;
	r->n = r->n_settled = keep;
	qsort(r->items, r->n, sizeof(*r->items), compare_begin);
}

/* Room by settling what overlaps; when that is little, by age. */
static int make_room(struct code_ranges *r)
{
	int err = code_ranges_settle(r);

	if (err < 0)
		return err;
	if (r->n + r->max / 4 >= r->max)
		drop_oldest(r);
	return 0;
}

static int grow(struct code_ranges *r)
{
	size_t cap =
		MAX_OF(MIN_OF(MAX_OF(r->cap * 2, (size_t)CODE_RANGES_MIN_CAP), r->max), r->n + 1);
	struct code_range *items = reallocarray(r->items, cap, sizeof(*items));

	if (!items)
		return -ENOMEM;
	r->items = items;
	r->cap = cap;
	return 0;
}

int code_ranges_add(struct code_ranges *r, uint64_t begin, uint64_t n_bytes, uint64_t name_off)
{
	int err = 0;

	if (n_bytes == 0 || n_bytes > UINT32_MAX || begin > INT64_MAX - n_bytes) {
		r->n_dropped++;
		return 0;
	}
	if (r->n_added == UINT32_MAX) {
		err = code_ranges_settle(r);
		for (size_t i = 0; err == 0 && i < r->n; i++)
			r->items[i].order = 0;
		superseded_code_fini(&r->past);
		r->n_added = err == 0 ? 0 : r->n_added;
	}
	if (err == 0 && r->n >= r->max)
		err = make_room(r);
	if (err == 0 && r->n >= r->cap)
		err = grow(r);
	if (err < 0)
		return err;
	assert(r->n < r->cap);
	r->items[r->n++] = (struct code_range){ .begin = begin,
						.name_off = name_off,
						.n_bytes = (uint32_t)n_bytes,
						.order = ++r->n_added };
	return 0;
}

struct sweep {
	const struct code_range *in; /* by begin */
	size_t n_in;
	size_t at; /* the next to begin */
	uint32_t *heap;
	size_t n_heap;
	struct code_range *out;
	size_t n_out;
	uint32_t *n_owned; /* bytes that came out, of each that went in */
};

static bool is_later(const struct sweep *s, uint32_t a, uint32_t b)
{
	return s->in[a].order > s->in[b].order;
}

static void heap_swap(struct sweep *s, size_t a, size_t b)
{
	uint32_t was = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = was;
}

static void heap_push(struct sweep *s)
{
	size_t i = s->n_heap++;

	s->heap[i] = (uint32_t)s->at++;
	for (; i > 0 && is_later(s, s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_swap(s, i, (i - 1) / 2);
}

static void heap_pop(struct sweep *s)
{
	size_t i = 0;

	assert(s->n_heap > 0);
	s->heap[0] = s->heap[--s->n_heap];
	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < s->n_heap && is_later(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (child >= s->n_heap || !is_later(s, s->heap[child], s->heap[i]))
			return;
		heap_swap(s, i, child);
		i = child;
	}
}

/* How far the top owns the addresses; what begins before and is older waits in the heap. */
static uint64_t owned_until(struct sweep *s)
{
	const struct code_range *top = &s->in[s->heap[0]];
	uint64_t end = end_of(top);

	while (s->at < s->n_in && s->in[s->at].begin < end) {
		if (s->in[s->at].order > top->order)
			return s->in[s->at].begin;
		heap_push(s);
	}
	return end;
}

static void emit(struct sweep *s, const struct code_range *from, uint64_t begin, uint64_t end)
{
	struct code_range *to = &s->out[s->n_out++];

	*to = *from;
	to->begin = begin;
	to->n_bytes = (uint32_t)(end - begin);
}

static void sweep(struct sweep *s)
{
	uint64_t at = 0;

	while (s->at < s->n_in || s->n_heap > 0) {
		if (s->n_heap == 0)
			at = s->in[s->at].begin;
		while (s->at < s->n_in && s->in[s->at].begin <= at)
			heap_push(s);
		while (s->n_heap > 0 && end_of(&s->in[s->heap[0]]) <= at)
			heap_pop(s);
		if (s->n_heap == 0)
			continue;
		uint32_t top = s->heap[0];
		uint64_t until = owned_until(s);
		emit(s, &s->in[top], at, until);
		s->n_owned[top] += (uint32_t)(until - at);
		at = until;
	}
}

static void keep_displaced(struct code_ranges *r, const struct sweep *s)
{
	for (size_t i = 0; i < s->n_in; i++)
		if (s->n_owned[i] < s->in[i].n_bytes)
			superseded_code_add(&r->past, &s->in[i], r->max_past);
}

int code_ranges_settle(struct code_ranges *r)
{
	if (r->n_settled == r->n)
		return 0;
	_cleanup_free_ struct code_range *out = reallocarray(NULL, r->n * 2, sizeof(*out));
	_cleanup_free_ uint32_t *heap = reallocarray(NULL, r->n, sizeof(*heap));
	_cleanup_free_ uint32_t *n_owned = calloc(r->n, sizeof(*n_owned));
	if (!out || !heap || !n_owned)
		return -ENOMEM;
	qsort(r->items, r->n, sizeof(*r->items), compare_begin);
	struct sweep s = {
		.in = r->items, .n_in = r->n, .heap = heap, .out = out, .n_owned = n_owned
	};
	sweep(&s);
	assert(s.n_out > 0 && s.n_out <= 2 * s.n_in);
	keep_displaced(r, &s);
	free(r->items);
	r->n = r->n_settled = s.n_out;
	struct code_range *less = reallocarray(out, s.n_out, sizeof(*out));
	r->items = less ? less : out;
	r->cap = less ? s.n_out : s.n_in * 2;
	(void)TAKE_PTR(out);
	if (r->n > r->max)
		drop_oldest(r);
	return 0;
}

const struct code_range *code_ranges_find(const struct code_ranges *r, uint64_t pc)
{
	size_t low = 0;
	size_t high = r->n_settled;

	assert(r->n_settled <= r->n);
	/* Invariant: items below `low` end at or before pc, items from `high` on after it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(&r->items[middle]) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->n_settled && r->items[low].begin <= pc ? &r->items[low] : NULL;
}

const struct code_range *code_ranges_find_before(const struct code_ranges *r,
						 const struct code_range *later, uint64_t pc)
{
	return superseded_code_find(&r->past, pc, later->order);
}

size_t code_ranges_max_of(size_t n_bytes)
{
	size_t n = n_bytes / sizeof(struct code_range);

	return n - n / (CODE_RANGES_PAST_SHARE + 1);
}

size_t code_ranges_bytes(const struct code_ranges *r)
{
	return (r->cap + r->past.cap) * sizeof(*r->items);
}
