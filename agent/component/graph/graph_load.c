/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a configuration into the graph.
 *
 * Until it is known to be good, everything new is kept beside what runs: new nodes are in the load alone, kept ones have their new
 * block, edges, modules and arguments as `next_…`. So a load that fails has nothing to restore.
 *
 * A mistake does not end the load: everything is evaluated all the same, so that a person sees all mistakes at once; what follows
 * from one that was reported is left out. Only after wrong syntax nothing else is looked at: what could not be read would be reported
 * as missing.
 */
#include "agent/component/graph/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph/graph_private.h"

/* RIVER_INVALID: wrong syntax. */
static int parse_sources(struct building *b, const struct river_source *sources, size_t n,
			 const struct river_body **bodies)
{
	int outcome = RIVER_OK;

	for (size_t i = 0; i < n; i++) {
		const struct river_file *file = NULL;
		int r = river_parse(sources[i].file, sources[i].text, sources[i].len,
				    &b->load->arena, b->diags, &file);

		if (r == RIVER_INVALID)
			outcome = r;
		if (r == RIVER_OK)
			r = river_file_require_blocks(file, b->diags);
		if (r < 0)
			return r;
		bodies[i] = &file->body;
	}
	return outcome;
}

int building_add_module(struct building *b, struct module *m,
			const struct river_body *const *bodies, size_t n_bodies)
{
	int r = building_add_blocks(b, m, bodies, n_bodies);

	if (r < 0)
		return r;
	r = building_find_edges(b, m);
	if (r < 0)
		return r;
	r = building_sort(b, m);
	if (r < 0)
		return r;
	return building_evaluate(b, m);
}

/* Files of one configuration are of one directory. */
static const char *directory_of(struct river_arena *arena, const char *file)
{
	const char *slash = strrchr(file, '/');

	if (!slash)
		return ".";
	return river_arena_strndup(arena, file, slash == file ? 1 : (size_t)(slash - file));
}

static int new_root(struct load *load, const struct river_source *sources, size_t n_sources)
{
	load->root = module_new(load, MODULE_ROOT, "", NULL, NULL);
	if (load->root && n_sources > 0)
		load->root->path = directory_of(&load->arena, sources[0].file);
	return load->root && load->root->path ? 0 : -ENOMEM;
}

static int keep_source(struct load *load, const struct river_source *source)
{
	struct river_source kept = {
		.file = river_arena_strndup(&load->arena, source->file, strlen(source->file)),
		.text = river_arena_strndup(&load->arena, source->text, source->len),
		.len = source->len,
	};

	load->sources[load->n_sources++] = kept;
	return kept.file && kept.text ? 0 : -ENOMEM;
}

static int keep_sources(struct load *load, const struct river_source *sources, size_t n_sources)
{
	int r = 0;

	load->sources = river_arena_alloc(&load->arena, (n_sources + 1) * sizeof(*load->sources));
	if (!load->sources)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n_sources; i++)
		r = keep_source(load, &sources[i]);
	return r;
}

static int prepare(struct building *b, const struct river_source *sources, size_t n_sources,
		   bool *ret_parsed)
{
	_cleanup_free_ const struct river_body **bodies =
		calloc(n_sources + 1, sizeof(struct river_body *));
	int r = bodies ? parse_sources(b, sources, n_sources, bodies) : -ENOMEM;

	*ret_parsed = r == RIVER_OK;
	if (r == RIVER_OK)
		r = new_root(b->load, sources, n_sources);
	if (r == RIVER_OK)
		r = building_add_module(b, b->load->root, bodies, n_sources);
	if (r == RIVER_OK && b->has_dynamic)
		r = keep_sources(b->load, sources, n_sources);
	return r == RIVER_OK && b->diags->n_errors > 0 ? RIVER_INVALID : r;
}

/* Files are in the order of their names; what has no position comes last. */
static bool comes_before(const struct river_diag *a, const struct river_diag *b)
{
	int files;

	if (!a->range.start.line || !b->range.start.line)
		return a->range.start.line && !b->range.start.line;
	files = strcmp(a->range.file ? a->range.file : "", b->range.file ? b->range.file : "");
	return files ? files < 0 : a->range.start.offset < b->range.start.offset;
}

/* They were found one kind after the other; a person goes through the file. Stable: of one place, what was found first stays first.
 * There are RIVER_DIAGS_MAX at most. */
