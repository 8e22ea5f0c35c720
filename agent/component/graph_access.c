/* SPDX-License-Identifier: Apache-2.0 */
/* What others see of the graph. */
#include "agent/component/graph.h"

#include <errno.h>
#include <string.h>

#include "agent/component/graph_private.h"
#include "agent/component/module_kinds.h"

size_t graph_n(const struct graph *g)
{
	return g->live.n;
}

const struct component *graph_component(const struct graph *g, size_t i)
{
	return &g->live.items[i]->c;
}

void graph_view(const struct graph *g, size_t i, struct graph_view *ret_view)
{
	const struct node *node = g->live.items[i];
	const struct declared_args *declared = node->role == NODE_DECLARED ? node->args : NULL;

	*ret_view = (struct graph_view){
		.c = &node->c,
		.class = node->class,
		.name = node->name,
		.module_id = node->source.module->id,
		.local_id = node->c.local_id,
		.schema = node->role == NODE_DECLARED ? NULL : node->c.kind->schema,
		.args = node->role == NODE_DECLARED ? NULL : node->args,
		.args_object = declared ? declared->values : NULL,
	};
}

bool graph_find(const struct graph *g, const char *id, size_t *ret_i)
{
	for (size_t i = 0; i < g->live.n; i++) {
		if (strcmp(g->live.items[i]->id, id) != 0)
			continue;
		*ret_i = i;
		return true;
	}
	return false;
}

int graph_exports(const struct graph *g, size_t i, struct river_arena *arena,
		  const struct river_value **ret_exports)
{
	const struct node *node = g->live.items[i];

	*ret_exports = NULL;
	if (!node->c.kind->exports)
		return 0;
	return node_exports(node, arena, ret_exports);
}

static bool refers(const struct node *from, const struct node *to)
{
	for (size_t i = 0; i < from->source.n_deps; i++)
		if (from->source.deps[i] == to)
			return true;
	return false;
}

/* Edges to configuration blocks are the graph's own business. */
static bool shows_edge(const struct node *a, const struct node *b)
{
	return a->class == GRAPH_COMPONENT && b->class == GRAPH_COMPONENT &&
	       a->source.module == b->source.module;
}

int graph_each_reference(const struct graph *g, size_t i, enum graph_direction direction,
			 graph_index_fn fn, void *ctx)
{
	const struct node *node = g->live.items[i];
	int r = 0;

	for (size_t k = 0; r == 0 && k < g->live.n; k++) {
		const struct node *other = g->live.items[k];
		bool edge = shows_edge(node, other) &&
			    (direction == GRAPH_TO ? refers(node, other) : refers(other, node));

		if (edge)
			r = fn(ctx, k);
	}
	return r;
}

int graph_each_module(const struct graph *g, size_t i, graph_module_fn fn, void *ctx)
{
	const struct module *m = g->live.items[i]->source.modules;
	int r = 0;

	for (; r == 0 && m; m = m->next)
		r = m->kind == MODULE_IMPORT ? 0 : fn(ctx, m->id);
	return r;
}

bool graph_has_module(const struct graph *g, const char *module_id)
{
	const struct module *m = g->load ? g->load->modules : NULL;

	while (m && (m->kind == MODULE_IMPORT || strcmp(m->id, module_id) != 0))
		m = m->every;
	return m != NULL || *module_id == '\0';
}
