/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a body become nodes: kept ones of the same id, or new ones.
 *
 * Declares and imports first, whatever their place, since other blocks may be called after them; then everything is in the order of
 * the text again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph/graph_rules.h"
#include "agent/component/graph/import.h"

#define ERROR(b, at, ...) river_diag_add((b)->diags, RIVER_SEVERITY_ERROR, (at), __VA_ARGS__)

static int report_twice(struct building *b, const struct river_stmt *block,
			const struct node *first)
{
	const struct river_range *at = &first->next_source.block->name_range;
	struct river_range range = range_first_bytes(&block->name_range, strlen(first->c.local_id));

	if (first->class == GRAPH_SERVICE)
		return ERROR(b, &block->range, "duplicate definition of \"%s\"", first->c.local_id);
	return ERROR(b, &range, "block %s already declared at %s:%u:%u", first->c.local_id,
		     at->file, at->start.line, at->start.column);
}

/* The present node of this id, or a new one. */
static int node_for(struct building *b, const struct node_options *options, const char *id,
		    struct node **ret_node)
{
	struct node *node = load_find(b->g->load, id);
	int r;

	if (node && node_is(node, options)) {
		node->origin = NODE_KEPT;
		*ret_node = node;
		return 0;
	}
	r = node_new(options, &node);
	if (r < 0)
		return r;
	*ret_node = node;
	return 0;
}

static void begin_node(struct building *b, struct module *m, struct node *node,
		       const struct river_stmt *block)
{
	node->next_source = (struct node_source){ .block = block, .module = m };
	node->rank = b->n_ranks;
	node->visit = 0;
	node->placed = false;
	node->ordered = false;
	node->refers_to_self = false;
	node->failed = false;
	node->in_load = true;
	b->has_declared |= node->role == NODE_DECLARE || node->role == NODE_IMPORT;
	b->has_dynamic |= node->role == NODE_FOREACH || node->role == NODE_IMPORT;
}

static int report_unsupported(struct building *b, struct node *node)
{
	struct river_range range = block_name_range(node->next_source.block);

	if (node->role != NODE_IMPORT || import_is_supported(node->c.kind))
		return 0;
	node->failed = true;
	return ERROR(b, &range, "%s is not supported; use import.file or import.string",
		     node->name);
}

static int add_node(struct building *b, struct module *m, const struct river_stmt *block,
		    const struct found *found, const char *id)
{
	struct node_options options = {
		.graph = b->g,
		.env = b->g->env,
		.kind = found->kind,
		.role = found->role,
		.class = found->class,
		.module_id = m->id,
		.block = block,
	};
	struct node *node = NULL;
	int r = node_for(b, &options, id, &node);

	if (r < 0)
		return r;
	begin_node(b, m, node, block);
	r = nodes_push(&m->nodes, node);
	if (r < 0) {
		if (node->origin == NODE_NEW)
			node_free(node);
		return r;
	}
	r = load_add_id(b->load, node);
	if (r < 0)
		return r;
	return report_unsupported(b, node);
}

/* The first of its kind in this load, in whatever module. */
static const struct node *find_of_kind(const struct load *load, const struct component_kind *kind)
{
	for (const struct module *m = load->modules; m; m = m->every)
		for (size_t i = 0; i < m->nodes.n; i++)
			if (m->nodes.items[i]->c.kind == kind)
				return m->nodes.items[i];
	return NULL;
}

static int report_one_more(struct building *b, const struct river_stmt *block,
			   const struct node *first)
{
	const struct river_range *at = &first->next_source.block->name_range;
	struct river_range range = block_name_range(block);

	return ERROR(b, &range,
		     "there may be one %s in all, it answers at the agent's address: %s is "
		     "declared at %s:%u:%u",
		     block->name, first->id, at->file, at->start.line, at->start.column);
}

static int add_block(struct building *b, struct module *m, const struct river_stmt *block,
		     const struct found *found)
{
	_cleanup_buf_ struct buf id = BUF_INIT((size_t)1 << 20);
	_cleanup_free_ char *local = node_id_of(block);
	const struct node *twice;

	if (!local || buf_printf(&id, "%s%s%s", m->id, *m->id ? "/" : "", local) < 0)
		return -ENOMEM;
	twice = load_find(b->load, buf_str(&id));
	if (twice)
		return report_twice(b, block, twice);
	if (found->kind->only_one)
		twice = find_of_kind(b->load, found->kind);
	if (twice)
		return report_one_more(b, block, twice);
	if (b->load->n_added++ >= GRAPH_MAX_COMPONENTS)
		return b->load->n_added > GRAPH_MAX_COMPONENTS + 1
			       ? 0
			       : ERROR(b, &block->head_range, "there are more than %d components",
				       GRAPH_MAX_COMPONENTS);
	return add_node(b, m, block, found, buf_str(&id));
}

static int add_stmt(struct building *b, struct module *m, const struct river_stmt *stmt,
		    bool specials_only)
{
	struct found found;
	int r;

	b->n_ranks++;
	if (stmt->kind != RIVER_STMT_BLOCK || block_is_special(stmt) != specials_only)
		return 0;
	r = building_identify(b, m, stmt, &found);
	return r == 0 && found.kind ? add_block(b, m, stmt, &found) : r;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct node *left = *(const struct node *const *)a;
	const struct node *right = *(const struct node *const *)b;

	return (left->rank > right->rank) - (left->rank < right->rank);
}

static int add_bodies(struct building *b, struct module *m, const struct river_body *const *bodies,
		      size_t n_bodies, bool specials_only)
{
	size_t ranks = b->n_ranks;
	int r = 0;

	for (size_t i = 0; i < n_bodies; i++)
		for (size_t k = 0; r == 0 && k < bodies[i]->n_stmts; k++)
			r = add_stmt(b, m, bodies[i]->stmts[k], specials_only);
	if (specials_only)
		b->n_ranks = ranks;
	return r;
}

int building_add_blocks(struct building *b, struct module *m,
			const struct river_body *const *bodies, size_t n_bodies)
{
	int r = add_bodies(b, m, bodies, n_bodies, true);

	if (r == 0)
		r = add_bodies(b, m, bodies, n_bodies, false);
	if (m->nodes.n > 1)
		qsort(m->nodes.items, m->nodes.n, sizeof(struct node *), compare_ranks);
	return r;
}
