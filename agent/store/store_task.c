/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the tasks of the ingest thread. */
#include "agent/store/store_task.h"

#include <assert.h>

#include "agent/store/store_private.h"

static void task_run(struct worker_job *job)
{
	struct store_task *task = CONTAINER_OF(job, struct store_task, job);

	task->run(task);
}

/* The head is back. */
static void task_done(struct worker_job *job)
{
	struct store_task *task = CONTAINER_OF(job, struct store_task, job);
	struct store *s = task->store;

	assert(s->running == task);
	s->running = NULL;
	store_note_head(s);
	task->done(task);
	store_task_next(s);
}

static void start(struct store *s, struct store_task *task)
{
	assert(!s->running && task->run && task->done);
	task->job.run = task_run;
	task->job.done = task_done;
	s->running = task;
	/* It takes one at a time, and there is none. */
	int r = worker_submit(s->ingest, &task->job);
	assert(r == 0);
}

static void init_task(struct store *s, struct store_task *task)
{
	task->store = s;
	list_init(&task->node);
}

static struct store_task *take_first(struct store *s, enum store_task_class class)
{
	struct store_task *task;

	if (list_empty(&s->tasks[class]))
		return NULL;
	task = LIST_ENTRY(s->tasks[class].next, struct store_task, node);
	list_remove(&task->node);
	return task;
}

/* Who waits for a copy of a head that was evicted meanwhile: there will be none, and nobody else would tell. */
static void serve_without_head(struct store *s)
{
	if (s->head_stats.n_profiles == 0 && !list_empty(&s->views))
		store_serve_views(s, 0, NULL);
}

static struct store_task *next_task(struct store *s)
{
	serve_without_head(s);
	struct store_task *task = store_closing_task(s);

	task = task ? task : take_first(s, STORE_TASK_OWN);
	task = task ? task : store_copying_task(s);
	return task ? task : take_first(s, STORE_TASK_FOREIGN);
}

/* What is done at once may submit more: that is for this loop, too. */
void store_task_next(struct store *s)
{
	struct store_task *task;

	if (s->starting)
		return;
	s->starting = true;
	while (!s->running && (task = next_task(s))) {
		task->store = s;
		if (!task->begin || task->begin(task))
			start(s, task);
		else
			task->done(task);
	}
	s->starting = false;
}

void store_task_submit(struct store *s, struct store_task *task, enum store_task_class class)
{
	assert(class < STORE_TASK_CLASSES);
	init_task(s, task);
	task->class = class;
	list_push_back(&s->tasks[class], &task->node);
	store_task_next(s);
}

void store_task_repeat(struct store *s, struct store_task *task)
{
	init_task(s, task);
	list_push_front(&s->tasks[task->class], &task->node);
}

static bool has_any(const void *data)
{
	return ((const struct store *)data)->running;
}

void store_task_drain(struct store *s)
{
	worker_drain_while(s->ingest, has_any, s);
}
