/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks merged by the names of their functions, one or two values a node.
 *
 * Two sides hold the two profiles of a comparison; whoever has one uses the left. Children are sorted by name once the tree is
 * finished; it is then read only. Not thread-safe; one user at a time.
 */
#ifndef XAGENT_AGENT_STORE_TREE_CALL_TREE_H
#define XAGENT_AGENT_STORE_TREE_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

enum call_side { CALL_LEFT, CALL_RIGHT, CALL_SIDES };

#define CALL_ROOT 0
#define CALL_NONE UINT32_MAX

struct call_node {
	uint32_t name; /* number of a name */
	uint32_t parent;
	uint32_t first_child; /* these two once finished */
	uint32_t next;	      /* sibling */
	int64_t self[CALL_SIDES];
	int64_t total[CALL_SIDES]; /* once finished */
};

struct call_tree;
struct query_memory;

/* max_bytes: of nodes and names together, 128 KiB at the least. `memory`: the account of the question, which has all that the tree ever takes;
 * NULL: none. 0 or -ENOMEM. */
int call_tree_new(struct query_memory *memory, size_t max_bytes, struct call_tree **ret_tree);
void call_tree_free(struct call_tree *t); /* NULL-safe */
DEFINE_CLEANUP(struct call_tree *, call_tree_free);

/* A name's number, the same for the same bytes. 0 (and *ret_name), -ENOMEM, -ENOBUFS (max_bytes). */
int call_tree_name(struct call_tree *t, const char *text, size_t n, uint32_t *ret_name);
/* The child of that name, made when it is not there. As above. A parent has a smaller number than its children. */
int call_tree_child(struct call_tree *t, uint32_t parent, uint32_t name, uint32_t *ret_node);
/* A sum that would pass INT64_MAX stays there. */
void call_tree_add(struct call_tree *t, uint32_t node, enum call_side side, int64_t self);

/* Totals, and children by name. 0 or -ENOMEM. */
int call_tree_finish(struct call_tree *t);
/* Keeps about max_nodes nodes: those whose total is below that of the max_nodes-th become `other`, one for each parent, as the real
 * server has it. 0: keeps all. After finish; 0, -ENOMEM or -ENOBUFS. */
int call_tree_prune(struct call_tree *t, size_t max_nodes);
/* Whether children and totals may be read. */
bool call_tree_is_finished(const struct call_tree *t);
/* Whether an `other` stands for what was left out. */
bool call_tree_is_pruned(const struct call_tree *t);

/* NULL: none. */
struct query_memory *call_tree_memory(const struct call_tree *t);
size_t call_tree_n_nodes(const struct call_tree *t); /* the root included */
const struct call_node *call_tree_node(const struct call_tree *t, uint32_t node);
size_t call_tree_n_names(const struct call_tree *t);
const char *call_tree_text(const struct call_tree *t, uint32_t name); /* of the root: "total" */
/* The number of a name that the tree may have or not: CALL_NONE. */
uint32_t call_tree_find_name(const struct call_tree *t, const char *text);

#endif
