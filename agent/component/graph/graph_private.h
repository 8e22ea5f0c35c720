/* SPDX-License-Identifier: Apache-2.0 */
/* What the graph's files share. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_GRAPH_PRIVATE_H
#define XAGENT_AGENT_COMPONENT_GRAPH_GRAPH_PRIVATE_H

#include "agent/component/graph/module.h"

struct graph {
	const struct component_env *env;
	struct nodes nodes;  /* of the present load */
	struct nodes live;   /* of these, what others see: graph_n */
	struct load *load;   /* of the present nodes */
	struct load *failed; /* of the last load if it failed: its diagnostics speak of its texts */
	struct list
		held; /* nodes that are gone, while a stale one may point to what they exported; dependants first */
	struct list rests;
	struct loop_timer *settle_timer;
	struct loop_timer *seen_timer; /* armed while `seen` */
	bool seen;		       /* processes have come that are in nobody's arguments yet */
	bool busy;		       /* nodes are being changed */
	bool ran;
	bool outgrown; /* the same texts make something else now */
	bool ending;
};

struct building {
	struct graph *g;
	struct load *load;
	struct river_diags *diags;
	struct node *node; /* whose references are looked at */
	bool quiet; /* what does not exist is not reported: foreach looks again, from inside */
	bool has_declared; /* else no name can mean one */
	bool has_dynamic;  /* the same texts may make something else later */
	size_t n_ranks;
	size_t n_visited;
};

/* Nodes for the blocks of a body, in its order. RIVER_OK or -errno. */
int building_add_blocks(struct building *b, struct module *m,
			const struct river_body *const *bodies, size_t n_bodies);
/* Fills next_source of every node of the module. Those that refer to what does not exist have failed. 0 or -ENOMEM. */
int building_find_edges(struct building *b, struct module *m);
/* Brings the module's nodes into order of evaluation. Those of a cycle have failed. 0 or -ENOMEM. */
int building_sort(struct building *b, struct module *m);
/* Evaluates, builds and puts them into the load's order, modules they make included. 0 or -errno. */
int building_evaluate(struct building *b, struct module *m);
/* All of these. */
int building_add_module(struct building *b, struct module *m,
			const struct river_body *const *bodies, size_t n_bodies);
/* A diagnostic over the whole block, for a mistake that has no position; the node has failed. 0 or -ENOMEM. */
int building_wrap(struct building *b, struct node *node, const char *what);
/* What an evaluated node makes. RIVER_OK, RIVER_INVALID (told) or -errno. */
int building_expand(struct building *b, struct node *node);

void graph_settle_soon(struct graph *g);
/* Frees what is held, once no node is stale. */
void graph_release_held(struct graph *g);
/* Takes the mark off a node and returns it; who was marked hears that dependants come next. */
bool graph_take_mark(struct node *node);
/* Evaluates a node if it has to be, and passes its mark on. */
void graph_settle_node(struct graph *g, struct node *node);
/* What a node makes of its arguments is old: everything is loaded again, soon. */
void graph_outgrow(struct graph *g, struct node *node);
/* Loads the present texts again. */
void graph_grow(struct graph *g);

#endif
