/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees cut to a number of nodes as the real server does it. Inside of the read API. Pure.
 *
 * There a tree passes from hand to hand, and each cuts it anew: who keeps the profiles, two that hand it on, and who draws it. The
 * `other`s of one are nodes to the next, so less is left than one cut would leave.
 */
#ifndef XAGENT_AGENT_STORE_API_API_TREE_H
#define XAGENT_AGENT_STORE_API_API_TREE_H

#include "agent/store/tree/call_tree.h"

/* Finishes and cuts it for an answer. 0, -ENOMEM, -ENOBUFS. */
int api_tree_cut(struct call_tree *tree, size_t max_nodes);

/* The two sides of a comparison, each in the left of its own tree, cut as they come to who compares; then put together in `tree`, which
 * is finished. So it has more nodes than asked for where they differ. As above. */
int api_tree_merge_cut(struct call_tree *sides[CALL_SIDES], size_t max_nodes,
		       struct call_tree *tree);

#endif
