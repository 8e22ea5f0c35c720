/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a load get their arguments; new ones are built; what they make comes behind them. */
#include <errno.h>
#include <string.h>

#include "agent/component/graph/graph_private.h"

static bool dep_failed(const struct node *node)
{
	for (size_t i = 0; i < node->next_source.n_deps; i++)
		if (node->next_source.deps[i]->failed)
			return true;
	return false;
}

static const char *wrapper(const struct node *node)
{
	switch (node->class) {
	case GRAPH_COMPONENT:
		return "Failed to build component";
	case GRAPH_CONFIG:
		return "Failed to evaluate node for config block";
	case GRAPH_SERVICE:
		return "Failed to evaluate service";
	}
	return "";
}

int building_wrap(struct building *b, struct node *node, const char *what)
{
	node->failed = true;
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, node_range(&node->next_source),
			      "%s: %s", wrapper(node), what);
}

static int build_node(struct building *b, struct node *node)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	node_take_args(node);
	/* Set first: a build that failed half-way is stopped like any other. */
	node->built = true;
	int r = node->c.kind->build(&node->c, node->args, &why);
	node->failed = r == COMPONENT_UNKNOWN;
	if (r >= 0)
		return 0;
	return building_wrap(b, node, why.len ? buf_str(&why) : strerror(-r));
}

static int ask_node(struct building *b, struct node *node)
{
	const struct component_kind *kind = node->c.kind;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int r = kind->accepts && node_args_changed(node)
			? kind->accepts(&node->c, node->next_args, &why)
			: 0;

	if (r == 0)
		return 0;
	return building_wrap(b, node, why.len ? buf_str(&why) : strerror(-r));
}

/* Ends the walk when the reference is where the diagnostic begins. */
static int covers(void *ctx, const struct river_reference *ref)
{
	const struct river_diag *diag = ctx;
	const struct river_range *first = &ref->parts[0].range;
	const struct river_range *last = &ref->parts[ref->n_parts - 1].range;

	return diag->range.start.offset >= first->start.offset &&
	       diag->range.start.offset <= last->end.offset;
}

/* For what is wrong besides: what does not mean anything, or nothing yet, has been reported where it was found. */
static int evaluate_failed(struct building *b, struct node *node)
{
	const struct river_body *body = &node->next_source.block->body;
	struct river_diags *diags = b->diags;
	size_t kept = diags->n_items;
	size_t i = kept;
	int r = node_evaluate(node, &node->next_source, diags);

	for (; i < diags->n_items; i++) {
		if (river_body_references(body, covers, &diags->items[i]))
			diags->n_errors -= diags->items[i].severity == RIVER_SEVERITY_ERROR;
		else
			diags->items[kept++] = diags->items[i];
	}
	diags->n_items = kept;
	return r < 0 ? r : 0;
}

static int evaluate_whole(struct building *b, struct node *node)
{
	int r = node_evaluate(node, &node->next_source, b->diags);

	node->failed = r != RIVER_OK;
	if (r == RIVER_OK)
		r = node->built ? ask_node(b, node) : build_node(b, node);
	if (r == RIVER_OK && !node->failed)
		r = building_expand(b, node);
	node->failed |= r != RIVER_OK;
	return r < 0 ? r : 0;
}

static int evaluate_node(struct building *b, struct node *node)
{
	int r = nodes_push(&b->load->nodes, node);

	if (r < 0)
		return r;
	node->ordered = true;
	node->failed |= dep_failed(node);
	return node->failed ? evaluate_failed(b, node) : evaluate_whole(b, node);
}

int building_evaluate(struct building *b, struct module *m)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->nodes.n; i++)
		r = evaluate_node(b, m->nodes.items[i]);
	return r;
}
