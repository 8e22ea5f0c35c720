/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Milliseconds that the profiles of one source have, each its own. The same profile that comes again has the one that it had, so that a server
 * knows it as the same.
 *
 * It remembers the last MOMENTS_MAX of them, which is more than come within the time in which two may be in one interval. One thread.
 */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_MOMENTS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

struct moments;

#define MOMENTS_MAX 8192
/* A profile moves by so much at most. */
#define MOMENTS_MAX_MOVE_MS 1000

/* 0 or -ENOMEM. */
int moments_new(struct moments **ret_moments);
void moments_free(struct moments *m); /* NULL-safe */
DEFINE_CLEANUP(struct moments *, moments_free);

/* `origin`: the same number for the same profile of the same time, and another for every other. False: there is none near enough, and it stays. */
bool moments_take(struct moments *m, uint64_t origin, uint64_t time_ns, uint64_t *ret_ns);

#endif
