/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in store: what comes in, and its numbers. */
#include "agent/store/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/store/store_private.h"
#include "agent/util/macro.h"

/* Below this not even one profile of an ordinary program has room beside the tables. */
#define STORE_MIN_BYTES ((size_t)256 << 10)
/* Offsets within a segment have 32 bits, and a head has its share of all. */
#define STORE_MAX_BYTES ((size_t)4 << 30)
/* Times within a segment have 32 bits of milliseconds, 49 days. */
#define STORE_MAX_AGE_NS (720 * 3600 * NS_PER_S)
#define STORE_MAX_SEGMENT_NS (24 * 3600 * NS_PER_S)
/* How often to look at the clock: a segment may last so much longer. */
#define STORE_TICK_NS (10 * NS_PER_S)

static void flush_in_time(struct store *s)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns - s->flushed_mono_ns < s->options.flush_ns)
		return;
	s->flushed_mono_ns = now_ns;
	store_flush(s);
}

static void store_tick(void *data)
{
	struct store *s = data;
	uint64_t every_ns = s->options.flush_ns;

	if (every_ns == 0 || every_ns > STORE_TICK_NS)
		every_ns = STORE_TICK_NS;
	s->close_failed = false;
	store_evict(s);
	store_task_next(s);
	flush_in_time(s);
	loop_timer_arm(s->tick, clock_mono_ns() + every_ns);
}

static void store_scrape(struct telemetry *t, void *data)
{
	struct store *s = data;
	struct store_stats stats;

	(void)t;
	store_stats(s, &stats);
	metric_set(s->metrics.bytes, (double)stats.bytes);
	metric_set(s->metrics.max_bytes, (double)stats.max_bytes);
	metric_set(s->metrics.segments, (double)stats.n_segments);
	metric_set(s->metrics.series, (double)stats.n_series);
	metric_set(s->metrics.profiles, (double)stats.n_profiles);
	metric_set(s->metrics.samples, (double)stats.n_samples);
	metric_set(s->metrics.disk_bytes, s->disk ? (double)disk_bytes(s->disk) : 0);
	metric_set(s->metrics.disk_files, s->disk ? (double)disk_n_files(s->disk) : 0);
}

static bool store_loaded(struct segment *segment, uint64_t id, void *data)
{
	struct store *s = data;
	/* An eighth stays free: the head would push it out again. */
	size_t room = s->options.max_bytes - s->options.max_bytes / 8;

	if (store_bytes_now(s) + segment_bytes(segment) > room) {
		segment_unref(segment);
		return false;
	}
	/* Without memory its file stays for the next start. */
	if (store_add_segment(s, segment, id) < 0) {
		segment_unref(segment);
		return true;
	}
	/* If it is too old, it goes again, and its file. */
	store_evict(s);
	return true;
}

static int check_options(const struct store_options *o, struct buf *why)
{
	if (o->max_bytes < STORE_MIN_BYTES || o->max_bytes > STORE_MAX_BYTES)
		(void)buf_append_str(why, "max_bytes is from 256KiB to 4GiB");
	else if (o->max_age_ns < NS_PER_S || o->max_age_ns > STORE_MAX_AGE_NS)
		(void)buf_append_str(why, "max_age is from 1s to 720h");
	else if (o->slot_ns < NS_PER_MS || o->slot_ns > o->segment_ns)
		(void)buf_append_str(why, "a slot is from 1ms to the time of a segment");
	else if (o->segment_ns > STORE_MAX_SEGMENT_NS)
		(void)buf_append_str(why, "a segment is of 24h at most");
	else
		return 0;
	return -EINVAL;
}

