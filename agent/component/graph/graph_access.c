/* SPDX-License-Identifier: Apache-2.0 */
/* What others see of the graph. */
#include "agent/component/graph/graph.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/component/graph/graph_private.h"
#include "agent/component/graph/module_kinds.h"
#include "agent/component/receiver.h"

size_t graph_n(const struct graph *g)
{
	return g->live.n;
}

const struct component *graph_component(const struct graph *g, size_t i)
{
	assert(i < g->live.n);
	return &g->live.items[i]->c;
}

void graph_view(const struct graph *g, size_t i, struct graph_view *ret_view)
{
	assert(i < g->live.n);

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
	assert(i < g->live.n);

	const struct node *node = g->live.items[i];

	*ret_exports = NULL;
	if (!node->c.kind->exports)
		return 0;
	return node_exports(node, arena, ret_exports);
}

struct args_memory *graph_hold_args(const struct graph *g, size_t i)
{
	assert(i < g->live.n);

	struct args_memory *memory = g->live.items[i]->memory;

	if (!memory)
		return NULL;
	assert(memory->n_refs > 0);
	memory->n_refs++;
	return memory;
}

static int look_at_exports(const struct graph *g, size_t i, struct export_kinds *ret_kinds)
{
	const struct river_value *exports = NULL;
	struct river_arena arena;

	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	int r = graph_exports(g, i, &arena, &exports);
	for (size_t k = 0; r == 0 && exports && k < river_value_len(exports); k++) {
		const struct river_value *v = river_value_member(exports, k);
		bool is_receiver = river_value_get_capsule(v, RECEIVER_CAPSULE) != NULL;

		ret_kinds->receivers |= is_receiver;
		ret_kinds->data |= !is_receiver;
		ret_kinds->known = true;
	}
	river_arena_fini(&arena);
	return r;
}

/* What a component of a kind exports is always the same, but not how much: it is looked at once. */
void graph_export_kinds(const struct graph *g, size_t i, bool *ret_receivers, bool *ret_data)
{
	assert(i < g->live.n);

	struct node *node = g->live.items[i];
	struct export_kinds kinds = { 0 };

	if (node->role == NODE_COMPONENT && node->export_kinds.known)
		kinds = node->export_kinds;
	else if (look_at_exports(g, i, &kinds) == 0)
		node->export_kinds = kinds;
	*ret_receivers = kinds.receivers;
	*ret_data = kinds.data;
}

int graph_each_dep(const struct graph *g, size_t i, graph_dep_fn fn, void *ctx)
{
	assert(i < g->live.n);

	const struct node_source *source = &g->live.items[i]->source;
	int r = 0;

	for (size_t k = 0; r == 0 && k < source->n_deps; k++)
		r = fn(ctx, &source->deps[k]->c);
	return r;
}

int graph_each_module(const struct graph *g, size_t i, graph_module_fn fn, void *ctx)
{
	assert(i < g->live.n);

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
