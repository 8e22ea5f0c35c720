/* SPDX-License-Identifier: Apache-2.0 */
/* What the store holds, and what leaves it. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/segment_image.h"
#include "agent/store/store_private.h"

int64_t store_oldest_ms(const struct store *s)
{
	uint64_t now_ns = store_now_ns(s), age_ns = s->options.max_age_ns;

	return now_ns > age_ns ? (int64_t)((now_ns - age_ns) / NS_PER_MS) : 0;
}

size_t store_bytes_now(const struct store *s)
{
	size_t bytes = sizeof(*s) + s->cap_segments * (sizeof(*s->segments) + sizeof(*s->ids));

	for (size_t i = 0; i < s->n_segments; i++)
		bytes += segment_bytes(s->segments[i]);
	return bytes + s->head_stats.bytes + (s->head_copy ? segment_bytes(s->head_copy) : 0);
}

int store_grow_segments(struct store *s)
{
	size_t cap = s->cap_segments ? s->cap_segments * 2 : 16;

	if (s->n_segments < s->cap_segments)
		return 0;
	struct segment **segments = reallocarray(s->segments, cap, sizeof(struct segment *));
	if (!segments)
		return -ENOMEM;
	s->segments = segments;
	uint64_t *ids = reallocarray(s->ids, cap, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	s->ids = ids;
	s->cap_segments = cap;
	return 0;
}

int store_add_segment(struct store *s, struct segment *segment, uint64_t id)
{
	size_t at = s->n_segments;

	if (store_grow_segments(s) < 0)
		return -ENOMEM;
	assert(s->n_segments < s->cap_segments);
	for (; at > 0 && segment_first_ms(s->segments[at - 1]) > segment_first_ms(segment); at--) {
		s->segments[at] = s->segments[at - 1];
		s->ids[at] = s->ids[at - 1];
	}
	s->segments[at] = segment;
	s->ids[at] = id;
	s->n_segments++;
	return 0;
}

static void evicted(struct store *s, uint64_t id, uint64_t n_profiles, enum store_eviction why)
{
	s->n_evicted_profiles += n_profiles;
	metric_add(s->metrics.evicted[why], n_profiles);
	if (s->disk)
		disk_remove(s->disk, id);
}

static void evict_segment(struct store *s, size_t i, enum store_eviction why)
{
	assert(i < s->n_segments);
	evicted(s, s->ids[i], s->segments[i]->header->n_profiles, why);
	segment_unref(s->segments[i]);
	s->n_segments--;
	memmove(s->segments + i, s->segments + i + 1, (s->n_segments - i) * sizeof(*s->segments));
	memmove(s->ids + i, s->ids + i + 1, (s->n_segments - i) * sizeof(*s->ids));
}

void store_lose_segment(struct store *s, struct segment *segment, uint64_t id)
{
	evicted(s, id, segment->header->n_profiles, STORE_EVICTED_BYTES);
	segment_unref(segment);
}

/* They lie by their beginnings; one late profile does not make what came with it old. */
static size_t oldest_segment(const struct store *s)
{
	size_t oldest = 0;

	for (size_t i = 1; i < s->n_segments; i++)
		if (segment_last_ms(s->segments[i]) < segment_last_ms(s->segments[oldest]))
			oldest = i;
	return oldest;
}

/* While the ingest thread has it, it stays: it is asked for again when it is back. */
static void evict_head(struct store *s, enum store_eviction why)
{
	if (s->running)
		return;
	evicted(s, s->head_id, s->head_stats.n_profiles, why);
	store_head_changed(s);
	head_free(s->head);
	s->head = NULL;
	store_note_head(s);
}

static void evict_old(struct store *s)
{
	int64_t oldest_ms = store_oldest_ms(s);

	for (size_t i = s->n_segments; i > 0; i--)
		if (segment_last_ms(s->segments[i - 1]) < oldest_ms)
			evict_segment(s, i - 1, STORE_EVICTED_AGE);
	if (s->head_stats.n_profiles > 0 && s->head_stats.last_ms < oldest_ms)
		evict_head(s, STORE_EVICTED_AGE);
}

void store_evict(struct store *s)
{
	size_t max = s->options.max_bytes;

	evict_old(s);
	while (s->n_segments > 0 && store_bytes_now(s) > max)
		evict_segment(s, oldest_segment(s), STORE_EVICTED_BYTES);
	if (store_bytes_now(s) > max) {
		segment_unref(s->head_copy);
		s->head_copy = NULL;
	}
	/* Only after max_bytes was made smaller than what one head takes. */
	if (s->head_stats.bytes > 0 && store_bytes_now(s) > max)
		evict_head(s, STORE_EVICTED_BYTES);
}

static void count_segment(struct store_stats *stats, const struct segment *segment)
{
	const struct image_header *h = segment->header;

	stats->n_profiles += h->n_profiles;
	stats->n_samples += h->n_samples;
	if (!stats->newest_ms || h->first_ms < stats->oldest_ms)
		stats->oldest_ms = h->first_ms;
	if (h->last_ms > stats->newest_ms)
		stats->newest_ms = h->last_ms;
}

static void count_head(struct store_stats *stats, const struct head_stats *h)
{
	stats->n_series = h->n_series;
	stats->n_profiles += h->n_profiles;
	stats->n_samples += h->n_samples;
	if (h->n_profiles == 0)
		return;
	if (!stats->newest_ms || h->first_ms < stats->oldest_ms)
		stats->oldest_ms = h->first_ms;
	if (h->last_ms > stats->newest_ms)
		stats->newest_ms = h->last_ms;
}

void store_stats(const struct store *s, struct store_stats *ret_stats)
{
	struct store_stats stats = {
		.bytes = store_bytes_now(s),
		.max_bytes = s->options.max_bytes,
		.n_segments = s->n_segments,
		.n_received_bytes = s->n_received_bytes,
		.n_received_profiles = s->n_received_profiles,
		.n_refused_profiles = s->n_refused_profiles,
		.n_evicted_profiles = s->n_evicted_profiles,
	};

	for (size_t i = 0; i < s->n_segments; i++)
		count_segment(&stats, s->segments[i]);
	count_head(&stats, &s->head_stats);
	*ret_stats = stats;
}
