/* SPDX-License-Identifier: Apache-2.0 */
/* All that is selected as one profile. */
#include <errno.h>

#include "agent/store/query/query_stacks.h"

static int finish_pruned(struct call_tree *tree, size_t max_nodes)
{
	int r = call_tree_finish(tree);

	return r < 0 ? r : call_tree_prune(tree, max_nodes);
}

int query_profile(const struct query *q, size_t max_nodes, struct buf *ret_pprof)
{
	_cleanup_(query_stacks_fini) struct query_stacks stacks = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(ret_pprof->max_bytes);
	int r = query_stacks_init(&stacks, q->memory);

	if (r < 0)
		return r;
	r = query_each_part(q, query_stacks_add, &stacks);
	if (r < 0)
		return r;
	if (call_tree_n_nodes(stacks.tree) == 1)
		stacks.type = NULL; /* no stack was within the call site */
	if (max_nodes > 0) {
		r = finish_pruned(stacks.tree, max_nodes);
		if (r < 0)
			return r;
	}
	r = query_stacks_encode(&stacks, q, &out);
	if (r < 0)
		return r;
	buf_fini(ret_pprof);
	*ret_pprof = out;
	out = BUF_INIT(0);
	return 0;
}
