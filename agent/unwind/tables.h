/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half's table of processes: for each sampled one the array of its executable mappings.
 *
 * The arrays lie in the arena and are written by plain stores; one map update of the `processes` entry publishes them. Processes with the
 * same struct mappings (forks) share one array. Each publication has a number of its own, its generation; a sample carries the
 * generation of the array it was walked with.
 *
 * Everything has a ceiling; when it is reached the process that was sampled longest ago is retracted. A process without an entry
 * is not lost: its samples are unwound in user space.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_UNWIND_TABLES_H
#define XAGENT_AGENT_UNWIND_TABLES_H

#include <stdint.h>

#include "agent/process/process.h"
#include "agent/telemetry/telemetry.h"
#include "agent/unwind/kernel_arena.h"
#include "agent/unwind/object_tables.h"
#include "agent/util/cleanup.h"
#include "bpf/wire.h"

/* Publications that were replaced or retracted and are still remembered: samples of the last moments name them. */
#define TABLES_MAX_RETIRED 256

/* What else the kernel half is to know of a process that is published: called before its entry is written, the enum runtime_kind of that, RUNTIME_NONE
 * for nothing; and when it has forgotten the process. NULL: nothing. */
struct tables_runtimes {
	uint32_t (*publish)(const struct process *p, void *data);
	void (*retract)(uint32_t pid, void *data);
	void *data;
};

struct tables_options {
	int processes_fd; /* a BPF map */
	uint32_t max_processes;
	struct kernel_arena *arena;
	struct object_tables *objects;
	struct telemetry *telemetry; /* all borrowed */
	struct tables_runtimes runtimes;
};

struct tables;

int tables_new(const struct tables_options *o, struct tables **ret_tables);
void tables_free(struct tables *t);
DEFINE_CLEANUP(struct tables *, tables_free);

/* Makes the kernel half know p->mappings, as those of the image with p->exec_id; nothing to do where it knows these. 0; -ENOSPC when there is no room now, or there are too many
 * (counted), or none; other -errno of the map update. */
int tables_publish(struct tables *t, const struct process *p);
/* … also where it knows these: what else it is to know of the process (tables_runtimes) is another by now. */
int tables_publish_anew(struct tables *t, const struct process *p);
/* The kernel half lets ticks of the process end at once, as long as it is in this control group. It is the first to be evicted. 0 or -errno:
 * then its samples go on. */
int tables_refuse(struct tables *t, uint32_t pid, uint64_t cgroup_id);
/* Nobody is refused any more. */
void tables_forgive(struct tables *t);
/* The kernel half forgets the process; nothing happens if it did not know it. */
void tables_retract(struct tables *t, uint32_t pid);
/* The process was sampled just now: it is the last to be evicted. */
void tables_touch(struct tables *t, uint32_t pid);

/* The mappings that a walk of this process under this generation used; NULL when that was too long ago. Borrowed until the next call of
 * another function. */
const struct mappings *tables_mappings(const struct tables *t, uint32_t pid, uint32_t generation);

/* For each process that is published, in no order; none without memory. `fn` may publish and retract. */
void tables_each(struct tables *t, void (*fn)(uint32_t pid, void *data), void *data);

uint32_t tables_n_processes(const struct tables *t);
uint32_t tables_n_mappings(const struct tables *t);

#endif
