/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished tree as levels of bars: the form in which Pyroscope and Grafana exchange flame graphs.
 *
 * Level 0 is the root. A bar is a group of numbers: {offset from the end of the bar before it on its level, total, self, number of its
 * name}; of a comparison {offset, total, self} of the left, the same of the right, number of its name.
 */
#ifndef XAGENT_AGENT_STORE_TREE_FLAMEBEARER_H
#define XAGENT_AGENT_STORE_TREE_FLAMEBEARER_H

#include "agent/store/tree/call_tree.h"
#include "agent/util/buf.h"

struct flame_level {
	int64_t *values;
	size_t n;
};

struct flamebearer {
	const char **names; /* of the tree */
	size_t n_names;
	struct flame_level *levels;
	size_t n_levels;
	int64_t total, max_self;   /* both sides together; the largest of either */
	int64_t ticks[CALL_SIDES]; /* total of each side */
};

/* 0 or -ENOMEM. Borrows the tree. */
int flamebearer_new(const struct call_tree *tree, struct flamebearer *ret_flamebearer);
int flamebearer_new_diff(const struct call_tree *tree, struct flamebearer *ret_flamebearer);
void flamebearer_fini(struct flamebearer *f);

/* {"names":[…],"levels":[[…],…],"numTicks":…,"maxSelf":…}. 0 or -errno. */
int flamebearer_json(const struct flamebearer *f, struct buf *out);

/* The tree format of SelectMergeStacktraces: depth first, for each node name, self, number of children. Of an empty tree nothing. */
int call_tree_bytes(const struct call_tree *tree, struct buf *out);

#endif
