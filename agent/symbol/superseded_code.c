/* SPDX-License-Identifier: Apache-2.0 */
/* Generated code that made way for later code. */
#include "agent/symbol/superseded_code.h"

#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

#define SUPERSEDED_MIN_CAP 32

void superseded_code_fini(struct superseded_code *p)
{
	free(p->items);
	*p = (struct superseded_code){ 0 };
}

static void drop_oldest(struct superseded_code *p, size_t max)
{
	size_t keep = max / 2;

	memmove(p->items, p->items + (p->n - keep), keep * sizeof(*p->items));
	p->n = keep;
}

void superseded_code_add(struct superseded_code *p, const struct code_range *range, size_t max)
{
	if (max == 0)
		return;
	if (p->n >= max)
		drop_oldest(p, max);
	if (p->n == p->cap) {
		size_t cap = MIN_OF(MAX_OF(p->cap * 2, (size_t)SUPERSEDED_MIN_CAP), max);
		struct code_range *items = reallocarray(p->items, cap, sizeof(*items));

		if (!items)
			return;
		p->items = items;
		p->cap = cap;
	}
	p->items[p->n++] = *range;
}

const struct code_range *superseded_code_find(const struct superseded_code *p, uint64_t pc,
					      uint32_t order)
{
	const struct code_range *latest = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct code_range *range = &p->items[i];

		if (range->order < order && pc >= range->begin &&
		    pc - range->begin < range->n_bytes && (!latest || range->order > latest->order))
			latest = range;
	}
	return latest;
}
