/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components of the graph at one moment, to be written by another thread.
 *
 * What costs is making JSON of thousands of targets, and finding edges. The loop thread copies short texts, and takes references: arguments
 * stay as they are while they are held, exports are lists of references.
 */
#ifndef XAGENT_AGENT_COMPONENT_JSON_COMPONENT_SNAPSHOT_H
#define XAGENT_AGENT_COMPONENT_JSON_COMPONENT_SNAPSHOT_H

#include "agent/component/graph/graph.h"

/* A component as of one moment. What is read by another thread lies in the arena, is held, or never changes. */
struct component_row {
	const struct component *self; /* only to be compared */
	bool is_shown;		      /* a component, no configuration block */
	bool exports_receivers, exports_data;
	const char *name, *local_id, *module_id, *label;
	struct health health;
	const struct component **deps;
	size_t n_deps;
	const char **modules;
	size_t n_modules;
};

/* Of the one that is asked for, or of each. */
struct component_detail {
	struct args_memory *memory; /* a reference */
	const struct river_schema *schema;
	const void *args;
	const struct river_value *args_object, *exports, *info; /* in the arena; NULL: none */
};

/* All blocks of a graph, by their indexes in it. */
struct component_snapshot {
	struct river_arena arena;
	struct component_row *rows;	 /* in the arena */
	struct component_detail **details; /* in the arena; NULL: not wanted */
	size_t n;
};

/* Loop thread, as all of these; 0 or -ENOMEM. */
int component_snapshot_new(const struct graph *g, struct component_snapshot **ret_snapshot);
void component_snapshot_free(struct component_snapshot *s);
DEFINE_CLEANUP(struct component_snapshot *, component_snapshot_free);

/* Adds arguments, exports and what it has to say about itself, at the same moment. 0 or -ENOMEM. */
int component_snapshot_add_detail(struct component_snapshot *s, const struct graph *g, size_t i);

#endif
