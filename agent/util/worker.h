/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread beside the loop's, for what may block or take long: open and parse an object, name and encode a profile, read and write files.
 *
 * A job moves through two bounded queues: submitted by the loop thread, run in the worker, then `done` in the loop thread. While a
 * job is under way its memory belongs to the worker. One lock guards the two queues; what else several threads of the agent touch is
 * listed in agent/README.md.
 */
#ifndef XAGENT_AGENT_UTIL_WORKER_H
#define XAGENT_AGENT_UTIL_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/cleanup.h"
#include "agent/util/list.h"
#include "agent/util/loop.h"

struct worker;

/* Embedded in the caller's job. */
struct worker_job {
	struct list node;		      /* the worker's */
	void (*run)(struct worker_job *job);  /* worker thread */
	void (*done)(struct worker_job *job); /* loop thread; may free the job */
};

/* At most max_jobs are under way at once. */
int worker_new(struct loop *loop, size_t max_jobs, struct worker **ret_worker);
/* Waits for the running job, runs the rest, delivers every `done`. NULL-safe. */
void worker_free(struct worker *worker);
DEFINE_CLEANUP(struct worker *, worker_free);

/* 0, or -EAGAIN when max_jobs are under way (the job stays the caller's). Loop thread. */
int worker_submit(struct worker *worker, struct worker_job *job);
/* Whether it would take one now. */
bool worker_has_room(const struct worker *worker);
/* Waits until nothing is under way, delivering `done` calls. Loop thread; for shutdown and tests. */
void worker_drain(struct worker *worker);
/* As long as `busy` says so: asked again after each delivery, since what is delivered may submit more. Ends also when nothing is under way. */
void worker_drain_while(struct worker *worker, bool (*busy)(const void *data), const void *data);
size_t worker_n_jobs(const struct worker *worker);

#endif
