/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that one endpoint could not take: the index, and the bounds. What the thread does: spool_job.c. */
#include "agent/push/spool/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/spool/spool_private.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

/* Smaller ones are given back sooner, and evicted in smaller steps. */
#define SEGMENTS 16
#define MAX_SEGMENT_BYTES (UINT64_C(16) << 20)
/* Profiles that wait for the disk; the rest waits in the queue. */
#define MAX_WRITING 64
#define MAX_JOBS ((size_t)1 << 20)

static struct spool_segment *segment_new(struct spool *s, uint64_t id)
{
	struct spool_segment *segment = calloc(1, sizeof(*segment));

	if (!segment)
		return NULL;
	segment->id = id;
	list_push_back(&s->segments, &segment->node);
	s->n_segments++;
	return segment;
}

/* Places come in the order of their segments. */
static struct spool_segment *segment_of(struct spool *s, uint64_t id)
{
	struct spool_segment *last = LIST_ENTRY(s->segments.prev, struct spool_segment, node);

	return !list_empty(&s->segments) && last->id == id ? last : segment_new(s, id);
}

static void segment_gone(struct spool *s, struct spool_segment *segment)
{
	segment->gone = true;
	list_remove(&segment->node);
	s->n_segments--;
	s->n_bytes -= segment->n_bytes;
}

/* An empty one is removed, unless something may still be on its way into it. */
static void segment_release(struct spool *s, struct spool_segment *segment)
{
	if (segment->n_items > 0)
		return;
	if (!segment->gone) {
		if (s->n_writing > 0 && segment->node.next == &s->segments)
			return;
		spool_job_remove(s, segment->id);
		segment_gone(s, segment);
	}
	free(segment);
}

static void item_free(struct spool *s, struct spool_item *item)
{
	struct spool_segment *segment = item->segment;

	list_remove(&item->node);
	spool_room_give(&s->room, item);
	s->n--;
	segment->n_items--;
	segment_release(s, segment);
}

static void item_lost(struct spool *s, struct spool_item *item, enum spool_loss loss)
{
	size_t n = item->n_profile_bytes;

	item_free(s, item);
	if (!s->closing)
		s->callbacks.lost(s->callbacks.data, loss, n);
}

struct spool_place spool_item_place(const struct spool_item *item)
{
	return (struct spool_place){ .segment = item->segment->id,
				     .offset = item->offset,
				     .record = { .n_frame = item->n_frame } };
}

int spool_add(struct spool *s, const struct spool_place *place, unsigned int n_attempts)
{
	struct spool_segment *segment = segment_of(s, place->segment);
	struct spool_item *item = segment ? spool_room_take(&s->room) : NULL;
	uint64_t now_ns = clock_real_ns();

	if (!item)
		return -ENOMEM;
	item->segment = segment;
	item->offset = place->offset;
	item->n_frame = place->record.n_frame;
	item->n_profile_bytes = place->record.n_profile_bytes;
	/* A clock that went back, or a file that somebody has changed. */
	item->deadline_ns = MIN_OF(place->record.deadline_ns, now_ns + s->max_age_ns);
	item->since_ns = item->deadline_ns > s->max_age_ns ? item->deadline_ns - s->max_age_ns : 1;
	item->n_attempts = n_attempts;
	list_push_back(n_attempts > 0 ? &s->tried : &s->fresh, &item->node);
	if (segment->n_items == 0)
		segment->since_ns = item->since_ns;
	segment->n_items++;
	segment->n_bytes += spool_place_bytes(place);
	s->n++;
	s->n_bytes += spool_place_bytes(place);
	return 0;
}

static void lose_all_of(struct spool *s, struct list *items, const struct spool_segment *segment,
			enum spool_loss loss)
{
	LIST_FOREACH (items, node) {
		struct spool_item *item = LIST_ENTRY(node, struct spool_item, node);

		if (item->segment == segment)
			item_lost(s, item, loss);
	}
}

static void lose_segment(struct spool *s, struct spool_segment *segment, enum spool_loss loss)
{
	segment_gone(s, segment);
	/* Not freed on the way. */
	segment->n_items++;
	lose_all_of(s, &s->fresh, segment, loss);
	lose_all_of(s, &s->tried, segment, loss);
	segment->n_items--;
	segment_release(s, segment);
}

void spool_lose_all(struct spool *s)
{
	LIST_FOREACH (&s->segments, node)
		lose_segment(s, LIST_ENTRY(node, struct spool_segment, node), SPOOL_LOSS_DAMAGED);
}

void spool_keep_bounds(struct spool *s)
{
	while (s->n_segments > 1 && (s->n_bytes > s->max_bytes || s->n > SPOOL_MAX_RECORDS)) {
		struct spool_segment *oldest =
			LIST_ENTRY(s->segments.next, struct spool_segment, node);

		spool_job_remove(s, oldest->id);
		lose_segment(s, oldest, SPOOL_LOSS_FULL);
	}
	/* What became empty while something was on its way into it. */
	LIST_FOREACH (&s->segments, node)
		segment_release(s, LIST_ENTRY(node, struct spool_segment, node));
}

bool spool_takes(struct spool *s)
{
	if (clock_mono_ns() < s->write_at_ns || s->n_writing >= MAX_WRITING)
		return false;
	if (s->state == SPOOL_OPEN)
		return true;
	s->needed = true;
	spool_job_open(s);
	return false;
}

size_t spool_max_profile_bytes(const struct spool *s)
{
	return s->max_bytes / 4;
}

