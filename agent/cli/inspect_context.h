/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the profiler (processes, unwind rules, names), for `xagent inspect` of a few processes. */
#ifndef XAGENT_AGENT_CLI_INSPECT_CONTEXT_H
#define XAGENT_AGENT_CLI_INSPECT_CONTEXT_H

#include "agent/process/process.h"
#include "agent/symbol/store.h"
#include "agent/unwind/object_tables.h"

struct inspect_context {
	struct telemetry *telemetry;
	struct process_table *processes;
	struct kernel_arena *arena;
	struct object_tables *objects; /* single rules only, no tables */
	struct symbol_store *symbols;
};

/* 0 or -errno; fini may follow either. */
int inspect_context_init(struct inspect_context *w);
void inspect_context_fini(struct inspect_context *w);
#define _cleanup_inspect_context_ _cleanup_(inspect_context_fini)

/* The process as it is now: mappings are read, files that are mapped executable are open, where that is permitted. NULL without memory.
 * Borrowed until the next call. */
struct process *inspect_context_process(struct inspect_context *w, uint32_t pid);

#endif
