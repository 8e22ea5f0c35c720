/* SPDX-License-Identifier: Apache-2.0 */
/* Which component refers to which, and the order that follows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph_private.h"

struct river_range reference_range(const struct river_reference *ref)
{
	struct river_range range = ref->parts[0].range;

	range.end = ref->parts[ref->n_parts - 1].range.end;
	return range;
}

/* As far as the reader of the message needs it: chains are as long as the parser's depth. */
static void put_chain(struct buf *b, const struct river_reference *ref)
{
	for (size_t i = 0; i < ref->n_parts; i++)
		(void)buf_printf(b, "%s%s", i ? "." : "", ref->parts[i].text);
}

static int report_missing(struct building *b, const struct river_reference *ref)
{
	_cleanup_buf_ struct buf chain = BUF_INIT((size_t)64 * 1024);
	struct river_range range = reference_range(ref);

	b->node->failed = true;
	put_chain(&chain, ref);
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &range,
			      "component \"%s\" does not exist or is out of scope",
			      buf_str(&chain));
}

static int report_self(struct building *b, const struct river_reference *ref)
{
	struct river_range range = reference_range(ref);

	b->node->failed = true;
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &range,
			      "component \"%s\" cannot refer to itself", b->node->id);
}

static int report_no_exports(struct building *b, const struct river_reference *ref,
			     const struct node *dep)
{
	struct river_range range = reference_range(ref);

	b->node->failed = true;
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &range,
			      "component \"%s\" has nothing to refer to", dep->id);
}

static int report_deprecated(struct building *b, const struct river_reference *ref)
{
	struct river_range range = reference_range(ref);
	_cleanup_buf_ struct buf chain = BUF_INIT((size_t)64 * 1024);

	put_chain(&chain, ref);
	return river_diag_add(b->diags, RIVER_SEVERITY_WARNING, &range,
			      "function \"%s\" is deprecated; it still works", buf_str(&chain));
}

static int on_reference(void *ctx, const struct river_reference *ref)
{
	struct building *b = ctx;
	struct node *dep = nodes_find_reference(&b->load->nodes, ref);

	if (dep == b->node)
		return report_self(b, ref);
	if (dep && !dep->c.kind->exports)
		return report_no_exports(b, ref, dep);
	if (dep)
		return node_source_add(&b->node->next_source, dep);
	switch (river_stdlib_find(ref)) {
	case RIVER_STDLIB_CURRENT:
		return 0;
	case RIVER_STDLIB_DEPRECATED:
		return report_deprecated(b, ref);
	case RIVER_STDLIB_NONE:
		break;
	}
	return report_missing(b, ref);
}

int building_find_edges(struct building *b)
{
	for (size_t i = 0; i < b->load->nodes.n; i++) {
		b->node = b->load->nodes.items[i];
		int r = river_body_references(&b->node->next_source.block->body, on_reference, b);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The nodes between `node` and `node` are those that were entered last: each depends on the next. */
static int report_cycle(struct building *b, const struct node *node, const struct nodes *path)
{
	_cleanup_buf_ struct buf ids = BUF_INIT((size_t)64 * 1024);
	size_t begin = 0;

	while (path->items[begin] != node)
		begin++;
	for (size_t i = begin; i < path->n; i++)
		(void)buf_printf(&ids, "%s, ", path->items[i]->id);
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &node->next_source.block->head_range,
			      "cycle detected: %s%s", buf_str(&ids), node->id);
}

struct sorting {
	struct building *b;
	struct nodes path; /* from a dependant to its dependency */
	struct nodes order;
};

/* Depth first, dependencies before dependants; otherwise in the order of the file. RIVER_INVALID: a cycle. */
static int place(struct sorting *s, struct node *node)
{
	int r;

	if (node->visit == NODE_PLACED)
		return RIVER_OK;
	if (node->visit == NODE_ACTIVE) {
		r = report_cycle(s->b, node, &s->path);
		return r < 0 ? r : RIVER_INVALID;
	}
	node->visit = NODE_ACTIVE;
	r = nodes_push(&s->path, node);
	for (size_t i = 0; r == RIVER_OK && i < node->next_source.n_deps; i++)
		r = place(s, node->next_source.deps[i]);
	if (r != RIVER_OK)
		return r;
	s->path.n--;
	node->visit = NODE_PLACED;
	return nodes_push(&s->order, node);
}

static void fail_all(struct nodes *nodes)
{
	for (size_t i = 0; i < nodes->n; i++)
		nodes->items[i]->failed = true;
}

int building_sort(struct building *b)
{
	struct sorting s = { .b = b };
	struct nodes *nodes = &b->load->nodes;
	int r = RIVER_OK;

	for (size_t i = 0; r == RIVER_OK && i < nodes->n; i++)
		r = place(&s, nodes->items[i]);
	free(s.path.items);
	if (r != RIVER_OK) {
		free(s.order.items);
		fail_all(nodes);
		return r < 0 ? r : RIVER_OK;
	}
	free(nodes->items);
	*nodes = s.order;
	return RIVER_OK;
}
