/* SPDX-License-Identifier: Apache-2.0 */
/* What runtime_tables.c and runtime_published.c share. */
#ifndef XAGENT_AGENT_RUNTIMES_RUNTIME_TABLES_PRIVATE_H
#define XAGENT_AGENT_RUNTIMES_RUNTIME_TABLES_PRIVATE_H

#include "agent/runtimes/runtime_tables.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

/* One that has a list of frames, and one that generates code (bpf/runtime_beside.bpf.h). */
#define RUNTIMES_OF_PROCESS 2

struct holder {
	uint32_t file_id;
	struct runtime_file file;
	struct hash_node node;
	struct list age;
};

struct runtime_tables {
	struct runtime_tables_options maps;
	struct hash_table holders;
	struct list by_age;
	uint64_t images[RUNTIME_TABLES_MAX_IMAGES]; /* a ring: the oldest gives way */
	size_t n_images;
	uint32_t epoch;
};

/* A runtime of a process. */
struct mapped_runtime {
	const struct holder *holder;
	const struct mapping *mapping;
};

/*
 * The runtimes of a process, in their places: of those that have a list of frames the lowest, then of those that generate code. Which of two of one
 * sort a thread runs is not known, and the walk has room for one of each.
 */
size_t runtime_tables_mapped(struct runtime_tables *t, const struct process *p,
			     struct mapped_runtime ret_runtimes[RUNTIMES_OF_PROCESS]);
/* The file that adds to a runtime of this kind; NULL: the process has mapped none. */
const struct holder *runtime_tables_part(struct runtime_tables *t, const struct process *p,
					 uint32_t kind);

#endif
