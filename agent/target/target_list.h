/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list of targets. Loop thread only. */
#ifndef XAGENT_AGENT_TARGET_TARGET_LIST_H
#define XAGENT_AGENT_TARGET_TARGET_LIST_H

#include <stddef.h>

#include "agent/target/label.h"

/* Of one source; as many as a target set takes (TARGETS_MAX). */
#define TARGET_LIST_MAX 100000

struct target_list {
	struct labels **items; /* a reference each */
	size_t n;
	size_t n_room;
};

/* Takes the reference, also when it fails. 0, -E2BIG, -ENOMEM. */
int target_list_add(struct target_list *list, struct labels *labels);
void target_list_fini(struct target_list *list); /* empty afterwards */
#define _cleanup_target_list_ _cleanup_(target_list_fini)

/* Whether both hold equal sets in the same order. */
bool target_list_equal(const struct target_list *a, const struct target_list *b);

#endif
