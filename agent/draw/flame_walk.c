/* SPDX-License-Identifier: Apache-2.0 */
/* A finished tree node by node. The tree knows parents, so no stack is needed, however deep it is. */
#include "agent/draw/flame_walk.h"

const struct call_node *flame_walk_node(const struct flame_walk *w)
{
	return call_tree_node(w->tree, w->node);
}

const char *flame_walk_name(const struct flame_walk *w)
{
	return call_tree_text(w->tree, flame_walk_node(w)->name);
}

bool flame_walk_next(struct flame_walk *w, bool into)
{
	const struct call_node *n = flame_walk_node(w);

	if (into && n->first_child != CALL_NONE) {
		w->node = n->first_child;
		w->depth++;
		return true;
	}
	w->begin += n->total[CALL_LEFT];
	/* Behind a last child, its parent's own part is left. */
	while (w->node != CALL_ROOT && n->next == CALL_NONE) {
		w->node = n->parent;
		w->depth--;
		n = flame_walk_node(w);
		w->begin += n->self[CALL_LEFT];
	}
	if (w->node == CALL_ROOT)
		return false;
	w->node = n->next;
	return true;
}
