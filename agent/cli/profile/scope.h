/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes are profiled, beyond what the kernel half filters by number: a cgroup that was asked for, or a command and all that
 * it starts.
 *
 * In a cgroup of its own the kernel tells the command's processes from others; where there can be none, everything is sampled and the
 * chain of parents decides.
 */
#ifndef XAGENT_AGENT_CLI_PROFILE_SCOPE_H
#define XAGENT_AGENT_CLI_PROFILE_SCOPE_H

#include "agent/cli/profile/cgroup2.h"
#include "agent/cli/profile/process_ancestry.h"
#include "agent/cli/profile/profile_args.h"
#include "agent/process/process.h"

struct scope {
	int cgroup_fd;				   /* owned; < 0: none was asked for */
	struct transient_cgroup *transient;	   /* owned; of the command */
	struct process_ancestry *process_ancestry; /* owned; where there is no cgroup of its own */
};

#define SCOPE_INIT ((struct scope){ .cgroup_fd = -1 })

/* `command_pid` is looked at when only the command is wanted. 0, or -errno with one line in `why`, if there is one to say. */
int scope_open(struct scope *s, const struct profile_args *a, uint32_t command_pid,
	       struct buf *why);
void scope_fini(struct scope *s);

/* Lets the command out of its own cgroup, which is gone then. Sampling by it ends here. */
void scope_release_command(struct scope *s);

/* For the kernel half; owned by the scope, < 0: no filter. */
int scope_cgroup_fd(const struct scope *s);
/* What the kernel half let through. Loop thread. */
bool scope_has(struct scope *s, struct process_table *processes, const struct process *p);

#endif
