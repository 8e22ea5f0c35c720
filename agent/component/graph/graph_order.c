/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order that follows from references, by Tarjan's algorithm: strongly connected components come out dependencies first; one of
 * more than one node is a cycle. Otherwise nodes stay in the order of the text.
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/component/graph/graph_private.h"

/* Neither a cycle nor a reference to itself has a position: it is of several blocks. */
static int report_cycle(struct building *b, struct node *const *nodes, size_t n)
{
	_cleanup_buf_ struct buf ids = BUF_INIT((size_t)1 << 20);

	for (size_t i = 0; i < n; i++) {
		(void)buf_printf(&ids, "%s%s", i ? ", " : "", nodes[i]->c.local_id);
		nodes[i]->failed = true;
	}
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, NULL, "cycle detected: %s",
			      buf_str(&ids));
}

static int report_self(struct building *b, struct node *node)
{
	if (!node->refers_to_self)
		return 0;
	node->failed = true;
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, NULL, "cannot reference self");
}

struct sorting {
	struct building *b;
	struct module *m;
	struct nodes path; /* seen, and not yet known to which component they belong */
	struct nodes order;
};

static int visit(struct sorting *s, struct node *node);

static int visit_dep(struct sorting *s, struct node *node, struct node *dep)
{
	int r = 0;

	if (dep->next_source.module != s->m || dep->placed)
		return 0;
	if (dep->visit == 0)
		r = visit(s, dep);
	if (!dep->placed && dep->low < node->low)
		node->low = dep->low;
	return r;
}

/* Everything on the path from `node` on. */
static int place(struct sorting *s, struct node *node)
{
	size_t begin = s->path.n;
	int r = 0;

	while (s->path.items[--begin] != node)
		;
	if (s->path.n - begin > 1)
		r = report_cycle(s->b, s->path.items + begin, s->path.n - begin);
	for (size_t i = begin; r == 0 && i < s->path.n; i++) {
		s->path.items[i]->placed = true;
		r = nodes_push(&s->order, s->path.items[i]);
	}
	s->path.n = begin;
	return r;
}

static int visit(struct sorting *s, struct node *node)
{
	int r = nodes_push(&s->path, node);

	if (r < 0)
		return r;
	node->visit = node->low = ++s->b->n_visited;
	for (size_t i = 0; i < node->next_source.n_deps; i++) {
		r = visit_dep(s, node, node->next_source.deps[i]);
		if (r < 0)
			return r;
	}
	return node->low == node->visit ? place(s, node) : 0;
}

int building_sort(struct building *b, struct module *m)
{
	struct sorting s = { .b = b, .m = m };
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->nodes.n; i++)
		if (m->nodes.items[i]->visit == 0)
			r = visit(&s, m->nodes.items[i]);
	for (size_t i = 0; r == 0 && i < m->nodes.n; i++)
		r = report_self(b, m->nodes.items[i]);
	free(s.path.items);
	if (r < 0) {
		free(s.order.items);
		return r;
	}
	free(m->nodes.items);
	m->nodes = s.order;
	return 0;
}
