/* SPDX-License-Identifier: Apache-2.0 */
/* The series of a head, and their slots. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/head_private.h"
#include "agent/store/segment/segment_image.h"
#include "agent/util/hash.h"

struct series_key {
	const struct segment_label *labels;
	size_t n;
};

static uint64_t series_key_hash(const struct head *h, const struct series_key *key)
{
	return hash_bytes(key->labels, key->n * sizeof(*key->labels), h->options.seed);
}

static struct series_key series_key_at(const struct head *h, uint32_t id)
{
	const struct head_series *x = h->series.items;
	const struct segment_label *labels = h->labels.items;

	return (struct series_key){ labels + x[id].first_label, x[id].n_labels };
}

static uint64_t series_hash(const void *owner, uint32_t id)
{
	struct series_key key = series_key_at(owner, id);

	return series_key_hash(owner, &key);
}

static bool series_equal(const void *owner, uint32_t id, const void *key)
{
	const struct series_key known = series_key_at(owner, id), *wanted = key;

	return known.n == wanted->n &&
	       memcmp(known.labels, wanted->labels, known.n * sizeof(*known.labels)) == 0;
}

static int series_add(struct head *h, const struct series_key *key, uint64_t hash, uint32_t *ret_id)
{
	int r = head_grow(h, &h->labels, key->n, sizeof(*key->labels));

	r = r < 0 ? r : head_grow(h, &h->series, 1, sizeof(struct head_series));
	r = r < 0 ? r : head_grow_ids(h, &h->series_ids);
	if (r < 0)
		return r;
	struct head_series *series = h->series.items;
	struct segment_label *labels = h->labels.items;

	memcpy(labels + h->labels.n, key->labels, key->n * sizeof(*labels));
	series[h->series.n] = (struct head_series){ .first_label = (uint32_t)h->labels.n,
						    .n_labels = (uint32_t)key->n };
	h->labels.n += key->n;
	*ret_id = (uint32_t)h->series.n++;
	id_table_insert(&h->series_ids, hash, *ret_id);
	return 0;
}

int head_series(struct head *h, const struct segment_label *labels, size_t n, uint32_t *ret_series)
{
	const struct series_key key = { labels, n };
	uint64_t hash = series_key_hash(h, &key);
	uint32_t id = id_table_find(&h->series_ids, hash, h, &key);

	assert(n <= IMAGE_MAX_LABELS);
	if (id == ID_NONE)
		return series_add(h, &key, hash, ret_series);
	*ret_series = id;
	return 0;
}

/* The first slot that does not lie before that of the time. */
static size_t slot_place(const struct head *h, const struct head_series *series, int64_t time_ms)
{
	const struct head_slot *slots = series->slots.items;
	int64_t begin_ms = time_ms - time_ms % h->options.slot_ms;
	size_t low = 0, high = series->slots.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slots[middle].time_ms < begin_ms)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: none is there. */
static struct head_slot *slot_find(const struct head *h, const struct head_series *series,
				   int64_t time_ms)
{
	struct head_slot *slots = series->slots.items;
	size_t place = slot_place(h, series, time_ms);
	int64_t slot_ms = h->options.slot_ms;

	if (place == series->slots.n || slots[place].time_ms / slot_ms != time_ms / slot_ms)
		return NULL;
	return &slots[place];
}

bool head_has(const struct head *h, uint32_t series, int64_t time_ms)
{
	assert(series < h->series.n);

	const struct head_series *all = h->series.items;
	const struct head_slot *slot = slot_find(h, &all[series], time_ms);

	if (!slot)
		return false;
	for (uint32_t i = 0; slot->times_ms && i < slot->n_profiles; i++)
		if (slot->times_ms[i] == time_ms)
			return true;
	return slot->time_ms == time_ms;
}

/* With what is merged the unit may become 1 and a sample's two bytes ten: one of the step, nine of a value of 63 bits. */
#define MERGE_GROWTH 5

size_t head_put_bytes(const struct head *h, uint32_t series, int64_t time_ms, size_t n_samples)
{
	assert(series < h->series.n);

	const struct head_series *x = (const struct head_series *)h->series.items + series;
	const struct head_slot *slot = slot_find(h, x, time_ms);
	/* Data and times are a block each; the next profile of the same time makes room for two times. */
	size_t bytes = 2 * HEAD_BLOCK_BYTES + 2 * sizeof(int64_t) + head_samples_bytes(n_samples);

	if (!slot)
		return bytes + head_growth(&x->slots, 1) * sizeof(*slot);
	return bytes + slot->n_data * (size_t)MERGE_GROWTH + slot->n_profiles * sizeof(int64_t);
}

