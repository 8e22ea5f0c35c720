/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of functions, from unwind information. */
#include "agent/object/names/function_extents.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/object/cfi/cfi.h"

struct function_extents {
	struct unwind_source *source; /* NULL once it is of no use any more */
	struct unwind_spans spans;    /* where there is no table */
	size_t max_bytes;
};

int function_extents_new(struct elf *elf, size_t max_bytes, struct function_extents **ret_extents)
{
	_cleanup_(function_extents_freep) struct function_extents *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->max_bytes = max_bytes;
	int r = cfi_eh_frame_new(elf, &e->source);
	if (r != 0)
		return r < 0 ? r : FUNCTION_EXTENTS_NONE;
	*ret_extents = TAKE_PTR(e);
	return 0;
}

static void drop_source(struct function_extents *e)
{
	if (e->source)
		e->source->free(e->source);
	e->source = NULL;
}

void function_extents_free(struct function_extents *e)
{
	if (!e)
		return;
	drop_source(e);
	unwind_spans_fini(&e->spans);
	free(e);
}

size_t function_extents_bytes(const struct function_extents *e)
{
	return sizeof(*e) + (e->source ? cfi_bytes(e->source) : 0) +
	       e->spans.cap * sizeof(*e->spans.items);
}

/* What does not fit is not there. */
static int keep_spans(struct function_extents *e)
{
	struct unwind_source_stats stats = { 0 };

	e->spans.max_bytes = e->max_bytes;
	int r = e->source->spans(e->source, &e->spans, &stats);
	if (r == -ENOMEM)
		return r;
	drop_source(e);
	return 0;
}

/* How many spans begin at or before the address. */
static size_t upper_bound(const struct unwind_spans *spans, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = spans->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (spans->items[mid].begin <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int find_span(const struct unwind_spans *spans, uint64_t vaddr,
		     struct function_extent *ret_extent)
{
	struct function_extent gap = { .end = UINT64_MAX };
	size_t after = upper_bound(spans, vaddr);

	if (spans->n == 0)
		return FUNCTION_EXTENTS_NONE;
	if (after < spans->n)
		gap.end = spans->items[after].begin;
	if (after > 0) {
		const struct unwind_span *span = &spans->items[after - 1];

		gap.begin = span->begin + span->n_bytes;
		if (vaddr < gap.begin)
			gap = (struct function_extent){ span->begin, gap.begin, true };
	}
	*ret_extent = gap;
	return 0;
}

int function_extents_find(struct function_extents *e, uint64_t vaddr,
			  struct function_extent *ret_extent)
{
	struct cfi_extent extent;
	int r = e->source ? cfi_extent_at(e->source, vaddr, &extent) : CFI_NO_TABLE;

	if (r == 0)
		*ret_extent = (struct function_extent){ extent.begin, extent.end, extent.is_code };
	if (r != CFI_NO_TABLE)
		return r;
	r = e->source ? keep_spans(e) : 0;
	return r < 0 ? r : find_span(&e->spans, vaddr, ret_extent);
}