bool spool_put(struct spool *s, struct push_entry *entry)
{
	return spool_job_write(s, entry);
}

bool spool_has(const struct spool *s)
{
	return s->state == SPOOL_OPEN && clock_mono_ns() >= s->read_at_ns &&
	       !(list_empty(&s->fresh) && list_empty(&s->tried));
}

static struct spool_item *next_item(struct spool *s)
{
	unsigned int turn = s->turn++ % 8;
	struct list *node = s->fresh.prev;

	if (list_empty(&s->fresh) || (turn == 7 && !list_empty(&s->tried)))
		node = s->tried.next;
	else if (turn == 3)
		node = s->fresh.next;
	return LIST_ENTRY(node, struct spool_item, node);
}

bool spool_load(struct spool *s)
{
	struct spool_item *item = next_item(s);

	list_remove(&item->node);
	if (spool_job_read(s, item))
		return true;
	list_push_back(&s->tried, &item->node);
	return false;
}

void spool_put_back(struct spool *s, struct spool_item *item, unsigned int n_attempts)
{
	item->n_attempts = n_attempts;
	if (item->segment->gone)
		item_lost(s, item, SPOOL_LOSS_FULL);
	else
		list_push_back(&s->tried, &item->node);
}

void spool_finish(struct spool *s, struct spool_item *item)
{
	if (!item->segment->gone)
		spool_job_mark(s, item);
	item_free(s, item);
}

void spool_damaged(struct spool *s, struct spool_item *item)
{
	item_lost(s, item, SPOOL_LOSS_DAMAGED);
}

unsigned int spool_item_attempts(const struct spool_item *item)
{
	return item->n_attempts;
}

static void drop_late(struct spool *s, struct list *items, uint64_t now_ns, bool in_order)
{
	LIST_FOREACH (items, node) {
		struct spool_item *item = LIST_ENTRY(node, struct spool_item, node);

		if (item->deadline_ns >= now_ns && in_order)
			return;
		if (item->deadline_ns >= now_ns)
			continue;
		if (!item->segment->gone)
			spool_job_mark(s, item);
		item_lost(s, item, SPOOL_LOSS_AGE);
	}
}

/* Deadlines of what was never out grow nearly with its order; one that does not is looked at when it is read. */
void spool_drop_late(struct spool *s, uint64_t now_ns)
{
	if (now_ns - s->late_ns < NS_PER_S)
		return;
	s->late_ns = now_ns;
	drop_late(s, &s->fresh, now_ns, true);
	drop_late(s, &s->tried, now_ns, false);
}

void spool_stats_get(const struct spool *s, struct spool_stats *ret_stats)
{
	*ret_stats = (struct spool_stats){
		.n = s->n,
		.n_bytes = s->n_bytes,
		.n_under_way = s->n_writing + s->n_reading,
		.open = s->state == SPOOL_OPEN,
		.failing = s->failing,
	};
	if (!list_empty(&s->segments))
		ret_stats->oldest_ns =
			LIST_ENTRY(s->segments.next, struct spool_segment, node)->since_ns;
}

void spool_drain(struct spool *s)
{
	worker_drain(s->worker);
}

/* What waited is tried again, and what had to stay in memory moves. */
static void spool_on_timer(void *data)
{
	struct spool *s = data;

	if (s->state != SPOOL_OPEN)
		spool_job_open(s);
	else
		s->callbacks.ready(s->callbacks.data, 0);
}

static int spool_init(struct spool *s, struct loop *loop, const struct spool_options *o)
{
	s->path = strdup(o->path);
	s->owner = strdup(o->owner);
	if (!s->path || !s->owner)
		return -ENOMEM;
	s->max_bytes = MAX_OF(o->max_bytes, SPOOL_MIN_BYTES);
	s->max_age_ns = o->max_age_ns;
	s->retry_ns = o->retry_ns;
	s->say_failed = s->say_works =
		(struct ratelimit){ .interval_ns = 60 * NS_PER_S, .burst = 1 };
	s->dir = SPOOL_DIR_INIT;
	s->dir.path = s->path;
	s->dir.max_segment_bytes = MIN_OF(s->max_bytes / SEGMENTS, MAX_SEGMENT_BYTES);
	int r = loop_timer_new(loop, spool_on_timer, s, &s->timer);
	return r < 0 ? r : worker_new(loop, MAX_JOBS, &s->worker);
}

int spool_new(struct loop *loop, const struct spool_options *options,
	      const struct spool_callbacks *callbacks, struct spool **ret_spool)
{
	_cleanup_(spool_freep) struct spool *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	list_init(&s->segments);
	list_init(&s->fresh);
	list_init(&s->tried);
	s->callbacks = *callbacks;
	int r = spool_init(s, loop, options);
	if (r < 0)
		return r;
	spool_job_open(s);
	*ret_spool = TAKE_PTR(s);
	return 0;
}

static void free_items(struct spool *s, struct list *items)
{
	LIST_FOREACH (items, node)
		item_free(s, LIST_ENTRY(node, struct spool_item, node));
}

void spool_free(struct spool *s)
{
	if (!s)
		return;
	s->closing = true;
	worker_free(s->worker);
	s->worker = NULL;
	free_items(s, &s->fresh);
	free_items(s, &s->tried);
	LIST_FOREACH (&s->segments, node)
		free(LIST_ENTRY(node, struct spool_segment, node));
	spool_room_fini(&s->room);
	spool_dir_close(&s->dir);
	loop_timer_free(s->timer);
	free(s->path);
	free(s->owner);
	free(s);
}
