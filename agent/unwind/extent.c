/* SPDX-License-Identifier: Apache-2.0 */
/* Which index ranges of an array are free. */
#include "agent/unwind/extent.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int extents_init(struct extents *e, uint32_t n)
{
	*e = (struct extents){ .cap = 16 };
	e->free = calloc(e->cap, sizeof(*e->free));
	if (!e->free)
		return -ENOMEM;
	if (n > 0)
		e->free[e->n_free++] = (struct extent){ 0, n };
	return 0;
}

void extents_fini(struct extents *e)
{
	free(e->free);
	*e = (struct extents){ 0 };
}

static void extents_remove_at(struct extents *e, size_t i)
{
	memmove(&e->free[i], &e->free[i + 1], (e->n_free - i - 1) * sizeof(*e->free));
	e->n_free--;
}

static int extents_insert_at(struct extents *e, size_t i, struct extent x)
{
	if (e->n_free == e->cap) {
		struct extent *grown = reallocarray(e->free, e->cap * 2, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		e->free = grown;
		e->cap *= 2;
	}
	memmove(&e->free[i + 1], &e->free[i], (e->n_free - i) * sizeof(*e->free));
	e->free[i] = x;
	e->n_free++;
	return 0;
}

int extents_take(struct extents *e, uint32_t n, uint32_t *ret_first)
{
	assert(n > 0);
	for (size_t i = 0; i < e->n_free; i++) {
		struct extent *x = &e->free[i];

		if (x->n < n)
			continue;
		*ret_first = x->first;
		x->first += n;
		x->n -= n;
		if (x->n == 0)
			extents_remove_at(e, i);
		e->used += n;
		return 0;
	}
	return -ENOSPC;
}

/* Index of the first free extent behind `first`. */
static size_t extents_after(const struct extents *e, uint32_t first)
{
	size_t lo = 0;
	size_t hi = e->n_free;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->free[mid].first < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int extents_give(struct extents *e, uint32_t first, uint32_t n)
{
	size_t i = extents_after(e, first);
	struct extent *before = i > 0 ? &e->free[i - 1] : NULL;
	struct extent *after = i < e->n_free ? &e->free[i] : NULL;
	bool joins_before = before && before->first + before->n == first;
	bool joins_after = after && first + n == after->first;

	assert(!before || before->first + before->n <= first);
	assert(!after || first + n <= after->first);
	e->used -= n;
	if (joins_before && joins_after) {
		before->n += n + after->n;
		extents_remove_at(e, i);
	} else if (joins_before) {
		before->n += n;
	} else if (joins_after) {
		after->first = first;
		after->n += n;
	} else {
		return extents_insert_at(e, i, (struct extent){ first, n });
	}
	return 0;
}
