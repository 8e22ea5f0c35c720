/* SPDX-License-Identifier: Apache-2.0 */
/* What the graph's files share: graph.c (life, exports that change) and graph_load.c (from text to nodes). */
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
	struct list held;    /* nodes that are gone, while a stale one may point to what they exported; dependants first */
	struct list rests;
	struct loop_timer *settle_timer;
	bool busy; /* nodes are being changed */
	bool ending;
};

/* Frees what is held, once no node is stale. */
void graph_release_held(struct graph *g);

#endif
