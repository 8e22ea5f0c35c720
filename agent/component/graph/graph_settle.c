/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens when exports change.
 *
 * Exports change at any time, also while dependants are being updated because of earlier changes. So a pass goes through the nodes
 * in order of evaluation; at each node the mark (exports_dirty) is taken off and, for this pass, remembered (changed). Dependants come
 * later in the order, so they see all of it; a mark that is set behind the pass stays for the next one, for which the timer is armed.
 *
 * What a foreach or an import makes is another matter: that is done by a load of the same texts, which touches what changed alone.
 */
#include <errno.h>
#include <string.h>

#include "agent/component/graph/graph_private.h"
#include "agent/util/log.h"

void component_exports_changed(struct component *c)
{
	struct node *node = CONTAINER_OF(c, struct node, c);

	node->exports_dirty = true;
	graph_settle_soon(c->graph);
}

/* What others see of the use of a declare is what its module exports. */
static bool exports_changed(const struct node *node)
{
	const struct module *m = node->role == NODE_DECLARED ? node->source.modules : NULL;

	for (size_t i = 0; m && i < m->nodes.n; i++)
		if (m->nodes.items[i]->role == NODE_EXPORT && m->nodes.items[i]->changed)
			return true;
	return node->changed;
}

static bool dep_changed(const struct node *node)
{
	for (size_t i = 0; i < node->source.n_deps; i++)
		if (exports_changed(node->source.deps[i]))
			return true;
	return false;
}

static void keep_args(struct node *node, const char *message)
{
	node_drop_args(node);
	node->stale = true;
	component_set_evaluation(&node->c, HEALTH_UNHEALTHY, message);
	log_error("cannot evaluate component, it keeps its old arguments",
		  LOG_STR("component_id", node->id), LOG_STR("err", message));
}

static void update(struct graph *g, struct node *node)
{
	bool makes = node->role == NODE_FOREACH || node->role == NODE_IMPORT;

	if (makes && node_args_changed(node))
		graph_outgrow(g, node);
	if (node_update(node))
		graph_settle_soon(g);
}

static void reevaluate(struct graph *g, struct node *node)
{
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	int r = node_evaluate(node, &node->source, &diags);
	if (r == RIVER_OK)
		update(g, node);
	else
		keep_args(node, diags.n_items ? diags.items[0].message : strerror(-r));
	river_arena_fini(&arena);
}

bool graph_take_mark(struct node *node)
{
	bool dirty = node->exports_dirty;

	node->exports_dirty = false;
	if (dirty && node->c.kind && node->c.kind->exports_told)
		node->c.kind->exports_told(&node->c);
	return dirty;
}

void graph_settle_node(struct graph *g, struct node *node)
{
	if (dep_changed(node) || node->stale)
		reevaluate(g, node);
	node->changed = graph_take_mark(node);
}

static void settle_all(struct graph *g)
{
	loop_timer_disarm(g->settle_timer);
	loop_timer_disarm(g->seen_timer);
	g->seen = false;
	for (size_t i = 0; i < g->nodes.n; i++)
		graph_settle_node(g, g->nodes.items[i]);
}

void graph_settle(struct graph *g)
{
	if (g->busy || g->ending) {
		graph_settle_soon(g);
		return;
	}
	g->busy = true;
	settle_all(g);
	graph_release_held(g);
	g->busy = false;
}

/* One that is being stopped is not among the nodes any more; what it depends on is. */
void graph_settle_for(struct component *c)
{
	struct graph *g = c->graph;

	if (!g->ending) {
		graph_settle(g);
		return;
	}
	if (g->busy)
		return;
	g->busy = true;
	settle_all(g);
	graph_settle_node(g, CONTAINER_OF(c, struct node, c));
	g->busy = false;
}

void graph_outgrow(struct graph *g, struct node *node)
{
	node->outgrown = true;
	g->outgrown = true;
	graph_settle_soon(g);
}

static void append_text(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static void blame(struct graph *g, const char *message)
{
	for (size_t i = 0; i < g->nodes.n; i++) {
		struct node *node = g->nodes.items[i];

		if (!node->outgrown)
			continue;
		node->outgrown = false;
		component_set_evaluation(&node->c, HEALTH_UNHEALTHY, message);
		log_error("cannot update modules, the old ones go on",
			  LOG_STR("component_id", node->id), LOG_STR("err", message));
	}
}

static void run(struct graph *g)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int r = graph_run(g, &why);

	if (r < 0)
		log_error("cannot run every component of a module", LOG_STR("err", buf_str(&why)));
}

void graph_grow(struct graph *g)
{
	_cleanup_buf_ struct buf summary = BUF_INIT((size_t)64 * 1024);
	struct river_arena arena;
	struct river_diags diags;

	/* Within a load or an update: settling has armed the timer again. */
	if (g->busy || g->ending)
		return;
	g->outgrown = false;
	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	int r = graph_load(g, g->load->sources, g->load->n_sources, &diags);
	if (r == RIVER_INVALID)
		river_diags_write_summary(&diags, append_text, &summary);
	if (r != RIVER_OK)
		blame(g, r < 0 ? strerror(-r) : buf_str(&summary));
	else if (g->ran)
		run(g);
	river_arena_fini(&arena);
}
