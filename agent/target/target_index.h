/* SPDX-License-Identifier: Apache-2.0 */
/* The targets of a set, found by what selects them. Private to target.c. Loop thread. */
#ifndef XAGENT_AGENT_TARGET_TARGET_INDEX_H
#define XAGENT_AGENT_TARGET_TARGET_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/target/label.h"
#include "agent/target/selector.h"
#include "agent/util/hash.h"

struct target {
	struct hash_node node; /* of by_pid or by_container */
	struct hash_node labels_node;
	struct selector selector;
	uint64_t id_hash; /* of the container's id, where that selects */
	struct labels *labels;
	struct labels *series; /* NULL until matched, and where the process gives the name */
};

struct target_index {
	struct target *items; /* as configured; those that are in no table select nothing */
	size_t n;
	size_t n_unusable; /* that cannot select anything */
	struct hash_table by_pid;
	struct hash_table by_container;
	struct hash_table by_labels; /* by address */
};

/* Takes references. What `before`, which may be NULL, has found out about the same label sets is taken over, with_series: their series too.
 * 0, or -ENOMEM: target_index_fini() all the same. */
int target_index_init(struct target_index *x, struct labels *const *targets, size_t n,
		      const struct target_index *before, bool with_series);
/* NULL references and a zeroed index are none. */
void target_index_fini(struct target_index *x);

/* NULL: no target has it. Of several that take this start of a pid, the last. */
struct target *target_index_pid(const struct target_index *x, uint32_t pid, uint64_t start_ns);
struct target *target_index_container(const struct target_index *x, const char *id);

/* Lets go of what it holds; for a target that is in no index as well. */
void target_fini(struct target *t);

#endif
