/* SPDX-License-Identifier: Apache-2.0 */
/* What the graph's files share: graph.c (life, exports that change), graph_load.c (from text to nodes), graph_order.c. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_PRIVATE_H
#define XAGENT_AGENT_COMPONENT_GRAPH_PRIVATE_H

#include "agent/component/node.h"

/* The parsed texts that blocks point into. */
struct load {
	struct river_arena arena;
	struct nodes nodes; /* while it is made; then the graph's */
};

void load_free(struct load *load);

struct graph {
	const struct component_env *env;
	struct nodes nodes;  /* in order of evaluation */
	struct load *load;   /* of the present nodes */
	struct load *failed; /* of the last load if it failed: its diagnostics speak of its texts */
	struct list
		held; /* nodes that are gone, while a stale one may point to what they exported; dependants first */
	struct list rests;
	struct loop_timer *settle_timer;
	bool busy; /* nodes are being changed */
	bool ending;
};

struct building {
	struct graph *g;
	struct load *load;
	struct river_diags *diags;
	struct node *node; /* whose references are looked at */
};

struct river_range reference_range(const struct river_reference *ref);

/* Fills next_source of every node of the load. Those that refer to what does not exist have failed. 0 or -ENOMEM. */
int building_find_edges(struct building *b);

/* Brings the load's nodes into order of evaluation. Where a cycle forbids it, all have failed. 0 or -ENOMEM. */
int building_sort(struct building *b);

/* Frees what is held, once no node is stale. */
void graph_release_held(struct graph *g);

#endif
