/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who descends from a command, by the chain of parents: where there is no cgroup to tell it.
 *
 * Processes that were found to belong are remembered, so that their children belong when they have ended. What the chain cannot
 * tell: a child whose parent ended before either of them was sampled.
 */
#ifndef XAGENT_AGENT_CLI_DESCENT_H
#define XAGENT_AGENT_CLI_DESCENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/process.h"

/* Highest pid + 1 of 64-bit kernels (PID_MAX_LIMIT, include/linux/threads.h). */
#define DESCENT_MAX_PID (4u << 20)
/* Parents that are asked; real chains have a dozen. */
#define DESCENT_MAX_DEPTH 64

struct descent;

int descent_new(uint32_t root_pid, struct descent **ret_descent);
void descent_free(struct descent *d);
DEFINE_CLEANUP(struct descent *, descent_free);

/* The parent of a process, 0 when it is not known. */
typedef uint32_t (*descent_parent_fn)(uint32_t pid, void *data);

/* Loop thread. */
bool descent_has(struct descent *d, uint32_t pid, descent_parent_fn parent, void *data);

#endif
