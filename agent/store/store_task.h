/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store's ingest thread does, one task after the other: reading what was pushed, putting it into the head, encoding the head.
 *
 *	closing of a full head ─► this agent's own profiles ─► copies for queries and files ─► what others pushed, in turns
 *
 * The head belongs to the ingest thread while a task runs, and to the loop thread between two of them; nothing else of a store ever leaves
 * the loop thread. So there is no lock, and the loop waits for nobody: what it needs to know of the head while that is away, it remembers
 * from the end of the last task. Inside of agent/store. Loop thread, but `run`.
 */
#ifndef XAGENT_AGENT_STORE_STORE_TASK_H
#define XAGENT_AGENT_STORE_STORE_TASK_H

#include <stdbool.h>

#include "agent/util/list.h"
#include "agent/util/worker.h"

struct store;

enum store_task_class {
	STORE_TASK_OWN,	    /* always before the others; never more than this agent makes */
	STORE_TASK_FOREIGN, /* one who has more to do comes again behind all others */
	STORE_TASK_CLASSES
};

/* Embedded in the caller's; stays where it is until `done`. */
struct store_task {
	struct list node;
	struct worker_job job;
	struct store *store;
	enum store_task_class class;
	/* Loop thread, when its turn has come and the head is here. False: there is nothing to run, it is done. NULL: nothing to begin. */
	bool (*begin)(struct store_task *task);
	void (*run)(struct store_task *task);  /* ingest thread */
	void (*done)(struct store_task *task); /* loop thread; may submit again */
};

void store_task_submit(struct store *s, struct store_task *task, enum store_task_class class);
/* The same, before all others of its class. */
void store_task_repeat(struct store *s, struct store_task *task);

/* Starts the next task, if none runs. */
void store_task_next(struct store *s);

/* Waits until all tasks are done, and those that they submit. */
void store_task_drain(struct store *s);

#endif
