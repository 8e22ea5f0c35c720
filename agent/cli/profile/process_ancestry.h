/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who descends from a command, by the chain of parents: where there is no cgroup to tell it.
 *
 * Processes that were found to belong are remembered, so that their children belong when they have ended. What the chain cannot
 * tell: a child whose parent ended before either of them was sampled.
 */
#ifndef XAGENT_AGENT_CLI_PROFILE_PROCESS_ANCESTRY_H
#define XAGENT_AGENT_CLI_PROFILE_PROCESS_ANCESTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/process.h"

/* Highest pid + 1 of 64-bit kernels (PID_MAX_LIMIT, include/linux/threads.h). */
#define PROCESS_ANCESTRY_MAX_PID (4u << 20)
/* Parents that are asked; real chains have a dozen. */
#define PROCESS_ANCESTRY_MAX_DEPTH 64

struct process_ancestry;

int process_ancestry_new(uint32_t root_pid, struct process_ancestry **ret_process_ancestry);
void process_ancestry_free(struct process_ancestry *d);
DEFINE_CLEANUP(struct process_ancestry *, process_ancestry_free);

/* The parent of a process, 0 when it is not known. */
typedef uint32_t (*process_ancestry_parent_fn)(uint32_t pid, void *data);

/* Loop thread. */
bool process_ancestry_has(struct process_ancestry *d, uint32_t pid,
			  process_ancestry_parent_fn parent, void *data);

#endif
