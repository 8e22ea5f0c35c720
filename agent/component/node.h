/* SPDX-License-Identifier: Apache-2.0 */
/* One component in its graph: block, arguments, edges. Private to the graph's files. */
#ifndef XAGENT_AGENT_COMPONENT_NODE_H
#define XAGENT_AGENT_COMPONENT_NODE_H

#include "agent/component/graph.h"
#include "agent/util/list.h"

struct node;

/* What a configuration says about a component. */
struct node_source {
	const struct river_stmt *block; /* of its load */
	struct node **deps;		/* what it refers to; owned array */
	size_t n_deps;
};

struct node {
	struct component c;
	char *id; /* owned */
	struct node_source source;
	struct river_arena arena; /* of the present arguments */
	void *args;		  /* in the arena; NULL until evaluated */
	bool built;
	bool running;
	bool exports_dirty; /* others since they were last looked at */
	bool changed; /* and therefore, in the pass under way, dependants are evaluated again */
	bool stale; /* its last update failed or waits: its arguments are of an earlier evaluation */
	struct list held; /* of graph.held */
	/* during a load: what is taken when it succeeds */
	struct node_source next_source;
	enum { NODE_NEW, NODE_KEPT } origin;
	enum { NODE_UNSEEN, NODE_ACTIVE, NODE_PLACED } visit;
	bool failed;
	/* during an evaluation */
	struct river_arena next_arena;
	void *next_args;
};

struct nodes {
	struct node **items; /* owned array */
	size_t n;
};

int nodes_push(struct nodes *nodes, struct node *node);
struct node *nodes_find(const struct nodes *nodes, const char *id);

/* `id` is copied. */
int node_new(struct graph *g, const struct component_env *env, const struct component_kind *kind,
	     const char *id, struct node **ret_node);
/* Stops the component first. NULL-safe. */
void node_free(struct node *node);

/* "pyroscope.ebpf.instance", or "logging". The caller frees. */
char *node_id_of(const struct river_stmt *block);

/* The node that a reference names: its id is made of the first parts. */
struct node *nodes_find_reference(const struct nodes *nodes, const struct river_reference *ref);

/* Once for each pair. 0 or -ENOMEM. */
int node_source_add(struct node_source *source, struct node *dep);
/* next_source becomes source. */
void node_take_source(struct node *node);
void node_drop_source(struct node *node);

/* Decodes a block into next_args; nodes that are built are what names mean. RIVER_OK, RIVER_INVALID or -ENOMEM. */
int node_evaluate(struct node *node, const struct river_stmt *block, const struct nodes *nodes,
		  struct river_diags *diags);
/* Whether next_args differ from args. */
bool node_args_changed(const struct node *node);
/* next_args become args. */
void node_take_args(struct node *node);
void node_drop_args(struct node *node);

/* The component gets next_args if they differ from what it has; whatever it says, they are next no more. True: it wants to be
 * evaluated again soon. */
bool node_update(struct node *node);

#endif
