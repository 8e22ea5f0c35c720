/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of a source, put in order.
 *
 * An address belongs to the first span, by (begin, order of adding), that holds it. Linkers write
 * most spans in ascending order, but functions that were split into a hot and a cold part come
 * alternately from two ends of the text: hence a radix sort, which keeps the order of equal ones and
 * takes the same time for any order. It needs as much memory again while it runs.
 */
#include "agent/object/rules/unwind_source.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* The first allocation: the functions of a small library. */
#define FIRST_CAP 256
/* 2^11 counters of 4 bytes stay in the first cache. */
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static int grow(struct unwind_spans *spans)
{
	size_t max = spans->max_bytes / sizeof(*spans->items);
	size_t cap = MIN_OF(spans->cap ? spans->cap * 2 : FIRST_CAP, max);

	/* Sorting counts in 32 bits. */
	cap = MIN_OF(cap, (size_t)UINT32_MAX);
	if (cap <= spans->n)
		return UNWIND_SOURCE_TOO_LARGE;
	struct unwind_span *items = reallocarray(spans->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	spans->items = items;
	spans->cap = cap;
	return 0;
}

int unwind_spans_add(struct unwind_spans *spans, const struct unwind_span *span)
{
	if (spans->n == spans->cap) {
		int r = grow(spans);

		if (r != 0)
			return r;
	}
	assert(spans->n < spans->cap);
	spans->items[spans->n++] = *span;
	return 0;
}

static bool in_order(const struct unwind_spans *spans)
{
	for (size_t i = 1; i < spans->n; i++)
		if (spans->items[i].begin < spans->items[i - 1].begin)
			return false;
	return true;
}

static void begin_range(const struct unwind_spans *spans, uint64_t *ret_min, uint64_t *ret_max)
{
	*ret_min = UINT64_MAX;
	*ret_max = 0;
	for (size_t i = 0; i < spans->n; i++) {
		*ret_min = MIN_OF(*ret_min, spans->items[i].begin);
		*ret_max = MAX_OF(*ret_max, spans->items[i].begin);
	}
}

/* One pass: by the digit at `shift` of begin − min, those of the same digit keep their order. */
static void sort_by_digit(const struct unwind_span *in, struct unwind_span *out, size_t n,
			  uint64_t min, unsigned int shift)
{
	uint32_t place[DIGITS] = { 0 };
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		place[((in[i].begin - min) >> shift) & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		uint32_t count = place[d];

		place[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		out[place[((in[i].begin - min) >> shift) & (DIGITS - 1)]++] = in[i];
}

static int sort(struct unwind_spans *spans)
{
	_cleanup_free_ struct unwind_span *scratch = NULL;
	struct unwind_span *from = spans->items;
	uint64_t min, max;

	if (in_order(spans))
		return 0;
	scratch = reallocarray(NULL, spans->n, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	struct unwind_span *to = scratch;
	begin_range(spans, &min, &max);
	for (unsigned int shift = 0; shift < 64 && (max - min) >> shift; shift += DIGIT_BITS) {
		struct unwind_span *sorted = to;

		sort_by_digit(from, to, spans->n, min, shift);
		to = from;
		from = sorted;
	}
	if (from != spans->items)
		memcpy(spans->items, from, spans->n * sizeof(*from));
	return 0;
}

static uint64_t end_of(const struct unwind_span *span)
{
	uint64_t end = span->begin + span->n_bytes;

	return end < span->begin ? UINT64_MAX : end;
}

int unwind_spans_finish(struct unwind_spans *spans, struct unwind_source_stats *stats)
{
	size_t kept = 0;
	uint64_t end = 0;
	int r = sort(spans);

	if (r != 0)
		return r;
	for (size_t i = 0; i < spans->n; i++) {
		struct unwind_span span = spans->items[i];
		uint64_t begin = MAX_OF(span.begin, end);

		if (begin != span.begin)
			stats->n_overlaps++;
		if (begin >= end_of(&span))
			continue;
		end = end_of(&span);
		span.n_bytes = (uint32_t)(end - begin);
		span.begin = begin;
		spans->items[kept++] = span;
	}
	spans->n = kept;
	return 0;
}

void unwind_spans_fini(struct unwind_spans *spans)
{
	free(spans->items);
	*spans = (struct unwind_spans){ .max_bytes = spans->max_bytes };
}
