/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a configuration into the graph.
 *
 * Until it is known to be good, everything new is kept beside what runs: new nodes are in the load alone, kept ones have their new
 * block, edges and arguments as `next_…`. So a load that fails has nothing to restore.
 *
 * A mistake does not end the load: everything is evaluated all the same, so that a person sees all mistakes at once; what follows
 * from one that was reported is left out. Only after wrong syntax nothing else is looked at: what could not be read would be reported
 * as missing.
 */
#include "agent/component/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph_private.h"

/* RIVER_INVALID: wrong syntax. */
static int parse_sources(struct building *b, const struct river_source *sources, size_t n,
			 const struct river_file **files)
{
	int outcome = RIVER_OK;

	for (size_t i = 0; i < n; i++) {
		int r = river_parse(sources[i].file, sources[i].text, sources[i].len,
				    &b->load->arena, b->diags, &files[i]);

		if (r == RIVER_INVALID)
			outcome = r;
		if (r == RIVER_OK)
			r = river_file_require_blocks(files[i], b->diags);
		if (r < 0)
			return r;
	}
	return outcome;
}

static const struct component_kind *check_kind(const struct river_stmt *block,
					       struct river_diags *diags)
{
	const struct component_kind *kind = component_kind_find(block->name);
	const char *nearest = kind ? NULL : component_kind_suggest(block->name);
	bool labelled = block->label && *block->label;

	if (!kind)
		(void)river_diag_add(diags, RIVER_SEVERITY_ERROR, &block->head_range,
				     "cannot find the definition of component name \"%s\"%s%s%s",
				     block->name, nearest ? "; did you mean \"" : "",
				     nearest ? nearest : "", nearest ? "\"?" : "");
	else if (kind->wants_label && !labelled)
		(void)river_diag_add(diags, RIVER_SEVERITY_ERROR, &block->head_range,
				     "component \"%s\" must have a label", block->name);
	else if (!kind->wants_label && labelled)
		(void)river_diag_add(diags, RIVER_SEVERITY_ERROR, &block->head_range,
				     "block \"%s\" requires empty label", block->name);
	else
		return kind;
	return NULL;
}

static int report_twice(struct building *b, const struct river_stmt *block,
			const struct node *first)
{
	const struct river_range *at = &first->next_source.block->name_range;

	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &block->head_range,
			      "block %s already declared at %s:%u:%u", first->id, at->file,
			      at->start.line, at->start.column);
}

/* The present node of this id, or a new one. */
static int node_for(struct building *b, const struct component_kind *kind, const char *id,
		    struct node **ret_node)
{
	struct node *node = nodes_find(&b->g->nodes, id);
	int r = 0;

	if (node)
		node->origin = NODE_KEPT;
	else
		r = node_new(b->g, b->g->env, kind, id, &node);
	if (r == 0)
		r = nodes_push(&b->load->nodes, node);
	if (r == 0)
		*ret_node = node;
	else if (node && node->origin == NODE_NEW)
		node_free(node);
	return r;
}

static int add_block(struct building *b, const struct river_stmt *block)
{
	const struct component_kind *kind = check_kind(block, b->diags);
	_cleanup_free_ char *id = kind ? node_id_of(block) : NULL;
	struct node *node = id ? nodes_find(&b->load->nodes, id) : NULL;

	if (!kind)
		return 0;
	if (!id)
		return -ENOMEM;
	if (node)
		return report_twice(b, block, node);
	if (b->load->nodes.n >= GRAPH_MAX_COMPONENTS)
		return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &block->head_range,
				      "there are more than %d components", GRAPH_MAX_COMPONENTS);
	int r = node_for(b, kind, id, &node);
	if (r < 0)
		return r;
	node->next_source.block = block;
	node->visit = NODE_UNSEEN;
	node->failed = false;
	return 0;
}

static int add_blocks(struct building *b, const struct river_file *const *files, size_t n_files)
{
	for (size_t f = 0; f < n_files; f++)
		for (size_t i = 0; i < files[f]->body.n_stmts; i++) {
			const struct river_stmt *stmt = files[f]->body.stmts[i];
			int r = stmt->kind == RIVER_STMT_BLOCK ? add_block(b, stmt) : 0;

			if (r < 0)
				return r;
		}
	return 0;
}

static bool dep_failed(const struct node *node)
{
	for (size_t i = 0; i < node->next_source.n_deps; i++)
		if (node->next_source.deps[i]->failed)
			return true;
	return false;
}

static int build_node(struct building *b, struct node *node)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	node_take_args(node);
	/* Set first: a build that failed half-way is stopped like any other. */
	node->built = true;
	int r = node->c.kind->build(&node->c, node->args, &why);
	if (r == 0)
		return 0;
	node->failed = true;
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &node->next_source.block->head_range,
			      "cannot build component \"%s\": %s", node->id,
			      why.len ? buf_str(&why) : strerror(-r));
}

