/* SPDX-License-Identifier: Apache-2.0 */
/* One profile into the head: read and put on the ingest thread, counted on the loop's. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "agent/store/store_private.h"

/* A head is closed for it once; in between others may have filled the next. */
#define MAX_REPEATS 3

/* ---- ingest thread ---- */

/* Whether it has room in a head of its own. 0, -ENOBUFS, -ENOMEM, -ECANCELED. */
static int try_empty_head(struct store_put *put)
{
	_cleanup_(head_freep) struct head *h = NULL;
	struct ingest_result ignored;
	int r = head_new(&put->head_options, &h);

	return r < 0 ? r : ingest_put(put->in, h, NULL, 0, &ignored);
}

/* Into the head; when this one is full, it is closed for a new one. One that would fill any leaves it open: who retries it for ever would close
 * a head each time, and small segments share little. */
static int put_opened(struct store_put *put)
{
	struct store *s = put->task.store;
	int r = ingest_put(put->in, s->head, put->closed, put->n_closed, &put->counts);

	if (r != -ENOBUFS || put->fresh)
		return r;
	r = try_empty_head(put);
	put->wants_new_head = r == 0;
	return r;
}

static int put_open(struct store_put *put)
{
	if (put->profile)
		return ingest_open_profile(put->profile, put->now_ms, put->oldest_ms, put->why,
					   &put->in);
	return ingest_open(put->labels, put->pprof, put->n, put->now_ms, put->oldest_ms,
			   put->budget, put->why, &put->in);
}

static void put_run(struct store_task *task)
{
	struct store_put *put = CONTAINER_OF(task, struct store_put, task);

	if (put->budget)
		read_budget_begin(put->budget);
	put->outcome = put->in ? INGEST_OPENED : put_open(put);
	if (put->outcome == INGEST_OPENED)
		put->outcome = put_opened(put);
	if (!put->wants_new_head) {
		ingest_free(put->in);
		put->in = NULL;
	}
	if (put->budget)
		read_budget_end(put->budget);
}

/* ---- loop thread ---- */

static int refuse(struct store *s, enum ingest_outcome reason)
{
	assert(reason > INGEST_OPENED && reason < INGEST_MAX);
	s->n_refused_profiles++;
	metric_add(s->metrics.refused[reason], 1);
	return STORE_REFUSED;
}

void store_count_refused(struct store *s, enum ingest_outcome reason, size_t n)
{
	s->n_received_profiles += n;
	metric_add(s->metrics.received_profiles, n);
	for (size_t i = 0; i < n; i++)
		(void)refuse(s, reason);
}

/* Before compression, if it was not compressed. */
static size_t received_bytes(const struct store_put *put)
{
	if (!put->profile)
		return put->n;
	return put->profile->tables ? pprof_builder_packed_bytes(put->profile->tables)
				    : profile_form_bytes(put->profile, FORM_PPROF);
}

static void count_received(struct store *s, size_t n_bytes)
{
	s->n_received_profiles++;
	s->n_received_bytes += n_bytes;
	metric_add(s->metrics.received_profiles, 1);
	metric_add(s->metrics.received_bytes, n_bytes);
}

static int refuse_room(struct store *s, struct buf *why)
{
	(void)buf_printf(why, "the profile needs more than its share of the store's %zu KiB",
			 s->options.max_bytes >> 10);
	return refuse(s, INGEST_REFUSED_ROOM);
}

static int refuse_request(struct store *s)
{
	(void)refuse(s, INGEST_REFUSED_REQUEST);
	return STORE_OVER_BUDGET;
}

static int put_result(struct store *s, const struct store_put *put)
{
	switch (put->outcome) {
	case 0:
		break;
	case -ENOBUFS:
		return refuse_room(s, put->why);
	case -ECANCELED:
		return refuse_request(s);
	default:
		return put->outcome < 0 ? put->outcome
					: refuse(s, (enum ingest_outcome)put->outcome);
	}
	if (put->counts.n_kept > 0 || put->counts.n_repeated == 0)
		return STORE_KEPT;
	metric_add(s->metrics.repeated, 1);
	return STORE_REPEATED;
}

static void forget_segments(struct store_put *put)
{
	for (size_t i = 0; i < put->n_closed; i++)
		segment_unref(put->closed[i]);
	free(put->closed);
	put->closed = NULL;
	put->n_closed = 0;
}

static void put_end(struct store_put *put)
{
	struct store *s = put->task.store;

	forget_segments(put);
	ingest_free(put->in);
	put->in = NULL;
	count_received(s, received_bytes(put));
	put->result = put_result(s, put);
	store_evict(s);
	put->done(put);
}

/* In which a repetition may hide; they stay as they are, whatever the store does meanwhile. */
static int take_segments(struct store *s, struct store_put *put)
{
	put->closed = calloc(s->n_segments + 1, sizeof(struct segment *));
	if (!put->closed)
		return -ENOMEM;
	for (; put->n_closed < s->n_segments; put->n_closed++)
		put->closed[put->n_closed] = segment_ref(s->segments[put->n_closed]);
	return 0;
}

static void put_done(struct store_task *task)
{
	struct store_put *put = CONTAINER_OF(task, struct store_put, task);
	struct store *s = task->store;

	if (put->outcome == 0 && put->counts.n_kept > 0)
		store_head_changed(s);
	if (!put->wants_new_head) {
		put_end(put);
		return;
	}
	put->wants_new_head = false;
	forget_segments(put);
	if (put->n_repeats++ < MAX_REPEATS) {
		s->wants_close = true;
		store_task_repeat(s, task);
		return;
	}
	/* There was no memory to close it. */
	put->outcome = -ENOMEM;
	put_end(put);
}

static bool is_late(const struct store *s, const struct store_put *put)
{
	return put->deadline_ns && store_now_ns(s) > put->deadline_ns;
}

static bool put_begin(struct store_task *task)
{
	struct store_put *put = CONTAINER_OF(task, struct store_put, task);
	struct store *s = task->store;

	if (is_late(s, put)) {
		(void)buf_append_str(put->why, "it has waited too long for the store");
		put->outcome = INGEST_REFUSED_LATE;
		return false;
	}
	int r = take_segments(s, put);

	put->fresh = !s->head;
	r = r < 0 ? r : store_need_head(s);
	put->now_ms = (int64_t)(store_now_ns(s) / NS_PER_MS);
	put->oldest_ms = store_oldest_ms(s);
	put->head_options = store_head_options(s);
	put->outcome = r;
	return r == 0;
}

void store_put(struct store *s, struct store_put *put)
{
	assert(put->done && put->why && (put->profile || put->pprof || put->n == 0));
	put->task.begin = put_begin;
	put->task.run = put_run;
	put->task.done = put_done;
	put->in = NULL;
	put->closed = NULL;
	put->n_closed = 0;
	put->n_repeats = 0;
	put->wants_new_head = false;
	put->counts = (struct ingest_result){ 0 };
	store_task_submit(s, &put->task, put->budget ? STORE_TASK_FOREIGN : STORE_TASK_OWN);
}
