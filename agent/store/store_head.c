/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the head: begun with the first profile, copied for whoever asks, closed when it is old or large. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/segment_image.h"
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

struct head_options store_head_options(const struct store *s)
{
	size_t hard = s->options.max_bytes / HEAD_HARD_SHARE;

	return (struct head_options){
		.max_bytes = hard < HEAD_HARD_BYTES ? hard : HEAD_HARD_BYTES,
		.slot_ms = (int64_t)(s->options.slot_ns / NS_PER_MS),
		.seed = s->seed,
	};
}

int store_need_head(struct store *s)
{
	const struct head_options options = store_head_options(s);

	assert(!s->running);
	if (s->head)
		return 0;
	int r = head_new(&options, &s->head);
	if (r < 0)
		return r;
	s->head_id = store_new_id(s);
	s->head_since_ns = store_now_ns(s);
	store_note_head(s);
	return 0;
}

void store_note_head(struct store *s)
{
	assert(!s->running);
	s->head_stats = (struct head_stats){ 0 };
	if (s->head)
		head_stats(s->head, &s->head_stats);
}

void store_head_changed(struct store *s)
{
	segment_unref(s->head_copy);
	s->head_copy = NULL;
	s->head_is_on_disk = false;
}

static bool head_is_full(const struct store *s)
{
	size_t soft = s->options.max_bytes / HEAD_SOFT_SHARE;

	return s->head_stats.bytes > (soft < HEAD_SOFT_BYTES ? soft : HEAD_SOFT_BYTES);
}

/* A clock that was set back makes it old as well. */
static bool head_is_old(const struct store *s)
{
	uint64_t now_ns = store_now_ns(s);

	return now_ns < s->head_since_ns || now_ns - s->head_since_ns >= s->options.segment_ns;
}

/* ---- ingest thread ---- */

static int encode(struct head *h, struct segment **ret_segment)
{
	uint8_t *image;
	size_t n;
	int r = head_encode(h, &image, &n);

	if (r < 0)
		return r;
	r = segment_adopt(image, n, ret_segment);
	if (r < 0)
		free(image);
	return r;
}

/* What is closed goes here: with many slots that takes a while. */
static void encoding_run(struct store_task *task)
{
	struct head_encoding *e = CONTAINER_OF(task, struct head_encoding, task);
	struct store *s = task->store;
	struct head_stats stats;

	head_stats(s->head, &stats);
	e->result = stats.n_profiles > 0 && !e->made ? encode(s->head, &e->made) : 0;
	if (e->result < 0 || !e->closes)
		return;
	head_free(s->head);
	s->head = NULL;
}

/* ---- loop thread ---- */

/* There was room for it when it began; a file that was read since may have taken that. */
static void add_closed(struct store *s, struct segment *segment)
{
	if (store_add_segment(s, segment, s->head_id) < 0) {
		store_lose_segment(s, segment, s->head_id);
		return;
	}
	if (s->disk)
		disk_write(s->disk, s->head_id, false, segment);
}

static void closing_done(struct store_task *task)
{
	struct head_encoding *e = CONTAINER_OF(task, struct head_encoding, task);
	struct store *s = task->store;

	s->wants_close = false;
	s->close_failed = e->result < 0;
	if (e->result < 0) {
		segment_unref(e->made);
		return;
	}
	store_head_changed(s);
	if (e->made)
		add_closed(s, TAKE_PTR(e->made));
	store_evict(s);
	store_serve_views(s, 0, NULL);
}

static void copying_done(struct store_task *task)
{
	struct head_encoding *e = CONTAINER_OF(task, struct head_encoding, task);
	struct store *s = task->store;

	_cleanup_(segment_unrefp) struct segment *copy = e->made;

	s->head_copy = copy ? segment_ref(copy) : NULL;
	if (s->wants_copy && copy)
		store_flush(s);
	s->wants_copy = false;
	/* The copy may push out what is oldest, and if there is no room for it, itself. */
	store_evict(s);
	store_serve_views(s, e->result, copy);
}

static bool closing_begin(struct store_task *task)
{
	struct head_encoding *e = CONTAINER_OF(task, struct head_encoding, task);

	e->result = store_grow_segments(task->store);
	return e->result == 0;
}

static struct store_task *encoding_task(struct store *s, bool closes)
{
	assert(!s->running);
	s->encoding = (struct head_encoding){
		.task = { .begin = closes ? closing_begin : NULL,
			  .run = encoding_run,
			  .done = closes ? closing_done : copying_done,
			  .class = STORE_TASK_OWN },
		.closes = closes,
		.made = closes && s->head_copy ? segment_ref(s->head_copy) : NULL,
	};
	return &s->encoding.task;
}

struct store_task *store_closing_task(struct store *s)
{
	bool due = !s->close_failed && (head_is_full(s) || head_is_old(s));

	if (!s->head || (!s->wants_close && !due)) {
		s->wants_close = false;
		return NULL;
	}
	return encoding_task(s, true);
}

struct store_task *store_copying_task(struct store *s)
{
	if (!s->head || s->head_copy || s->head_stats.n_profiles == 0 ||
	    (list_empty(&s->views) && !s->wants_copy))
		return NULL;
	return encoding_task(s, false);
}

void store_flush(struct store *s)
{
	if (!s->disk || s->head_is_on_disk || s->head_stats.n_profiles == 0)
		return;
	if (!s->head_copy) {
		s->wants_copy = true;
		store_task_next(s);
		return;
	}
	disk_write(s->disk, s->head_id, true, s->head_copy);
	s->head_is_on_disk = true;
}
