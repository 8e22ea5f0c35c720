/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a profile is in closed segments already. */
#include <string.h>

#include "agent/store/ingest_private.h"

static bool segment_has_labels(const struct segment *s, size_t series,
			       const struct ingest_labels *labels)
{
	struct segment_series x;

	segment_series(s, series, &x);
	if (x.n_labels != labels->n)
		return false;
	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(segment_text(s, x.labels[i].name), labels->items[i].name) != 0 ||
		    strcmp(segment_text(s, x.labels[i].value), labels->items[i].value) != 0)
			return false;
	return true;
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

/* Only profiles that come late meet a closed segment of their time. */
bool ingest_is_in(struct segment *const *segments, size_t n, const struct ingest_labels *labels,
		  int64_t time_ms)
{
	for (size_t i = 0; i < n; i++) {
		const struct segment *s = segments[i];

		if (time_ms < segment_first_ms(s) || time_ms > segment_last_ms(s))
			continue;
		for (size_t j = 0; j < segment_n_series(s); j++)
			if (segment_has_labels(s, j, labels) && segment_has_time(s, j, time_ms))
				return true;
	}
	return false;
}
