/* SPDX-License-Identifier: Apache-2.0 */
/* What a spool has its thread do, and what is made of how it went. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/spool/spool_private.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

struct spool_job {
	struct worker_job job;
	struct spool *spool;
	struct push_entry *entry; /* write */
	struct spool_item *item;  /* read */
	struct spool_place place;
	uint64_t deadline_ns; /* write */
	bool make;	      /* open */
	struct spool_found found;
	struct push_profile *profile;
	int r;
};

static struct spool_job *job_of(struct worker_job *job)
{
	return CONTAINER_OF(job, struct spool_job, job);
}

static bool job_start(struct spool *s, const struct spool_job *init,
		      void (*run)(struct worker_job *), void (*done)(struct worker_job *))
{
	struct spool_job *j = s->closing ? NULL : malloc(sizeof(*j));

	if (!j)
		return false;
	*j = *init;
	j->spool = s;
	j->job.run = run;
	j->job.done = done;
	if (worker_submit(s->worker, &j->job) == 0)
		return true;
	free(j);
	return false;
}

/* A disk with room for small profiles alone fails and works in turns: one line a minute of each. */
static void spool_say(const struct spool *s, enum log_level level, struct ratelimit *limit,
		      const char *message, int r)
{
	struct log_field fields[] = { LOG_STR("endpoint", s->owner),
				      LOG_STR("path", s->path),
				      { .key = NULL },
				      { .key = NULL } };

	if (r < 0)
		fields[2] = (struct log_field)LOG_STR("err", strerrordesc_np(-r));
	log_write(level, limit, message, fields);
}

static void spool_failed(struct spool *s, int r, uint64_t *at_ns)
{
	*at_ns = clock_mono_ns() + s->retry_ns;
	loop_timer_arm(s->timer, *at_ns);
	if (!s->failing)
		spool_say(s, LOG_LEVEL_WARN, &s->say_failed,
			  "profiles are kept in memory alone: the spool cannot be used", r);
	s->failing = true;
}

/* What was under way when it failed says nothing new. */
static void spool_works(struct spool *s)
{
	if (!s->failing || clock_mono_ns() < s->write_at_ns)
		return;
	s->failing = false;
	spool_say(s, LOG_LEVEL_INFO, &s->say_works, "the spool can be used again", 0);
}

/* ---- open ---- */

static void open_run(struct worker_job *job)
{
	struct spool_job *j = job_of(job);

	j->r = spool_dir_open(&j->spool->dir, j->make, &j->found);
}

static void take_found(struct spool *s, const struct spool_found *found)
{
	for (size_t i = 0; i < found->n; i++)
		if (spool_add(s, &found->places[i], 0) < 0)
			return;
	if (found->n + found->n_damaged > 0)
		log_info("profiles of an earlier run are in the spool",
			 LOG_STR("endpoint", s->owner), LOG_UINT("profiles", found->n),
			 LOG_UINT("damaged", found->n_damaged));
}

static void open_failed(struct spool *s, int r, bool make)
{
	s->state = SPOOL_CLOSED;
	if (make) {
		spool_failed(s, r, &s->write_at_ns);
	} else if (r != -ENOENT) {
		/* Nothing is lost by it yet: another agent, or one that ends. */
		loop_timer_arm(s->timer, clock_mono_ns() + s->retry_ns);
	}
}

static void open_done(struct worker_job *job)
{
	struct spool_job *j = job_of(job);
	struct spool *s = j->spool;

	if (j->r < 0 || s->closing) {
		open_failed(s, j->r, j->make);
	} else {
		s->state = SPOOL_OPEN;
		spool_works(s);
		take_found(s, &j->found);
		spool_keep_bounds(s);
		for (size_t i = 0; i < j->found.n_damaged; i++)
			s->callbacks.lost(s->callbacks.data, SPOOL_LOSS_DAMAGED, 0);
		s->callbacks.ready(s->callbacks.data, j->found.n + j->found.n_damaged);
	}
	spool_found_fini(&j->found);
	free(j);
}

