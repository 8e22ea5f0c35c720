/* SPDX-License-Identifier: Apache-2.0 */
/* What a call tree holds; for call_tree*.c only. */
#ifndef XAGENT_AGENT_STORE_TREE_CALL_TREE_PRIVATE_H
#define XAGENT_AGENT_STORE_TREE_CALL_TREE_PRIVATE_H

#include "agent/store/query/query_intern.h"
#include "agent/store/query/query_memory.h"
#include "agent/store/tree/call_tree.h"

#define CALL_OTHER "other"

struct call_tree {
	struct query_memory *memory;
	struct query_intern names; /* 0: the root's */
	/* While it grows, first_child is the child that was asked for last, and next goes round all children, the newest behind
	 * the one that was asked for before it. */
	struct call_node *nodes;
	size_t n, cap;
	struct id_slots slots; /* children by (parent, name) */
	uint64_t seed;
	size_t max_bytes;
	bool is_finished, is_pruned;
};

#endif