/* The times of a slot of several profiles; grown by doubling. */
static int slot_add_time(struct head *h, struct head_slot *slot, int64_t time_ms)
{
	uint32_t n = slot->n_profiles;

	if ((n & (n - 1)) == 0) {
		int64_t *times = reallocarray(slot->times_ms, (size_t)n * 2, sizeof(*times));

		if (!times)
			return -ENOMEM;
		if (n == 1)
			times[0] = slot->time_ms;
		h->bytes += n * sizeof(*times) + (n == 1 ? sizeof(*times) + HEAD_BLOCK_BYTES : 0);
		slot->times_ms = times;
	}
	slot->times_ms[n] = time_ms;
	return 0;
}

static void slot_replace(struct head *h, struct head_slot *slot, uint8_t *data, uint32_t n_data)
{
	assert(h->bytes >= slot->n_data && h->n_data >= slot->n_data);
	h->bytes += n_data;
	h->bytes -= slot->n_data;
	h->n_data += n_data;
	h->n_data -= slot->n_data;
	free(slot->data);
	slot->data = data;
	slot->n_data = n_data;
}

static int slot_merge(struct head *h, struct head_slot *slot, int64_t time_ms,
		      const struct head_sample *samples, size_t n)
{
	size_t n_old;
	uint32_t n_data;
	uint8_t *data;
	_cleanup_free_ struct head_sample *old = head_samples_decode(slot->data, &n_old);
	_cleanup_free_ struct head_sample *merged = calloc(n + n_old, sizeof(*merged));

	if (!old || !merged)
		return -ENOMEM;
	size_t n_merged = head_samples_merge(old, n_old, samples, n, merged);
	assert(n_merged >= n_old);
	int r = head_samples_encode(merged, n_merged, slot->n_profiles + 1, &data, &n_data);
	if (r < 0)
		return r;
	r = slot_add_time(h, slot, time_ms);
	if (r < 0) {
		free(data);
		return r;
	}
	slot_replace(h, slot, data, n_data);
	slot->n_profiles++;
	slot->time_ms = time_ms > slot->time_ms ? time_ms : slot->time_ms;
	h->n_samples += n_merged - n_old;
	return 0;
}

static int slot_insert(struct head *h, struct head_series *series, int64_t time_ms,
		       const struct head_sample *samples, size_t n)
{
	struct head_slot slot = { .time_ms = time_ms, .n_profiles = 1 };
	uint32_t n_data;
	uint8_t *data;
	int r = head_grow_always(h, &series->slots, 1, sizeof(slot));

	r = r < 0 ? r : head_samples_encode(samples, n, 1, &data, &n_data);
	if (r < 0)
		return r;
	slot_replace(h, &slot, data, n_data);
	h->bytes += HEAD_BLOCK_BYTES;
	struct head_slot *slots = series->slots.items;
	size_t place = slot_place(h, series, time_ms);

	memmove(slots + place + 1, slots + place, (series->slots.n - place) * sizeof(*slots));
	slots[place] = slot;
	if (series->slots.n++ == 0) {
		h->n_series++;
		h->n_slot_labels += series->n_labels;
	}
	h->n_slots++;
	h->n_samples += n;
	return 0;
}

int head_put(struct head *h, uint32_t series, int64_t time_ms, int64_t period,
	     const struct head_sample *samples, size_t n)
{
	assert(series < h->series.n && n > 0 && head_takes_time(h, time_ms));

	struct head_series *x = (struct head_series *)h->series.items + series;
	struct head_slot *slot = slot_find(h, x, time_ms);
	int r = slot ? slot_merge(h, slot, time_ms, samples, n)
		     : slot_insert(h, x, time_ms, samples, n);

	if (r < 0)
		return r;
	if (period > 0)
		x->period = period;
	/* The time of a slot is that of its last profile: no earlier one is told outside. */
	h->first_ms = h->n_profiles == 0 || time_ms < h->first_ms ? time_ms : h->first_ms;
	h->last_ms = h->n_profiles == 0 || time_ms > h->last_ms ? time_ms : h->last_ms;
	h->n_profiles++;
	return 0;
}

void head_init_series(struct head *h)
{
	h->series_ids = (struct id_table){ .hash = series_hash, .equal = series_equal };
}

void head_fini_series(struct head *h)
{
	struct head_series *series = h->series.items;

	for (size_t i = 0; i < h->series.n; i++) {
		struct head_slot *slots = series[i].slots.items;

		for (size_t j = 0; j < series[i].slots.n; j++) {
			free(slots[j].data);
			free(slots[j].times_ms);
		}
		free(slots);
	}
}
