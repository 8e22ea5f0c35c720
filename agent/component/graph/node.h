/* SPDX-License-Identifier: Apache-2.0 */
/* One block in its graph: block, arguments, edges. Private to the graph's files. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_NODE_H
#define XAGENT_AGENT_COMPONENT_GRAPH_NODE_H

#include "agent/component/graph/graph.h"
#include "agent/util/list.h"

struct load;
struct module;
struct node;

/* What a block is to the graph: most are of a kind and no more. */
enum node_role {
	NODE_COMPONENT, /* of a registered kind; configuration blocks and services, too */
	NODE_DECLARED,	/* a use of a declare */
	NODE_DECLARE,
	NODE_ARGUMENT,
	NODE_EXPORT,
	NODE_IMPORT,
	NODE_FOREACH,
};

/* What a configuration says about a block. */
struct node_source {
	const struct river_stmt *block; /* of its load */
	struct module *module;		/* where it stands */
	struct module *modules;		/* what it makes */
	struct node **deps;		/* what it refers to; owned array */
	size_t n_deps;
};

struct node {
	struct component c;
	enum node_role role;
	enum graph_class class;
	char *id;   /* owned */
	char *name; /* "pyroscope.ebpf"; owned */
	char *path; /* of c.path; owned */
	struct node_source source;
	struct args_memory *memory; /* of the present arguments; a reference; NULL until evaluated */
	void *args;		    /* in it */
	struct export_kinds {
		bool known, receivers, data;
	} export_kinds; /* see graph_export_kinds() */
	bool built;
	bool running;
	bool exports_dirty; /* others since they were last looked at */
	bool changed; /* and therefore, in the pass under way, dependants are evaluated again */
	bool stale; /* its last update failed or waits: its arguments are of an earlier evaluation */
	bool outgrown; /* what it makes of its arguments is of earlier ones: all is loaded again */
	struct list held; /* of graph.held */
	/* during a load: what is taken when it succeeds */
	struct node_source next_source;
	enum { NODE_NEW, NODE_KEPT } origin;
	size_t rank;	   /* in the text */
	size_t visit, low; /* Tarjan's numbers; 0: not yet seen */
	bool placed;	   /* in the order of its module */
	bool ordered;	   /* in that of the load */
	bool in_load;	   /* of the last load */
	bool refers_to_self;
	bool failed;
	/* during an evaluation */
	struct args_memory *next_memory; /* NULL: none is under way */
	void *next_args;
};

/* Where arguments lie. Loop thread, but for who reads them while somebody has a reference. */
struct args_memory {
	unsigned int n_refs;
	struct river_arena arena;
};

struct nodes {
	struct node **items; /* owned array */
	size_t n;
	size_t max;
};

int nodes_push(struct nodes *nodes, struct node *node);

/* "pyroscope.ebpf.instance", or "logging". The caller frees. */
char *node_id_of(const struct river_stmt *block);

struct node_options {
	struct graph *graph;
	const struct component_env *env;
	const struct component_kind *kind;
	enum node_role role;
	enum graph_class class;
	const char *module_id;
	const struct river_stmt *block;
};

/* Texts are copied. */
int node_new(const struct node_options *options, struct node **ret_node);
/* Stops the component first. NULL-safe. */
void node_free(struct node *node);
/* Whether the node is what these options would make. */
bool node_is(const struct node *node, const struct node_options *options);

/* Once for each pair. 0 or -ENOMEM. */
int node_source_add(struct node_source *source, struct node *dep);
/* next_source becomes source. */
void node_take_source(struct node *node);
void node_drop_source(struct node *node);

/* Where a diagnostic about a whole block is. */
const struct river_range *node_range(const struct node_source *source);

/* What names mean in a source: exports of what it depends on, variables of its module. */
struct river_scope node_scope(const struct node *node, const struct node_source *source);
/* As others refer to it; NULL: not at all. 0 or -ENOMEM. */
int node_exports(const struct node *node, struct river_arena *arena,
		 const struct river_value **ret_exports);

/* Decodes a block into next_args. RIVER_OK, RIVER_INVALID or -ENOMEM. */
int node_evaluate(struct node *node, const struct node_source *source, struct river_diags *diags);
/* Whether next_args differ from args. */
bool node_args_changed(const struct node *node);
/* next_args become args. */
void node_take_args(struct node *node);
void node_drop_args(struct node *node);

/* The component gets next_args if they differ from what it has; whatever it says, they are next no more. True: it wants to be
 * evaluated again soon. */
bool node_update(struct node *node);

#endif
