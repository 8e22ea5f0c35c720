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
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_GRAPH_H
#define XAGENT_AGENT_COMPONENT_GRAPH_GRAPH_H

#include "agent/component/component.h"

/* A configuration of a thousand components takes about a megabyte; targets of a full node some ten. */
#define GRAPH_MAX_ARENA_BYTES ((size_t)256 << 20)
/* Blocks that live, modules included: a file of ten thousand lines, some four lines a block. A chain of them is as deep on the stack. */
#define GRAPH_MAX_COMPONENTS 3000
/* A module in a module …; people have three. */
#define GRAPH_MAX_MODULE_DEPTH 32

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

/* Tells every component that wants to know; true when one of them has something to tell of it that dependants do not know yet: they are told
 * within GRAPH_SEEN_NS, of all at once, or by graph_settle_for(). */
#define GRAPH_SEEN_NS (5ULL * 1000000000)
bool graph_process_seen(struct graph *g, struct process_table *processes, struct process *p);
/* Evaluates what was marked, now, that component included, also while it is being stopped. From within a load or an update: in the next round. */
void graph_settle_for(struct component *c);
/* Whether a component runs that may tell of a container a moment after its first sample. */
bool graph_finds_containers(const struct graph *g);
void graph_process_gone(struct graph *g, uint32_t pid);

/* Every component that can brings its health up to date. */
void graph_check(struct graph *g);

/* Blocks that live: components, also those of modules, and configuration blocks with a health of their own (logging, import.file …). In
 * order of evaluation: a module's owner, then what is in it. Pointers are good until the next load, or until the loop runs. None while
 * graph_free() runs. */
size_t graph_n(const struct graph *g);
const struct component *graph_component(const struct graph *g, size_t i);

enum graph_class {
	GRAPH_COMPONENT, /* of a kind, or a declared one */
	GRAPH_CONFIG,	 /* logging, tracing, import.file, foreach … */
	GRAPH_SERVICE,	 /* http, livedebugging, remotecfg */
};

/* One of them as others show it. The whole id is c->id: module id, "/", local id. */
struct graph_view {
	const struct component *c;
	enum graph_class class;
	const char *name;      /* "pyroscope.ebpf", "declared" */
	const char *module_id; /* "" at the root, "declared.label", "foreach.each/foreach_a_1" */
	const char *local_id;  /* "pyroscope.ebpf.instance" */
	/* Evaluated arguments: a struct with its schema, NULL before the first evaluation; or, of a declared component, an object. */
	const struct river_schema *schema;
	const void *args;
	const struct river_value *args_object;
};

void graph_view(const struct graph *g, size_t i, struct graph_view *ret_view);

/* A reference to where the arguments of a view are: as long as it is held they stay as they are, whatever becomes of the component, and
 * another thread may read `args` by its schema. `args_object` is for the loop alone. NULL: there are none. */
struct args_memory;
struct args_memory *graph_hold_args(const struct graph *g, size_t i);
void args_memory_unref(struct args_memory *memory); /* NULL-safe */

/* By the whole id. */
bool graph_find(const struct graph *g, const char *id, size_t *ret_i);

/* An object in `arena`, or NULL: it exports nothing. 0 or -ENOMEM. */
int graph_exports(const struct graph *g, size_t i, struct river_arena *arena,
		  const struct river_value **ret_exports);

/* Whether it exports receivers, and whether data. */
void graph_export_kinds(const struct graph *g, size_t i, bool *ret_receivers, bool *ret_data);

/* What it refers to, configuration blocks too. A result other than 0 ends the walk and is returned. */
typedef int (*graph_dep_fn)(void *ctx, const struct component *dep);
int graph_each_dep(const struct graph *g, size_t i, graph_dep_fn fn, void *ctx);

/* Ids of the modules that a component made, in order; and whether there is such a module ("" is one). */
typedef int (*graph_module_fn)(void *ctx, const char *module_id);
int graph_each_module(const struct graph *g, size_t i, graph_module_fn fn, void *ctx);
bool graph_has_module(const struct graph *g, const char *module_id);

#endif
