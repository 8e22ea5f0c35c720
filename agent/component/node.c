/* SPDX-License-Identifier: Apache-2.0 */
/* One component in its graph. */
#include "agent/component/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/args_equal.h"
#include "agent/util/log.h"
#include "agent/version.h"

int nodes_push(struct nodes *nodes, struct node *node)
{
	struct node **items = reallocarray(nodes->items, nodes->n + 1, sizeof(struct node *));

	if (!items)
		return -ENOMEM;
	nodes->items = items;
	items[nodes->n++] = node;
	return 0;
}

struct node *nodes_find(const struct nodes *nodes, const char *id)
{
	for (size_t i = 0; i < nodes->n; i++)
		if (strcmp(nodes->items[i]->id, id) == 0)
			return nodes->items[i];
	return NULL;
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

int node_new(struct graph *g, const struct component_env *env, const struct component_kind *kind,
	     const char *id, struct node **ret_node)
{
	size_t prefix = strlen(kind->name);
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	node->id = strdup(id);
	if (!node->id) {
		free(node);
		return -ENOMEM;
	}
	list_init(&node->held);
	river_arena_init(&node->arena, GRAPH_MAX_ARENA_BYTES);
	river_arena_init(&node->next_arena, GRAPH_MAX_ARENA_BYTES);
	node->c = (struct component){
		.kind = kind,
		.env = env,
		.graph = g,
		.id = node->id,
		.label = node->id[prefix] ? node->id + prefix + 1 : "",
	};
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
	river_arena_fini(&node->arena);
	river_arena_fini(&node->next_arena);
	list_remove(&node->held);
	free(node->source.deps);
	free(node->next_source.deps);
	free(node->id);
	free(node);
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
	free(node->source.deps);
	node->source = node->next_source;
	node->next_source = (struct node_source){ 0 };
}

void node_drop_source(struct node *node)
{
	free(node->next_source.deps);
	node->next_source = (struct node_source){ 0 };
}

/* The length of the id's piece that begins at `at`. */
static size_t piece_len(const char *at)
{
	return strcspn(at, ".");
}

struct node *nodes_find_reference(const struct nodes *nodes, const struct river_reference *ref)
{
	for (size_t i = 0; i < nodes->n; i++) {
		const char *at = nodes->items[i]->id;
		size_t part = 0;

		for (; part < ref->n_parts && *at; part++) {
			size_t n = piece_len(at);

			if (strlen(ref->parts[part].text) != n ||
			    strncmp(ref->parts[part].text, at, n) != 0)
				break;
			at += n + (at[n] == '.');
		}
		if (!*at)
			return nodes->items[i];
	}
	return NULL;
}

/* What names mean: the exports of everything that is built, as objects nested along the parts of their ids. */
struct scope_level {
	const struct nodes *nodes;
	struct river_arena *arena;
	char prefix[512]; /* "pyroscope.write." */
};

static const struct river_value *level_value(const struct scope_level *level);

static bool below(const struct scope_level *level, const struct node *node)
{
	return node->built && node->c.kind->exports &&
	       strncmp(node->id, level->prefix, strlen(level->prefix)) == 0;
}

static const struct river_value *member_value(const struct scope_level *level,
					      const struct node *node, size_t n_piece)
{
	size_t n = strlen(level->prefix);
	const struct river_value *value = NULL;
	struct scope_level next = { .nodes = level->nodes, .arena = level->arena };

	if (!node->id[n + n_piece])
		return node->c.kind->exports((struct component *)&node->c, level->arena, &value) < 0
			       ? NULL
			       : value;
	if (snprintf(next.prefix, sizeof(next.prefix), "%.*s.", (int)(n + n_piece), node->id) >=
	    (int)sizeof(next.prefix))
		return NULL;
	return level_value(&next);
}

static bool has_member(const struct river_member *members, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(members[i].key, key) == 0)
			return true;
	return false;
}

static const struct river_value *level_value(const struct scope_level *level)
{
	struct river_member *members =
		river_arena_alloc(level->arena, (level->nodes->n + 1) * sizeof(*members));
	size_t n = 0;

	for (size_t i = 0; members && i < level->nodes->n; i++) {
		const struct node *node = level->nodes->items[i];
		const char *at = node->id + strlen(level->prefix);

		if (!below(level, node))
			continue;
		char *key = river_arena_strndup(level->arena, at, piece_len(at));
		/* Ids are unique, so only what is not the end of one may be there already. */
		if (!key || (at[piece_len(at)] && has_member(members, n, key)))
			continue;
		const struct river_value *value = member_value(level, node, piece_len(at));
		if (value)
			members[n++] = (struct river_member){ .key = key, .value = value };
	}
	return members ? river_value_object(level->arena, members, n) : NULL;
}

static const struct river_value *scope_lookup(void *ctx, struct river_arena *arena,
					      const char *name)
{
	const struct nodes *nodes = ctx;
	struct scope_level level = { .nodes = nodes, .arena = arena };

	if (snprintf(level.prefix, sizeof(level.prefix), "%s.", name) >= (int)sizeof(level.prefix))
		return NULL;
	for (size_t i = 0; i < nodes->n; i++)
		if (below(&level, nodes->items[i]))
			return level_value(&level);
	return NULL;
}

int node_evaluate(struct node *node, const struct river_stmt *block, const struct nodes *nodes,
		  struct river_diags *diags)
{
	struct river_scope scope = {
		.lookup = scope_lookup,
		.ctx = (void *)nodes,
		.version = XAGENT_VERSION,
		.hostname = node->c.env->hostname,
	};

	node_drop_args(node);
	node->next_args = river_arena_alloc(&node->next_arena, node->c.kind->schema->size);
	if (!node->next_args)
		return -ENOMEM;
	return river_decode_block(block, node->c.kind->schema, &scope, &node->next_arena, diags,
				  node->next_args);
}

bool node_args_changed(const struct node *node)
{
	return !node->args || !args_equal(node->c.kind->schema, node->args, node->next_args);
}

void node_take_args(struct node *node)
{
	river_arena_fini(&node->arena);
	node->arena = node->next_arena;
	node->args = node->next_args;
	river_arena_init(&node->next_arena, GRAPH_MAX_ARENA_BYTES);
	node->next_args = NULL;
}

void node_drop_args(struct node *node)
{
	river_arena_fini(&node->next_arena);
	river_arena_init(&node->next_arena, GRAPH_MAX_ARENA_BYTES);
	node->next_args = NULL;
}

static void keep_args(struct node *node, int error, const struct buf *why)
{
	node_drop_args(node);
	node->stale = true;
	component_set_health(&node->c, HEALTH_UNHEALTHY,
			     why->len ? buf_str(why) : strerror(-error));
	log_error("component keeps its old arguments", LOG_STR("component_id", node->id),
		  LOG_STR("err", node->c.health.message));
}

bool node_update(struct node *node)
{
	_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);
	int r = node_args_changed(node) ? node->c.kind->update(&node->c, node->next_args, &why) : 0;

	if (r < 0) {
		keep_args(node, r, &why);
		return false;
	}
	node->stale = r == COMPONENT_LATER;
	if (r == 0 && node_args_changed(node))
		node_take_args(node);
	else
		node_drop_args(node);
	return node->stale;
}
