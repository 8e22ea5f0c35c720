/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the head: begun with the first profile, copied for whoever asks, closed when it is old or large. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment_image.h"
#include "agent/store/store_private.h"

/* Shares of max_bytes. A head beyond the first is closed, so that what leaves the store first is not most of it; within one profile it may
 * grow up to the second. Its closed copy takes no more. */
#define HEAD_SOFT_SHARE 8
#define HEAD_HARD_SHARE 4

/* Larger ones make copies that take long. */
#define HEAD_SOFT_BYTES ((size_t)16 << 20)

/* Of one millisecond, on one host. */
#define ID_RANDOM_BITS 16

/* Grows with time, also over restarts; the seed keeps two of one millisecond apart. */
static uint64_t store_new_id(struct store *s)
{
	uint64_t random = s->seed & (((uint64_t)1 << ID_RANDOM_BITS) - 1);
	uint64_t id = (store_now_ns(s) / NS_PER_MS) << ID_RANDOM_BITS | random;

	s->last_id = id > s->last_id ? id : s->last_id + 1;
	return s->last_id;
}

int store_new_head(const struct store *s, struct head **ret_head)
{
	size_t hard = s->options.max_bytes / HEAD_HARD_SHARE;
	const struct head_options options = {
		.max_bytes = hard < HEAD_HARD_BYTES ? hard : HEAD_HARD_BYTES,
		.slot_ms = (int64_t)(s->options.slot_ns / NS_PER_MS),
		.seed = s->seed,
	};

	return head_new(&options, ret_head);
}

int store_need_head(struct store *s)
{
	if (s->head)
		return 0;
	int r = store_new_head(s, &s->head);
	if (r < 0)
		return r;
	s->head_id = store_new_id(s);
	s->head_since_ns = store_now_ns(s);
	return 0;
}

void store_head_changed(struct store *s)
{
	segment_unref(s->head_copy);
	s->head_copy = NULL;
	s->head_is_on_disk = false;
}

static bool head_has_profiles(const struct store *s)
{
	struct head_stats stats;

	if (!s->head)
		return false;
	head_stats(s->head, &stats);
	return stats.n_profiles > 0;
}

struct segment *store_head_copy(struct store *s)
{
	uint8_t *image;
	size_t n;

	if (s->head_copy || !head_has_profiles(s))
		return s->head_copy;
	if (head_encode(s->head, &image, &n) < 0)
		return NULL;
	if (segment_adopt(image, n, &s->head_copy) < 0)
		free(image);
	return s->head_copy;
}

static void drop_head(struct store *s)
{
	store_head_changed(s);
	head_free(s->head);
	s->head = NULL;
}

int store_close_head(struct store *s)
{
	struct segment *copy = store_head_copy(s);

	if (!copy && head_has_profiles(s))
		return -ENOMEM;
	if (copy) {
		int r = store_add_segment(s, segment_ref(copy), s->head_id);

		if (r < 0) {
			segment_unref(copy);
			return r;
		}
		if (s->disk)
			disk_write(s->disk, s->head_id, false, copy);
	}
	drop_head(s);
	return 0;
}

static bool head_is_full(const struct store *s)
{
	size_t soft = s->options.max_bytes / HEAD_SOFT_SHARE;
	struct head_stats stats;

	head_stats(s->head, &stats);
	return stats.bytes > (soft < HEAD_SOFT_BYTES ? soft : HEAD_SOFT_BYTES);
}

/* A clock that was set back makes it old as well. */
static bool head_is_old(const struct store *s)
{
	uint64_t now_ns = store_now_ns(s);

	return now_ns < s->head_since_ns || now_ns - s->head_since_ns >= s->options.segment_ns;
}

int store_roll(struct store *s)
{
	if (!s->head || (!head_is_full(s) && !head_is_old(s)))
		return 0;
	return store_close_head(s);
}

void store_flush(struct store *s)
{
	if (!s->disk || s->head_is_on_disk)
		return;
	struct segment *copy = store_head_copy(s);

	if (!copy)
		return;
	disk_write(s->disk, s->head_id, true, copy);
	s->head_is_on_disk = true;
}
