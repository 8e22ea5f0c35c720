/* SPDX-License-Identifier: Apache-2.0 */
/* The component graph: its life. */
#include "agent/component/graph/graph.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph/graph_private.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

/* How long one wait for what components left behind may be, in ms: only the loop's own timers matter. */
#define REST_STEP_MS 100

static void on_settle(void *data)
{
	struct graph *g = data;

	graph_settle(g);
	if (g->outgrown)
		graph_grow(g);
}

int graph_new(const struct component_env *env, struct graph **ret_graph)
{
	_cleanup_(graph_freep) struct graph *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->env = env;
	list_init(&g->held);
	list_init(&g->rests);
	int r = loop_timer_new(env->loop, on_settle, g, &g->settle_timer);
	if (r < 0)
		return r;
	r = loop_timer_new(env->loop, on_settle, g, &g->seen_timer);
	if (r < 0)
		return r;
	*ret_graph = TAKE_PTR(g);
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
		struct deferred_cleanup *rest = LIST_ENTRY(at, struct deferred_cleanup, node);

		deferred_cleanup_done(rest);
		rest->abandon(rest);
	}
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	assert(!g->busy && !g->ending);
	g->ending = true;
	/* The loop still runs below, and whoever answers there looks at what lives: that is nothing from now on. */
	g->live.n = 0;
	while (g->nodes.n > 0)
		node_free(g->nodes.items[--g->nodes.n]);
	free_held(g);
	finish_rests(g);
	assert(list_empty(&g->held) && list_empty(&g->rests));
	free(g->nodes.items);
	free(g->live.items);
	load_free(g->load);
	load_free(g->failed);
	loop_timer_free(g->settle_timer);
	loop_timer_free(g->seen_timer);
	free(g);
}

void component_defer_cleanup(struct component *c, struct deferred_cleanup *rest)
{
	assert(rest->abandon);
	list_push_back(&c->graph->rests, &rest->node);
}

void deferred_cleanup_done(struct deferred_cleanup *rest)
{
	list_remove(&rest->node);
}

void graph_settle_soon(struct graph *g)
{
	if (!g->ending)
		loop_timer_arm(g->settle_timer, clock_mono_ns());
}

static int run_node(struct node *node, struct buf *why)
{
	_cleanup_buf_ struct buf reason = BUF_INIT(COMPONENT_MESSAGE_MAX);
	int r = node->c.kind->run(&node->c, &reason);

	assert(node->built && !node->running);
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

	assert(!g->busy && !g->ending);
	g->busy = true;
	g->ran = true;
	for (size_t i = 0; i < g->nodes.n; i++) {
		struct node *node = g->nodes.items[i];
		int r;

		graph_settle_node(g, node);
		if (node->running)
			continue;
		r = run_node(node, why);
		if (first_error == 0)
			first_error = r;
		node->changed |= graph_take_mark(node);
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
	if (changed && !g->ending && !g->seen) {
		g->seen = true;
		loop_timer_arm(g->seen_timer, clock_mono_ns() + GRAPH_SEEN_NS);
	}
	return changed;
}

bool graph_finds_containers(const struct graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++)
		if (g->nodes.items[i]->running && g->nodes.items[i]->c.kind->finds_containers)
			return true;
	return false;
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