static int store_copy_options(struct store *s, const struct store_options *options)
{
	s->options = *options;
	s->path = options->path ? strdup(options->path) : NULL;
	s->component_path = strdup(options->component_path);
	s->component_id = strdup(options->component_id);
	if ((options->path && !s->path) || !s->component_path || !s->component_id)
		return -ENOMEM;
	s->options.path = s->path;
	s->options.component_path = s->component_path;
	s->options.component_id = s->component_id;
	if (!s->options.now_ns)
		s->options.now_ns = clock_real_ns;
	/* Early at boot there may be none: then an address of this process is what nobody knows. */
	if (getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK) != (ssize_t)sizeof(s->seed))
		s->seed = (uintptr_t)s ^ clock_mono_ns();
	return 0;
}

static int store_start(struct store *s, struct loop *loop, struct worker *worker, struct buf *why)
{
	const struct disk_options options = { .path = s->path,
					      .loop = loop,
					      .worker = worker,
					      .metrics = &s->metrics,
					      /* A larger store of before may have written them. */
					      .max_bytes =
						      MAX_OF(s->options.max_bytes, HEAD_HARD_BYTES),
					      .loaded = store_loaded,
					      .data = s };
	int r = loop_timer_new(loop, store_tick, s, &s->tick);

	if (r < 0)
		return r;
	r = worker_new(loop, 1, &s->ingest);
	if (r < 0)
		return r;
	r = telemetry_on_scrape(s->telemetry, store_scrape, s);
	if (r < 0)
		return r;
	if (s->path) {
		r = disk_new(&options, why, &s->disk);
		if (r < 0)
			return r;
	}
	s->flushed_mono_ns = clock_mono_ns();
	store_tick(s);
	return 0;
}

int store_new(struct loop *loop, struct worker *worker, struct telemetry *telemetry,
	      const struct store_options *options, struct buf *why, struct store **ret_store)
{
	_cleanup_(store_freep) struct store *s = NULL;
	int r = check_options(options, why);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->telemetry = telemetry;
	list_init(&s->views);
	for (size_t i = 0; i < ARRAY_SIZE(s->tasks); i++)
		list_init(&s->tasks[i]);
	r = store_copy_options(s, options);
	if (r < 0)
		return r;
	store_metrics_init(&s->metrics, telemetry, s->component_path, s->component_id);
	r = store_start(s, loop, worker, why);
	if (r < 0)
		return r;
	*ret_store = TAKE_PTR(s);
	return 0;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	if (s->ingest) {
		store_task_drain(s);
		s->wants_close = s->disk;
		store_task_next(s);
		store_task_drain(s);
	}
	assert(!s->running && list_empty(&s->views));
	for (size_t i = 0; i < ARRAY_SIZE(s->tasks); i++)
		assert(list_empty(&s->tasks[i]));
	worker_free(s->ingest);
	disk_free(s->disk);
	loop_timer_free(s->tick);
	telemetry_off_scrape(s->telemetry, store_scrape, s);
	for (size_t i = 0; i < s->n_segments; i++)
		segment_unref(s->segments[i]);
	segment_unref(s->head_copy);
	head_free(s->head);
	free(s->segments);
	free(s->ids);
	free(s->path);
	free(s->component_path);
	free(s->component_id);
	free(s);
}

void store_set_bounds(struct store *s, size_t max_bytes, uint64_t max_age_ns)
{
	s->options.max_bytes = max_bytes < STORE_MIN_BYTES   ? STORE_MIN_BYTES
			       : max_bytes > STORE_MAX_BYTES ? STORE_MAX_BYTES
							     : max_bytes;
	s->options.max_age_ns = max_age_ns > STORE_MAX_AGE_NS ? STORE_MAX_AGE_NS : max_age_ns;
	store_evict(s);
	store_task_next(s);
}

void store_count_request(struct store *s, enum store_request_refusal reason)
{
	assert(reason < STORE_REQUEST_MAX);
	if (reason != STORE_REQUEST_TAKEN)
		metric_add(s->metrics.refused_requests[reason], 1);
}

void store_drain(struct store *s)
{
	store_task_drain(s);
}
