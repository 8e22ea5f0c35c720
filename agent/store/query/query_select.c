/* SPDX-License-Identifier: Apache-2.0 */
/* Which segments, series and slots a question is about. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_private.h"

#define DELTA ":delta"

/* Series of the profile type; false when there is none. */
static bool take_type(const struct query *q, const struct segment *s, bool *takes)
{
	size_t n = strlen(q->profile_type), n_delta = strlen(DELTA);
	bool any = false;

	if (n > n_delta && memcmp(q->profile_type + n - n_delta, DELTA, n_delta) == 0)
		n -= n_delta;
	for (size_t i = 0; i < segment_n_series(s); i++) {
		const char *type = takes[i] ? segment_series_label(s, i, "__profile_type__") : NULL;

		takes[i] = type && strncmp(type, q->profile_type, n) == 0 && type[n] == '\0';
		any |= takes[i];
	}
	return any;
}

/* Series that one of the selectors takes are marked in `takes`, which has none so far. */
static int take_selectors(const struct query *q, struct segment *s, bool *takes)
{
	for (size_t i = 0; i < q->n_selectors; i++) {
		_cleanup_(selector_on_freep) struct selector_on *on = NULL;
		int r = selector_on_new(q->selectors[i], s, &on);

		if (r < 0)
			return r;
		for (size_t series = 0; series < segment_n_series(s); series++)
			takes[series] |= selector_on_match(on, series);
	}
	return 0;
}

static int visit(const struct query *q, struct segment *s, query_part_fn fn, void *user)
{
	_cleanup_query_free_ bool *takes =
		query_calloc(q->memory, segment_n_series(s) + 1, sizeof(*takes));
	struct query_part part = { q, s, takes };
	int r = 0;

	if (!takes)
		return -ENOMEM;
	if (q->n_selectors > 0)
		r = take_selectors(q, s, takes);
	else
		memset(takes, true, segment_n_series(s));
	if (r < 0)
		return r;
	if (q->profile_type && *q->profile_type && !take_type(q, s, takes))
		return 0;
	return fn(user, &part);
}

int query_each_part(const struct query *q, query_part_fn fn, void *user)
{
	int r = 0;

	for (size_t i = 0; i < q->view->n && r == 0; i++) {
		struct segment *s = q->view->segments[i];

		if (q->stop && atomic_load_explicit(q->stop, memory_order_relaxed))
			return -ECANCELED;
		if (segment_last_ms(s) >= q->start_ms && segment_first_ms(s) <= q->end_ms)
			r = visit(q, s, fn, user);
	}
	return r;
}

/* The first of a series' slots that is not before the time. */
static size_t find_slot(const struct segment *s, const struct segment_series *series,
			int64_t time_ms)
{
	size_t low = series->first_slot, high = low + series->n_slots;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct segment_slot slot;

		segment_slot(s, middle, &slot);
		if (slot.time_ms < time_ms)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct query_slots query_slots(const struct query_part *part, size_t i)
{
	const struct query *q = part->q;
	struct segment_series series;

	assert(i < segment_n_series(part->segment));
	if (!part->takes[i] || q->start_ms > q->end_ms)
		return (struct query_slots){ 0 };
	segment_series(part->segment, i, &series);
	return (struct query_slots){
		.first = find_slot(part->segment, &series, q->start_ms),
		.end = q->end_ms == INT64_MAX ? series.first_slot + series.n_slots
					      : find_slot(part->segment, &series, q->end_ms + 1),
	};
}