/* Ends the walk when the reference is where the diagnostic begins. */
static int covers(void *ctx, const struct river_reference *ref)
{
	const struct river_diag *diag = ctx;
	struct river_range range = reference_range(ref);

	return diag->range.start.offset >= range.start.offset &&
	       diag->range.start.offset <= range.end.offset;
}

/* For what is wrong besides: what does not mean anything, or nothing yet, has been reported where it was found. */
static int evaluate_failed(struct building *b, struct node *node)
{
	const struct river_body *body = &node->next_source.block->body;
	struct river_diags *diags = b->diags;
	size_t kept = diags->n_items;
	size_t i = kept;
	int r = node_evaluate(node, node->next_source.block, &b->load->nodes, diags);

	for (; i < diags->n_items; i++) {
		if (river_body_references(body, covers, &diags->items[i]))
			diags->n_errors -= diags->items[i].severity == RIVER_SEVERITY_ERROR;
		else
			diags->items[kept++] = diags->items[i];
	}
	diags->n_items = kept;
	return r < 0 ? r : 0;
}

static int evaluate_node(struct building *b, struct node *node)
{
	int r = node_evaluate(node, node->next_source.block, &b->load->nodes, b->diags);

	node->failed = r != RIVER_OK;
	if (r == RIVER_OK && !node->built)
		r = build_node(b, node);
	return r < 0 ? r : 0;
}

static int evaluate_nodes(struct building *b)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->load->nodes.n; i++) {
		struct node *node = b->load->nodes.items[i];

		node->failed |= dep_failed(node);
		r = node->failed ? evaluate_failed(b, node) : evaluate_node(b, node);
	}
	return r;
}

static int prepare(struct building *b, const struct river_source *sources, size_t n_sources)
{
	_cleanup_free_ const struct river_file **files = calloc(n_sources + 1, sizeof(*files));
	int r = files ? parse_sources(b, sources, n_sources, files) : -ENOMEM;

	if (r == RIVER_OK)
		r = add_blocks(b, files, n_sources);
	if (r == RIVER_OK)
		r = building_find_edges(b);
	if (r == RIVER_OK)
		r = building_sort(b);
	if (r == RIVER_OK)
		r = evaluate_nodes(b);
	return r == RIVER_OK && b->diags->n_errors > 0 ? RIVER_INVALID : r;
}

/* Files are in the order of their names. */
static int compare_diags(const void *a, const void *b)
{
	const struct river_range *left = &((const struct river_diag *)a)->range;
	const struct river_range *right = &((const struct river_diag *)b)->range;
	int files = strcmp(left->file ? left->file : "", right->file ? right->file : "");

	if (files != 0)
		return files;
	return (left->start.offset > right->start.offset) -
	       (left->start.offset < right->start.offset);
}

/* They were found one kind after the other; a person goes through the file. */
static void sort_diags(struct river_diags *diags)
{
	if (diags->n_items > 1)
		qsort(diags->items, diags->n_items, sizeof(diags->items[0]), compare_diags);
}

static void give_up(struct graph *g, struct load *load)
{
	for (size_t i = load->nodes.n; i-- > 0;) {
		struct node *node = load->nodes.items[i];

		if (node->origin == NODE_NEW) {
			node_free(node);
			continue;
		}
		node_drop_source(node);
		node_drop_args(node);
	}
	load->nodes.n = 0;
	load_free(g->failed);
	g->failed = load;
}

/* Nodes that the new load does not have end, dependants before what they depend on. */
static void stop_gone(struct graph *g, const struct nodes *old)
{
	for (size_t i = old->n; i-- > 0;) {
		struct node *node = old->items[i];

		if (!nodes_find(&g->nodes, node->id))
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
	if (node->origin == NODE_KEPT && waits_for_run(node)) {
		node_drop_args(node);
		node->stale = true;
	} else if (node->origin == NODE_KEPT) {
		(void)node_update(node);
	}
	node->origin = NODE_KEPT;
}

static void commit(struct graph *g, struct load *load)
{
	struct nodes old = g->nodes;
	struct load *old_load = g->load;

	g->nodes = load->nodes;
	g->load = load;
	load->nodes = (struct nodes){ 0 };
	for (size_t i = 0; i < g->nodes.n; i++)
		take_load(g->nodes.items[i]);
	stop_gone(g, &old);
	free(old.items);
	load_free(old_load);
	load_free(g->failed);
	g->failed = NULL;
}

int graph_load(struct graph *g, const struct river_source *sources, size_t n_sources,
	       struct river_diags *diags)
{
	struct load *load;
	int r;

	if (g->busy || g->ending)
		return -EBUSY;
	load = calloc(1, sizeof(*load));
	if (!load)
		return -ENOMEM;
	g->busy = true;
	river_arena_init(&load->arena, GRAPH_MAX_ARENA_BYTES);
	r = prepare(&(struct building){ .g = g, .load = load, .diags = diags }, sources, n_sources);
	if (r == RIVER_OK)
		commit(g, load);
	else
		give_up(g, load);
	sort_diags(diags);
	g->busy = false;
	return r;
}
