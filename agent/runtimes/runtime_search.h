/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for runtimes in the files that processes map: in each file once, as soon as it is seen mapped, before its unwind table is built and whether or not
 * the process was sampled yet. The worker looks at some at a time; what is found is handed out by the loop.
 *
 * Loop thread only, but for the looking.
 */
#ifndef XAGENT_AGENT_RUNTIMES_RUNTIME_SEARCH_H
#define XAGENT_AGENT_RUNTIMES_RUNTIME_SEARCH_H

#include "agent/process/process.h"
#include "agent/runtimes/runtime.h"
#include "agent/util/cleanup.h"
#include "agent/util/worker.h"

/* Files that wait to be looked at: what a few programs map that nobody has run before. Others are found when they are seen again. */
#define RUNTIME_SEARCH_MAX_WAITING 256
/* Files opened and looked at in one round, each some ten microseconds: a host that compiles has new programs all the time. */
#define RUNTIME_SEARCH_MAX_OPENED 16
/* A file that cannot be opened or read just now (reader.h) is tried again so soon, after twice that, and so on, so often. */
#define RUNTIME_SEARCH_REFUSED_NS (100 * NS_PER_MS)
#define RUNTIME_SEARCH_MAX_REFUSED 8
/* Everything is looked at again not more often than that (runtime_search_again). */
#define RUNTIME_SEARCH_AGAIN_NS (30 * NS_PER_S)

struct runtime_search_options {
	struct worker *worker;		 /* borrowed */
	struct process_table *processes; /* likewise: files are opened as a process sees them */
	/* The file holds a runtime. Borrowed for the call. */
	void (*found)(struct mapped_file *f, const struct runtime_file *found, void *data);
	void *data;
};

struct runtime_search;

int runtime_search_new(const struct runtime_search_options *o, struct runtime_search **ret_search);
/* No job of it may be under way. NULL-safe. */
void runtime_search_free(struct runtime_search *s);
DEFINE_CLEANUP(struct runtime_search *, runtime_search_free);

/* What p maps and nobody has looked at waits from now on. Calls nothing of the process table, so it may be called by its hooks. */
void runtime_search_add(struct runtime_search *s, struct process *p);
/* Opens files that wait, and has the worker look at them. Once a round of samples. */
void runtime_search_run(struct runtime_search *s);
/* What was found was forgotten: files that are seen from now on are looked at again. */
void runtime_search_again(struct runtime_search *s, uint64_t now_ns);
/* Starts no more looking. */
void runtime_search_stop(struct runtime_search *s);

#endif