static void sort_diags(struct river_diags *diags)
{
	for (size_t i = 1; i < diags->n_items; i++) {
		struct river_diag diag = diags->items[i];
		size_t at = i;

		for (; at > 0 && comes_before(&diag, &diags->items[at - 1]); at--)
			diags->items[at] = diags->items[at - 1];
		diags->items[at] = diag;
	}
}

static void give_up_node(struct node *node)
{
	if (node->origin == NODE_NEW) {
		node_free(node);
		return;
	}
	node_drop_source(node);
	node_drop_args(node);
}

/* Those that were evaluated in reverse: dependants first. */
static void give_up(struct graph *g, struct load *load)
{
	for (struct module *m = load->modules; m; m = m->every)
		for (size_t i = 0; i < m->nodes.n; i++)
			if (!m->nodes.items[i]->ordered)
				give_up_node(m->nodes.items[i]);
	for (size_t i = load->nodes.n; i-- > 0;)
		give_up_node(load->nodes.items[i]);
	load->nodes.n = 0;
	load_free(g->failed);
	g->failed = load;
}

/* Nodes that the new load does not have end, dependants before what they depend on. */
static void stop_gone(struct graph *g, const struct nodes *old)
{
	for (size_t i = old->n; i-- > 0;) {
		struct node *node = old->items[i];

		if (!node->in_load)
			list_push_back(&g->held, &node->held);
	}
	graph_release_held(g);
}

/* What a dependency exports before it runs is not what it will: to act on it would be to profile nothing for a moment. */
static bool waits_for_run(const struct node *node)
{
	for (size_t i = 0; i < node->source.n_deps; i++)
		if (!node->source.deps[i]->running)
			return true;
	return false;
}

static void take_load(struct node *node)
{
	node_take_source(node);
	node->outgrown = false;
	if (node->origin == NODE_KEPT && waits_for_run(node)) {
		node_drop_args(node);
		node->stale = true;
	} else if (node->origin == NODE_KEPT) {
		(void)node_update(node);
	}
	node->origin = NODE_KEPT;
}

static void find_live(struct graph *g)
{
	g->live.n = 0;
	for (size_t i = 0; i < g->nodes.n; i++) {
		struct node *node = g->nodes.items[i];
		bool live = node->role == NODE_COMPONENT || node->role == NODE_DECLARED ||
			    node->role == NODE_IMPORT || node->role == NODE_FOREACH;

		if (live)
			g->live.items[g->live.n++] = node;
	}
}

/* Before anything is taken: nothing can fail then. */
static int make_room(struct graph *g, const struct load *load)
{
	struct node **items = calloc(load->nodes.n + 1, sizeof(struct node *));

	if (!items)
		return -ENOMEM;
	free(g->live.items);
	g->live = (struct nodes){ .items = items };
	return 0;
}

static void commit(struct graph *g, struct load *load)
{
	struct nodes old = g->nodes;
	struct load *old_load = g->load;

	g->nodes = load->nodes;
	g->load = load;
	g->outgrown = false;
	load->nodes = (struct nodes){ 0 };
	for (size_t i = 0; i < g->nodes.n; i++)
		take_load(g->nodes.items[i]);
	find_live(g);
	stop_gone(g, &old);
	free(old.items);
	load_free(old_load);
	load_free(g->failed);
	g->failed = NULL;
}

static int load_all(struct graph *g, const struct river_source *sources, size_t n_sources,
		    struct river_diags *diags)
{
	struct building b = { .g = g, .diags = diags };
	bool parsed = false;
	int r = load_new(&b.load);

	if (r < 0)
		return r;
	for (size_t i = 0; i < g->nodes.n; i++)
		g->nodes.items[i]->in_load = false;
	r = prepare(&b, sources, n_sources, &parsed);
	if (r == RIVER_OK)
		r = make_room(g, b.load);
	if (r == RIVER_OK)
		commit(g, b.load);
	else
		give_up(g, b.load);
	/* A parser finds them in the order in which they arise: that of the file, but for what is inside of an unfinished literal. */
	if (parsed)
		sort_diags(diags);
	return r;
}

int graph_load(struct graph *g, const struct river_source *sources, size_t n_sources,
	       struct river_diags *diags)
{
	int r;

	if (g->busy || g->ending)
		return -EBUSY;
	g->busy = true;
	r = load_all(g, sources, n_sources, diags);
	g->busy = false;
	return r;
}
