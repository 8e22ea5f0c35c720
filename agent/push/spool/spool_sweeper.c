/* SPDX-License-Identifier: Apache-2.0 */
/* When spools that no endpoint has any more are looked for. */
#include "agent/push/spool/spool_sweeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/spool/spool_sweep.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/worker.h"

/* From the beginning of a look to the question whether it has ended, and to the next where one could not begin. */
#define AGAIN_NS NS_PER_S

struct spool_sweeper {
	struct worker_job job;
	struct loop *loop;
	struct loop_timer *timer;
	struct worker *worker; /* NULL: no look is under way */
	char *path;	       /* with a slash behind it */
	uint64_t then_ns, max_age_ns;
	struct spool_swept swept; /* the worker's, while it looks */
};

static void look(struct worker_job *job)
{
	struct spool_sweeper *s = CONTAINER_OF(job, struct spool_sweeper, job);

	spool_sweep(s->path, clock_real_ns() - s->max_age_ns, &s->swept);
}

static void looked(struct worker_job *job)
{
	const struct spool_sweeper *s = CONTAINER_OF(job, struct spool_sweeper, job);

	if (s->swept.n_segments > 0)
		log_info("profiles of endpoints that are not configured any more were removed from "
			 "disk",
			 LOG_STR("directory", s->path), LOG_UINT("segments", s->swept.n_segments),
			 LOG_UINT("bytes", s->swept.n_bytes));
}

static void begin(struct spool_sweeper *s)
{
	if (worker_new(s->loop, 1, &s->worker) < 0)
		return;
	if (worker_submit(s->worker, &s->job) == 0)
		return;
	worker_free(s->worker);
	s->worker = NULL;
}

static void end(struct spool_sweeper *s)
{
	worker_free(s->worker);
	s->worker = NULL;
}

static void on_timer(void *data)
{
	struct spool_sweeper *s = data;
	uint64_t wait_ns = AGAIN_NS;

	if (!s->worker) {
		begin(s);
	} else if (worker_n_jobs(s->worker) == 0) {
		end(s);
		wait_ns = s->then_ns;
	}
	loop_timer_arm(s->timer, clock_mono_ns() + wait_ns);
}

static char *path_of(const char *storage)
{
	size_t n = strlen(storage);
	char *path;

	if (asprintf(&path, "%s%sspool/", storage, n > 0 && storage[n - 1] != '/' ? "/" : "") < 0)
		return NULL;
	return path;
}

int spool_sweeper_new(struct loop *loop, const struct spool_sweeper_options *options,
		      struct spool_sweeper **ret_sweeper)
{
	_cleanup_(spool_sweeper_freep) struct spool_sweeper *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->job = (struct worker_job){ .run = look, .done = looked };
	s->loop = loop;
	s->then_ns = options->then_ns;
	s->max_age_ns = options->max_age_ns;
	s->path = path_of(options->storage_path);
	if (!s->path)
		return -ENOMEM;
	int r = loop_timer_new(loop, on_timer, s, &s->timer);
	if (r < 0)
		return r;
	loop_timer_arm(s->timer, clock_mono_ns() + options->first_ns);
	*ret_sweeper = TAKE_PTR(s);
	return 0;
}

void spool_sweeper_free(struct spool_sweeper *s)
{
	if (!s)
		return;
	worker_free(s->worker);
	loop_timer_free(s->timer);
	free(s->path);
	free(s);
}
