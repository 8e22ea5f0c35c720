/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals as one tree: process, outermost function, …, innermost function, inlined ones included; values are samples.
 *
 * Names are as they are, nothing in them is replaced. A session that hands over an interval early adds to the same tree.
 */
#ifndef XAGENT_AGENT_DRAW_FLAME_TREE_H
#define XAGENT_AGENT_DRAW_FLAME_TREE_H

#include "agent/profile/build.h"
#include "agent/store/tree/call_tree.h"

/* Where code lies, for its colour. */
enum flame_kind {
	FLAME_PROGRAM,
	FLAME_LIBRARY,
	FLAME_KERNEL,
	FLAME_JIT,     /* interpreted or made at run time */
	FLAME_UNNAMED, /* a file and a place in it */
	FLAME_NOTE,    /* no code: [unknown], [truncated: …] */
	FLAME_KIND_MAX
};

struct flame_tree {
	struct call_tree *calls; /* owned */
	uint8_t *kinds;		 /* owned; by the number of a name, where it was met first */
	size_t n_kinds;
};

/* Of zeroes. 0 or -ENOMEM. */
int flame_tree_init(struct flame_tree *t, size_t max_bytes);
void flame_tree_fini(struct flame_tree *t);

/* A build_fn. build->data is a struct flame_tree, whose calls are not finished; what does not fit into it has failed. */
void flame_tree_build(const struct interval *interval, struct namer *namer, struct build *build);

/* The stacks of one series. */
void flame_tree_add_series(struct flame_tree *t, const struct series *series, struct namer *namer,
			   struct build *build);

/* What is not known is the program's. */
enum flame_kind flame_tree_kind(const struct flame_tree *t, uint32_t name);

#endif
