/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The component graph: its life, and what happens when exports change.
 *
 * Exports change at any time, also while dependants are being updated because of earlier changes. So a pass goes through the nodes
 * in order of evaluation; at each node the mark (exports_dirty) is taken off and, for this pass, remembered (changed). Dependants come
 * later in the order, so they see all of it; a mark that is set behind the pass stays for the next one, for which the timer is armed.
 */
#include "agent/component/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph_private.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

/* How long one wait for what components left behind may be, in ms: only the loop's own timers matter. */
#define REST_STEP_MS 100

void load_free(struct load *load)
{
	if (!load)
		return;
	free(load->nodes.items);
	river_arena_fini(&load->arena);
	free(load);
}

static void on_settle(void *data)
{
	graph_settle(data);
}

int graph_new(const struct component_env *env, struct graph **ret_graph)
{
	struct graph *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->env = env;
	list_init(&g->held);
	list_init(&g->rests);
	int r = loop_timer_new(env->loop, on_settle, g, &g->settle_timer);
	if (r < 0) {
		free(g);
		return r;
	}
	*ret_graph = g;
	return 0;
}

static void free_held(struct graph *g)
{
	LIST_FOREACH (&g->held, at)
		node_free(LIST_ENTRY(at, struct node, held));
}

void graph_release_held(struct graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++)
		if (g->nodes.items[i]->stale)
			return;
	free_held(g);
}

static void finish_rests(struct graph *g)
{
	while (!list_empty(&g->rests))
		if (loop_run_once(g->env->loop, REST_STEP_MS) < 0)
			break;
	LIST_FOREACH (&g->rests, at) {
		struct component_rest *rest = LIST_ENTRY(at, struct component_rest, node);

		component_rest_done(rest);
		rest->abandon(rest);
	}
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	g->ending = true;
	while (g->nodes.n > 0)
		node_free(g->nodes.items[--g->nodes.n]);
	free_held(g);
	finish_rests(g);
	free(g->nodes.items);
	load_free(g->load);
	load_free(g->failed);
	loop_timer_free(g->settle_timer);
	free(g);
}

void component_leave_rest(struct component *c, struct component_rest *rest)
{
	list_push_back(&c->graph->rests, &rest->node);
}

void component_rest_done(struct component_rest *rest)
{
	list_remove(&rest->node);
}

static void settle_soon(struct graph *g)
{
	if (!g->ending)
		loop_timer_arm(g->settle_timer, clock_mono_ns());
}

void component_exports_changed(struct component *c)
{
	struct node *node = CONTAINER_OF(c, struct node, c);

	node->exports_dirty = true;
	settle_soon(c->graph);
}

static bool dep_changed(const struct node *node)
{
	for (size_t i = 0; i < node->source.n_deps; i++)
		if (node->source.deps[i]->changed)
			return true;
	return false;
}

static void reevaluate(struct graph *g, struct node *node)
{
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	int r = node_evaluate(node, node->source.block, &g->nodes, &diags);
	if (r == RIVER_OK) {
		if (node_update(node))
			settle_soon(g);
	} else {
		const char *message = diags.n_items ? diags.items[0].message : strerror(-r);

		node_drop_args(node);
		node->stale = true;
		component_set_health(&node->c, HEALTH_UNHEALTHY, message);
		log_error("cannot evaluate component, it keeps its old arguments",
			  LOG_STR("component_id", node->id), LOG_STR("err", message));
	}
	river_arena_fini(&arena);
}

static void take_mark(struct node *node)
{
	node->changed = node->exports_dirty;
	node->exports_dirty = false;
}

static void settle_node(struct graph *g, struct node *node)
{
	if (dep_changed(node) || node->stale)
		reevaluate(g, node);
	take_mark(node);
}

void graph_settle(struct graph *g)
{
	if (g->busy || g->ending) {
		settle_soon(g);
		return;
	}
	g->busy = true;
	loop_timer_disarm(g->settle_timer);
	for (size_t i = 0; i < g->nodes.n; i++)
		settle_node(g, g->nodes.items[i]);
	graph_release_held(g);
	g->busy = false;
}

static int run_node(struct node *node, struct buf *why)
{
	_cleanup_buf_ struct buf reason = BUF_INIT(COMPONENT_MESSAGE_MAX);
	int r = node->c.kind->run(&node->c, &reason);

	node->running = r >= 0;
	if (r >= 0)
		return 0;
	component_set_health(&node->c, HEALTH_EXITED, reason.len ? buf_str(&reason) : strerror(-r));
	if (why->len == 0)
		(void)buf_printf(why, "%s: %s", node->id, node->c.health.message);
	return r;
}

int graph_run(struct graph *g, struct buf *why)
{
	int first_error = 0;

	g->busy = true;
	for (size_t i = 0; i < g->nodes.n; i++) {
		struct node *node = g->nodes.items[i];
		int r;

		settle_node(g, node);
		if (node->running)
			continue;
		r = run_node(node, why);
		if (first_error == 0)
			first_error = r;
		node->changed |= node->exports_dirty;
		node->exports_dirty = false;
	}
	graph_release_held(g);
	g->busy = false;
	return first_error;
}

bool graph_process_seen(struct graph *g, struct process_table *processes, struct process *p)
{
	bool changed = false;

	for (size_t i = 0; i < g->nodes.n; i++) {
		struct node *node = g->nodes.items[i];

		if (!node->running || !node->c.kind->process_seen ||
		    !node->c.kind->process_seen(&node->c, processes, p))
			continue;
		node->exports_dirty = true;
		changed = true;
	}
	if (changed)
		graph_settle(g);
	return changed;
}

void graph_check(struct graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++) {
		struct node *node = g->nodes.items[i];

		if (node->running && node->c.kind->check)
			node->c.kind->check(&node->c);
	}
}

void graph_process_gone(struct graph *g, uint32_t pid)
{
	for (size_t i = 0; i < g->nodes.n; i++) {
		struct node *node = g->nodes.items[i];

		if (node->running && node->c.kind->process_gone)
			node->c.kind->process_gone(&node->c, pid);
	}
}

size_t graph_n(const struct graph *g)
{
	return g->nodes.n;
}

const struct component *graph_component(const struct graph *g, size_t i)
{
	return &g->nodes.items[i]->c;
}
