/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The component graph: blocks of a configuration, ordered by what refers to what.
 *
 *	text ─parse─► blocks ─references─► order ─evaluate─► arguments ─build / update─► components ─run─►
 *	                                     ▲                                      │
 *	                                     └──────────── exports ◄────────────────┘
 *
 * A load is all or nothing: it is parsed, checked and evaluated completely before anything that runs is touched. A component whose
 * id and arguments are as before is not touched at all.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_H
#define XAGENT_AGENT_COMPONENT_GRAPH_H

#include "agent/component/component.h"

/* A configuration of a thousand components takes about a megabyte; targets of a full node some ten. */
#define GRAPH_MAX_ARENA_BYTES ((size_t)256 << 20)
/* Ten times the largest configurations we know of. Ids are looked up one by one, and a chain of them is as deep on the stack. */
#define GRAPH_MAX_COMPONENTS 1000

struct graph;

int graph_new(const struct component_env *env, struct graph **ret_graph);
/* Stops everything, dependants first, and runs the loop until what they left behind is done. Not from a callback. NULL-safe. */
void graph_free(struct graph *g);
DEFINE_CLEANUP(struct graph *, graph_free);

/* Takes a configuration (one or more named texts). RIVER_OK; RIVER_INVALID: diagnostics tell, everything is as before; -errno, also
 * without a diagnostic (-EBUSY: from within a load, or from graph_free). After success there may be warnings. File names of
 * diagnostics are valid until the next load. */
int graph_load(struct graph *g, const struct river_source *sources, size_t n_sources,
	       struct river_diags *diags);

/* To be called after each load that succeeded. Lets everything begin that does not run yet, each with what those before it have exported by then. One that fails has exited,
 * the others run all the same, and the next call tries again. 0, or -errno of the first that failed; `why` names it and the reason. */
int graph_run(struct graph *g, struct buf *why);

/* Evaluates dependants of what was marked by component_exports_changed(), now; from within a load or an update: in the next round. */
void graph_settle(struct graph *g);

/* Tells every component that wants to know; true when exports changed, and graph_settle() was called. */
bool graph_process_seen(struct graph *g, struct process_table *processes, struct process *p);
void graph_process_gone(struct graph *g, uint32_t pid);

/* Every component that can brings its health up to date. */
void graph_check(struct graph *g);

size_t graph_n(const struct graph *g);
/* In order of evaluation. */
const struct component *graph_component(const struct graph *g, size_t i);

#endif