void spool_job_open(struct spool *s)
{
	const struct spool_job init = { .make = s->needed };

	if (s->state != SPOOL_CLOSED)
		return;
	if (job_start(s, &init, open_run, open_done))
		s->state = SPOOL_OPENING;
}

/* ---- write ---- */

static void write_run(struct worker_job *job)
{
	struct spool_job *j = job_of(job);

	j->r = spool_dir_append(&j->spool->dir, j->entry->profile, j->deadline_ns, &j->place);
	/* Removed with all that was in it: it is made again when it is next needed. */
	if (j->r == -ESTALE)
		spool_dir_close(&j->spool->dir);
}

static void entry_free(struct push_entry *entry)
{
	push_profile_unref(entry->profile);
	free(entry);
}

static void write_failed(struct spool *s, int r)
{
	if (r == -ESTALE && s->state == SPOOL_OPEN) {
		s->state = SPOOL_CLOSED;
		spool_lose_all(s);
	}
	spool_failed(s, r, &s->write_at_ns);
}

static void write_done(struct worker_job *job)
{
	struct spool_job *j = job_of(job);
	struct spool *s = j->spool;

	s->n_writing--;
	if (s->closing) {
		entry_free(j->entry);
		free(j);
		return;
	}
	bool written = j->r == 0 && spool_add(s, &j->place, j->entry->n_attempts) == 0;
	if (written)
		spool_works(s);
	else
		write_failed(s, j->r);
	s->callbacks.put(s->callbacks.data, j->entry, written);
	spool_keep_bounds(s);
	free(j);
}

bool spool_job_write(struct spool *s, struct push_entry *entry)
{
	const struct spool_job init = {
		.entry = entry,
		.deadline_ns = MIN_OF(entry->profile->deadline_ns, clock_real_ns() + s->max_age_ns),
	};

	if (!job_start(s, &init, write_run, write_done))
		return false;
	s->n_writing++;
	return true;
}

/* ---- read ---- */

static void read_run(struct worker_job *job)
{
	struct spool_job *j = job_of(job);

	j->r = spool_dir_read(&j->spool->dir, &j->place, &j->profile);
}

static void read_failed(struct spool *s, struct spool_item *item, int r)
{
	if (r == -EBADMSG || item->segment->gone) {
		spool_damaged(s, item);
	} else {
		spool_failed(s, r, &s->read_at_ns);
		spool_put_back(s, item, item->n_attempts);
	}
	s->callbacks.loaded(s->callbacks.data, NULL, NULL);
}

static void read_done(struct worker_job *job)
{
	struct spool_job *j = job_of(job);
	struct spool *s = j->spool;

	s->n_reading--;
	if (s->closing) {
		push_profile_unref(j->profile);
		spool_put_back(s, j->item, j->item->n_attempts);
	} else if (j->r < 0) {
		read_failed(s, j->item, j->r);
	} else {
		/* What the index says, which knows max_age. */
		j->profile->deadline_ns = j->item->deadline_ns;
		s->callbacks.loaded(s->callbacks.data, j->item, j->profile);
	}
	free(j);
}

bool spool_job_read(struct spool *s, struct spool_item *item)
{
	const struct spool_job init = { .item = item, .place = spool_item_place(item) };

	if (!job_start(s, &init, read_run, read_done))
		return false;
	s->n_reading++;
	return true;
}

/* ---- mark, remove: at worst something is found and sent again ---- */

static void mark_run(struct worker_job *job)
{
	struct spool_job *j = job_of(job);

	(void)spool_dir_mark(&j->spool->dir, &j->place);
}

static void remove_run(struct worker_job *job)
{
	struct spool_job *j = job_of(job);

	(void)spool_dir_remove(&j->spool->dir, j->place.segment);
}

static void forget(struct worker_job *job)
{
	free(job_of(job));
}

void spool_job_mark(struct spool *s, struct spool_item *item)
{
	const struct spool_job init = { .place = spool_item_place(item) };

	(void)job_start(s, &init, mark_run, forget);
}

void spool_job_remove(struct spool *s, uint64_t segment)
{
	const struct spool_job init = { .place = { .segment = segment } };

	(void)job_start(s, &init, remove_run, forget);
}
