/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished tree node by node: parents before children, siblings by name, and where each bar begins.
 *
 * Children stand at the beginning of their parent's bar, one behind the other; what is its own is the rest of it.
 */
#ifndef XAGENT_AGENT_DRAW_FLAME_WALK_H
#define XAGENT_AGENT_DRAW_FLAME_WALK_H

#include <stdbool.h>

#include "agent/store/tree/call_tree.h"

struct flame_walk {
	const struct call_tree *tree;
	uint32_t node;
	uint32_t depth; /* of the root: 0 */
	int64_t begin;	/* of the bar, in the unit of the values */
};

/* At the root. */
#define FLAME_WALK_INIT(t) ((struct flame_walk){ .tree = (t), .node = CALL_ROOT })

/* On to the next node; without `into` its children are passed over. False: that was the last. */
bool flame_walk_next(struct flame_walk *w, bool into);

const struct call_node *flame_walk_node(const struct flame_walk *w);
const char *flame_walk_name(const struct flame_walk *w);

#endif
