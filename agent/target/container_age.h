/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a container has been known here, counted from the first sample of one of its processes. Loop thread only.
 *
 * Whoever tells of containers needs a moment: an engine's event, a list of the API, a kubelet's report. Until then a container that
 * nobody has told of is not one that nobody knows.
 */
#ifndef XAGENT_AGENT_TARGET_CONTAINER_AGE_H
#define XAGENT_AGENT_TARGET_CONTAINER_AGE_H

#include <stdint.h>

#include "agent/util/hash.h"
#include "agent/util/list.h"

/* Remembered at once; a forgotten one is new again. */
#define CONTAINER_AGE_MAX 4096

struct container_ages {
	struct hash_table by_id;
	struct list oldest; /* by first sample */
};

void container_ages_init(struct container_ages *a);
void container_ages_fini(struct container_ages *a);

/* Since the first call for this id. Without memory a container is as old as can be. */
uint64_t container_age_ns(struct container_ages *a, const char *id, uint64_t now_ns);

#endif
