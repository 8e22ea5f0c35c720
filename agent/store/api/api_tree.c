/* SPDX-License-Identifier: Apache-2.0 */
/* Trees cut to a number of nodes as the real server does it. */
#include "agent/store/api/api_tree.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "agent/store/query/query_memory.h"

/* Before somebody draws it. */
#define CUTS_ON_THE_WAY 3

static int cut(struct call_tree *tree, size_t max_nodes, unsigned int n_cuts)
{
	int r = call_tree_finish(tree);

	for (unsigned int i = 0; r == 0 && i < n_cuts; i++)
		r = call_tree_prune(tree, max_nodes);
	return r;
}

int api_tree_cut(struct call_tree *tree, size_t max_nodes)
{
	return cut(tree, max_nodes, CUTS_ON_THE_WAY + 1);
}

/* Parents come before their children; `places` of nodes in the other tree. */
static int merge_node(const struct call_tree *from, uint32_t at, enum call_side side,
		      struct call_tree *to, uint32_t *places)
{
	const struct call_node *node = call_tree_node(from, at);
	const char *text = call_tree_text(from, node->name);
	uint32_t name;
	int r = call_tree_name(to, text, strlen(text), &name);

	if (r < 0)
		return r;
	r = call_tree_child(to, places[node->parent], name, &places[at]);
	if (r < 0)
		return r;
	call_tree_add(to, places[at], side, node->self[CALL_LEFT]);
	return 0;
}

static int merge(const struct call_tree *from, enum call_side side, struct call_tree *to)
{
	size_t n = call_tree_n_nodes(from);
	_cleanup_query_free_ uint32_t *places =
		query_malloc(call_tree_memory(from), n, sizeof(*places));
	int r = 0;

	if (!places)
		return -ENOMEM;
	places[CALL_ROOT] = CALL_ROOT;
	for (uint32_t i = CALL_ROOT + 1; r == 0 && i < n; i++)
		r = merge_node(from, i, side, to, places);
	return r;
}

int api_tree_merge_cut(struct call_tree *sides[CALL_SIDES], size_t max_nodes,
		       struct call_tree *tree)
{
	for (enum call_side side = CALL_LEFT; side < CALL_SIDES; side++) {
		int r = cut(sides[side], max_nodes, CUTS_ON_THE_WAY);

		if (r < 0)
			return r;
		r = merge(sides[side], side, tree);
		if (r < 0)
			return r;
	}
	return call_tree_finish(tree);
}
