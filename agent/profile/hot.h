/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, or what else a stack weighs, by function: self (it was at the leaf) and total (it was anywhere in the stack, once a stack). Worker thread. */
#ifndef XAGENT_AGENT_PROFILE_HOT_H
#define XAGENT_AGENT_PROFILE_HOT_H

#include <stdint.h>

#include "agent/profile/naming.h"

struct hot {
	struct hash_node node;
	const char *function;
	const char *path; /* of the file that it is in */
	uint64_t self;
	uint64_t total;
	uint64_t last_stack; /* serial number of the stack that was counted last */
};

struct hot_table {
	struct arena arena;
	struct hash_table table;
	uint64_t n_stacks;
	uint64_t total; /* as stack_weight() has it */
};

/* Strings are copied: all of it takes max_bytes, and a sixth of that for the table. */
void hot_init(struct hot_table *t, size_t max_bytes);
void hot_fini(struct hot_table *t);

/* 0 or -ENOMEM (what was counted so far stays). */
int hot_add_series(struct hot_table *t, const struct series *series, struct namer *namer);
/* The same of innermost functions only. */
int hot_add_leaves(struct hot_table *t, const struct series *series, struct namer *namer);

/* The hottest by self, NULL when empty; equal ones by name, so that output does not depend on addresses. */
const struct hot *hot_by_self(const struct hot_table *t);

/* All, hottest by self first (then by total, then by name); the caller frees the array, not what it points to. */
int hot_sorted(const struct hot_table *t, const struct hot ***ret_items, size_t *ret_n);

#endif
