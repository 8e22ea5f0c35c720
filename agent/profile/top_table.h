/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, or what else a stack weighs, by function: self (it was at the leaf) and total (it was anywhere in the stack, once a stack). Worker thread. */
#ifndef XAGENT_AGENT_PROFILE_TOP_TABLE_H
#define XAGENT_AGENT_PROFILE_TOP_TABLE_H

#include <stdint.h>

#include "agent/profile/naming.h"

struct top_row {
	struct hash_node node;
	const char *function;
	const char *path; /* of the file that it is in: the source, for functions of runtimes */
	uint64_t self;
	uint64_t total;
	uint64_t last_stack; /* serial number of the stack that was counted last */
};

struct top_table {
	struct arena arena;
	struct hash_table table;
	uint64_t n_stacks;
	uint64_t total; /* as stack_weight() has it */
};

/* Strings are copied: all of it takes max_bytes, and a sixth of that for the table. */
void top_table_init(struct top_table *t, size_t max_bytes);
void top_table_fini(struct top_table *t);

/* 0 or -ENOMEM (what was counted so far stays). */
int top_table_add_series(struct top_table *t, const struct series *series, struct namer *namer);
/* The same of innermost functions only. */
int top_table_add_leaves(struct top_table *t, const struct series *series, struct namer *namer);

/* The hottest by self, NULL when empty; equal ones by name, so that output does not depend on addresses. */
const struct top_row *top_table_by_self(const struct top_table *t);

/* All, hottest by self first (then by total, then by name); the caller frees the array, not what it points to. */
int top_table_sorted(const struct top_table *t, const struct top_row ***ret_items, size_t *ret_n);

#endif
