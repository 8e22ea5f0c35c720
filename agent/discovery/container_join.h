/* SPDX-License-Identifier: Apache-2.0 */
/* Container targets, found by container id: what process targets are joined with. Loop thread. */
#ifndef XAGENT_AGENT_DISCOVERY_CONTAINER_JOIN_H
#define XAGENT_AGENT_DISCOVERY_CONTAINER_JOIN_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/target/label.h"
#include "agent/util/hash.h"

struct container_target {
	struct hash_node node; /* of by_id, unless a later target has the same id */
	struct labels *labels;
	const char *id; /* borrowed from labels; NULL: names no container */
};

struct container_join {
	struct container_target *items; /* in the order given */
	size_t n;
	struct hash_table by_id;
};

/* Borrows the targets for the call and takes references. 0 or -ENOMEM. */
int container_join_init(struct container_join *j, struct labels *const *targets, size_t n);
void container_join_fini(struct container_join *j);

/* The last target with that container id, borrowed, or NULL. */
struct labels *container_join_find(const struct container_join *j, const char *id);

#endif
