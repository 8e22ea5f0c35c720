/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that the kernel half reads: for each sampled process the array of its executable mappings.
 *
 * The arrays lie in a memory-mapped BPF array and are written by plain stores; one map update of the `processes` entry publishes
 * them. Processes with the same struct mappings (forks) share one array. An array that is replaced or given up is not reused before
 * tables_reclaim() has been called TABLES_GRACE_NS later, because a walk on another CPU may still be reading it.
 *
 * Everything has a ceiling; when it is reached the process that was sampled longest ago is retracted. A process without an entry
 * is not lost: its samples take the cold path.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_UNWIND_TABLES_H
#define XAGENT_AGENT_UNWIND_TABLES_H

#include <stdint.h>

#include "agent/process/process.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/cleanup.h"
#include "bpf/wire.h"

/* A walk takes microseconds; a tick can be delayed behind other interrupts, not for this long. */
#define TABLES_GRACE_NS 20000000ULL

struct tables_options {
	int processes_fd; /* borrowed BPF map descriptors */
	int mappings_fd;
	uint32_t max_processes;
	uint32_t max_mappings;
	struct telemetry *telemetry; /* borrowed */
};

struct tables;

int tables_new(const struct tables_options *o, struct tables **ret_tables);
void tables_free(struct tables *t);
DEFINE_CLEANUP(struct tables *, tables_free);

/* Makes the kernel half know p->mappings under p->generation. 0; -ENOSPC when there is no room even after eviction (counted);
 * other -errno of the map update. */
int tables_publish(struct tables *t, const struct process *p);
/* The kernel half forgets the process; nothing happens if it did not know it. */
void tables_retract(struct tables *t, uint32_t pid);
/* The process was sampled just now: it is the last to be evicted. */
void tables_touch(struct tables *t, uint32_t pid);
/* Makes arrays given up before now − TABLES_GRACE_NS free for reuse. */
void tables_reclaim(struct tables *t, uint64_t now_ns);

uint32_t tables_n_processes(const struct tables *t);
uint32_t tables_n_mappings(const struct tables *t);

#endif
