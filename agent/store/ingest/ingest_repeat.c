/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a profile is in closed segments already. */
#include <string.h>

#include "agent/store/ingest/ingest_private.h"

/* As numbers of the segment; false: it lacks a text, so it has no such series. */
static bool find_labels(const struct segment *s, const struct ingest_labels *labels,
			struct segment_label *out)
{
	for (size_t i = 0; i < labels->n; i++) {
		out[i].name = segment_find_text(s, labels->items[i].name);
		if (out[i].name == SEGMENT_NONE)
			return false;
		out[i].value = segment_find_text(s, labels->items[i].value);
		if (out[i].value == SEGMENT_NONE)
			return false;
	}
	return true;
}

/* Both are by name. */
static bool segment_has_labels(const struct segment *s, size_t series,
			       const struct segment_label *labels, size_t n)
{
	struct segment_series x;

	segment_series(s, series, &x);
	return x.n_labels == n && memcmp(x.labels, labels, n * sizeof(*labels)) == 0;
}

/* Whether the series has a slot of this very millisecond. */
static bool segment_has_time(const struct segment *s, size_t series, int64_t time_ms)
{
	struct segment_series x;
	struct segment_slot slot;

	segment_series(s, series, &x);
	size_t low = x.first_slot, high = x.first_slot + x.n_slots;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		segment_slot(s, middle, &slot);
		if (slot.time_ms == time_ms)
			return true;
		if (slot.time_ms < time_ms)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* The texts are looked for once, however many series there are. */
static bool segment_has(const struct segment *s, const struct ingest_labels *labels,
			int64_t time_ms)
{
	struct segment_label numbers[INGEST_MAX_SERIES_LABELS];

	if (!find_labels(s, labels, numbers))
		return false;
	for (size_t i = 0; i < segment_n_series(s); i++)
		if (segment_has_labels(s, i, numbers, labels->n) && segment_has_time(s, i, time_ms))
			return true;
	return false;
}

/* Only profiles that come late meet a closed segment of their time. */
bool ingest_is_in(struct segment *const *segments, size_t n, const struct ingest_labels *labels,
		  int64_t time_ms)
{
	for (size_t i = 0; i < n; i++) {
		const struct segment *s = segments[i];

		if (time_ms >= segment_first_ms(s) && time_ms <= segment_last_ms(s) &&
		    segment_has(s, labels, time_ms))
			return true;
	}
	return false;
}
