/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What names mean in a block: exports of what it depends on, as objects nested along the parts of their ids; then variables of its
 * module. Edges are found before anything is evaluated, so nothing else can be meant.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/component/graph/module.h"
#include "agent/version.h"

struct scope_level {
	const struct node_source *source;
	struct river_arena *arena;
	char prefix[512]; /* "pyroscope.write." */
};

static const struct river_value *level_value(const struct scope_level *level);

/* A component without exports can be named all the same; a configuration block cannot. */
int node_exports(const struct node *node, struct river_arena *arena,
		 const struct river_value **ret_exports)
{
	*ret_exports = NULL;
	if (!node->built)
		return 0;
	if (node->c.kind->exports)
		return node->c.kind->exports((struct component *)&node->c, arena, ret_exports);
	if (node->class != GRAPH_COMPONENT)
		return 0;
	*ret_exports = river_value_object(arena, NULL, 0);
	return *ret_exports ? 0 : -ENOMEM;
}

static bool has_exports(const struct node *node)
{
	return node->built && (node->c.kind->exports || node->class == GRAPH_COMPONENT);
}

static bool below(const struct scope_level *level, const struct node *node)
{
	return has_exports(node) &&
	       strncmp(node->c.local_id, level->prefix, strlen(level->prefix)) == 0;
}

/* Of a whole id; "x" of a component without a label has no dot behind it. */
static const struct node *named(const struct scope_level *level, const char *id)
{
	for (size_t i = 0; i < level->source->n_deps; i++)
		if (has_exports(level->source->deps[i]) &&
		    strcmp(level->source->deps[i]->c.local_id, id) == 0)
			return level->source->deps[i];
	return NULL;
}

static const struct river_value *value_of(const struct node *node, struct river_arena *arena)
{
	const struct river_value *value = NULL;

	return node_exports(node, arena, &value) < 0 ? NULL : value;
}

static const struct river_value *member_value(const struct scope_level *level,
					      const struct node *node, size_t n_piece)
{
	const char *id = node->c.local_id;
	size_t n = strlen(level->prefix);
	struct scope_level next = { .source = level->source, .arena = level->arena };

	if (!id[n + n_piece])
		return value_of(node, level->arena);
	if (snprintf(next.prefix, sizeof(next.prefix), "%.*s.", (int)(n + n_piece), id) >=
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
	size_t n_deps = level->source->n_deps, n = 0;
	struct river_member *members =
		river_arena_alloc(level->arena, (n_deps + 1) * sizeof(*members));

	for (size_t i = 0; members && i < n_deps; i++) {
		const struct node *node = level->source->deps[i];
		const char *at = node->c.local_id + strlen(level->prefix);

		if (!below(level, node))
			continue;
		size_t n_piece = strcspn(at, ".");
		char *key = river_arena_strndup(level->arena, at, n_piece);
		if (!key || has_member(members, n, key))
			continue;
		const struct river_value *value = member_value(level, node, n_piece);
		if (value)
			members[n++] = (struct river_member){ .key = key, .value = value };
	}
	return members ? river_value_object(level->arena, members, n) : NULL;
}

static const struct river_value *lookup(void *ctx, struct river_arena *arena, const char *name)
{
	const struct node_source *source = ctx;
	struct scope_level level = { .source = source, .arena = arena };
	const struct node *node = named(&level, name);

	if (node)
		return value_of(node, arena);
	if (snprintf(level.prefix, sizeof(level.prefix), "%s.", name) >= (int)sizeof(level.prefix))
		return NULL;
	for (size_t i = 0; i < source->n_deps; i++)
		if (below(&level, source->deps[i]))
			return level_value(&level);
	return module_variable(source->module, arena, name);
}

_Static_assert((int)STABILITY_EXPERIMENTAL == (int)RIVER_STABILITY_EXPERIMENTAL &&
		       (int)STABILITY_MAX == (int)RIVER_STABILITY_MAX,
	       "the language knows the same levels");

struct river_scope node_scope(const struct node *node, const struct node_source *source)
{
	return (struct river_scope){
		.lookup = lookup,
		.ctx = (void *)source,
		.version = XAGENT_VERSION,
		.hostname = node->c.env->hostname,
		.stability = (enum river_stability)node->c.env->stability,
	};
}
