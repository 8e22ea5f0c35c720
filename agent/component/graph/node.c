/* SPDX-License-Identifier: Apache-2.0 */
/* One block in its graph. */
#include "agent/component/graph/node.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/args_equal.h"
#include "agent/component/graph/foreach.h"
#include "agent/component/graph/import.h"
#include "agent/component/graph/module_kinds.h"
#include "agent/util/log.h"

int nodes_push(struct nodes *nodes, struct node *node)
{
	assert(node && nodes->n <= nodes->max);
	if (nodes->n == nodes->max) {
		size_t max = nodes->max ? nodes->max * 2 : 16;
		struct node **items = reallocarray(nodes->items, max, sizeof(struct node *));

		if (!items)
			return -ENOMEM;
		nodes->items = items;
		nodes->max = max;
	}
	nodes->items[nodes->n++] = node;
	return 0;
}

char *node_id_of(const struct river_stmt *block)
{
	bool labelled = block->label && *block->label;
	char *id = NULL;

	if (asprintf(&id, "%s%s%s", block->name, labelled ? "." : "",
		     labelled ? block->label : "") < 0)
		return NULL;
	return id;
}

static int set_ids(struct node *node, const struct node_options *o)
{
	_cleanup_free_ char *local = node_id_of(o->block);
	size_t prefix = strlen(o->module_id);

	if (!local || asprintf(&node->id, "%s%s%s", o->module_id, prefix ? "/" : "", local) < 0) {
		node->id = NULL;
		return -ENOMEM;
	}
	node->name = strdup(o->block->name);
	if (!node->name || asprintf(&node->path, "/%s", o->module_id) < 0) {
		node->path = NULL;
		return -ENOMEM;
	}
	node->c.path = node->path;
	node->c.id = node->id;
	node->c.local_id = node->id + prefix + (prefix > 0);
	node->c.label = node->c.local_id + strlen(node->name);
	node->c.label += *node->c.label == '.';
	return 0;
}

static struct args_memory *args_memory_new(void)
{
	struct args_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->n_refs = 1;
	river_arena_init(&memory->arena, GRAPH_MAX_ARENA_BYTES);
	return memory;
}

void args_memory_unref(struct args_memory *memory)
{
	if (!memory)
		return;
	assert(memory->n_refs > 0);
	if (--memory->n_refs > 0)
		return;
	river_arena_fini(&memory->arena);
	free(memory);
}

int node_new(const struct node_options *o, struct node **ret_node)
{
	struct node *node = calloc(1, sizeof(*node));

	assert(o->kind && o->block);
	if (!node)
		return -ENOMEM;
	*node = (struct node){ .role = o->role, .class = o->class };
	node->c = (struct component){ .kind = o->kind, .env = o->env, .graph = o->graph };
	list_init(&node->held);
	int r = set_ids(node, o);
	if (r < 0) {
		node_free(node);
		return r;
	}
	component_set_evaluation(&node->c, HEALTH_HEALTHY, "component evaluated");
	component_set_health(&node->c, HEALTH_UNKNOWN, "component created");
	*ret_node = node;
	return 0;
}

void node_free(struct node *node)
{
	if (!node)
		return;
	if (node->built)
		node->c.kind->stop(&node->c);
	args_memory_unref(node->memory);
	args_memory_unref(node->next_memory);
	list_remove(&node->held);
	free(node->source.deps);
	free(node->next_source.deps);
	free(node->name);
	free(node->path);
	free(node->id);
	free(node);
}

bool node_is(const struct node *node, const struct node_options *o)
{
	return node->c.kind == o->kind && node->role == o->role &&
	       strcmp(node->name, o->block->name) == 0;
}

int node_source_add(struct node_source *source, struct node *dep)
{
	for (size_t i = 0; i < source->n_deps; i++)
		if (source->deps[i] == dep)
			return 0;
	struct node **deps = reallocarray(source->deps, source->n_deps + 1, sizeof(struct node *));
	if (!deps)
		return -ENOMEM;
	source->deps = deps;
	deps[source->n_deps++] = dep;
	return 0;
}

void node_take_source(struct node *node)
{
	assert(node->next_source.block && node->next_source.module);
	free(node->source.deps);
	node->source = node->next_source;
	node->next_source = (struct node_source){ 0 };
}

void node_drop_source(struct node *node)
{
	free(node->next_source.deps);
	node->next_source = (struct node_source){ 0 };
}

const struct river_range *node_range(const struct node_source *source)
{
	return &source->block->range;
}

static int decode(struct node *node, const struct node_source *source,
		  const struct river_scope *scope, struct river_diags *diags)
{
	switch (node->role) {
	case NODE_COMPONENT:
	case NODE_EXPORT:
		break;
	case NODE_IMPORT:
		if (!import_is_supported(node->c.kind))
			return RIVER_OK;
		break;
	case NODE_DECLARE:
		return RIVER_OK;
	case NODE_DECLARED:
		return declared_decode(source->block, scope, &node->next_memory->arena, diags,
				       node->next_args);
	case NODE_FOREACH:
		return foreach_decode(source->block, scope, &node->next_memory->arena, diags,
				      node->next_args);
	case NODE_ARGUMENT:
		return argument_decode(node, source, scope, diags);
	}
	return river_decode_block(source->block, node->c.kind->schema, scope, &node->next_memory->arena,
				  diags, node->next_args);
}

int node_evaluate(struct node *node, const struct node_source *source, struct river_diags *diags)
{
	struct river_scope scope = node_scope(node, source);

	node_drop_args(node);
	node->next_memory = args_memory_new();
	if (!node->next_memory)
		return -ENOMEM;
	node->next_args = river_arena_alloc(&node->next_memory->arena, node->c.kind->schema->size);
	return node->next_args ? decode(node, source, &scope, diags) : -ENOMEM;
}

bool node_args_changed(const struct node *node)
{
	const struct river_schema *schema =
		node->role == NODE_ARGUMENT ? &argument_whole_schema : node->c.kind->schema;

	assert(node->next_args);
	return !node->args || !args_equal(schema, node->args, node->next_args);
}

void node_take_args(struct node *node)
{
	assert(node->next_args && node->next_memory);
	args_memory_unref(node->memory);
	node->memory = TAKE_PTR(node->next_memory);
	node->args = TAKE_PTR(node->next_args);
}

void node_drop_args(struct node *node)
{
	args_memory_unref(TAKE_PTR(node->next_memory));
	node->next_args = NULL;
}

static void keep_args(struct node *node, int error, const struct buf *why)
{
	const char *message = why->len ? buf_str(why) : strerror(-error);

	node_drop_args(node);
	node->stale = true;
	component_set_evaluation(&node->c, HEALTH_UNHEALTHY, message);
	log_error("component keeps its old arguments", LOG_STR("component_id", node->id),
		  LOG_STR("err", node->c.evaluation.message));
}

/* What is no component has nothing to update but who depends on it. */
static int tell(struct node *node, struct buf *why)
{
	if (!node_args_changed(node))
		return 0;
	node->exports_dirty |= node->role != NODE_COMPONENT;
	return node->c.kind->update(&node->c, node->next_args, why);
}

bool node_update(struct node *node)
{
	assert(node->next_args && node->built);

	_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);
	int r = tell(node, &why);

	if (r < 0) {
		keep_args(node, r, &why);
		return false;
	}
	node->stale = r == COMPONENT_LATER;
	component_set_evaluation(&node->c, HEALTH_HEALTHY, "component evaluated");
	if (r == 0 && node_args_changed(node))
		node_take_args(node);
	else
		node_drop_args(node);
	return node->stale;
}
