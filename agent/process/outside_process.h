/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that have no number in our pid namespace: all that is known of one is its control group.
 *
 * Where the agent is not in the host's pid namespace the kernel half gives them pid 0. They cannot be told apart, so there is one of them
 * for each control group, and one for all kernel threads. It looks like any other process (pid 0, no mappings, an identity that is
 * complete as far as it will ever be), so that targets by container, units and names work as they do for others. Where the control group
 * tells nothing it is called OUTSIDE_PROCESS_NAME.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_PROCESS_OUTSIDE_PROCESS_H
#define XAGENT_AGENT_PROCESS_OUTSIDE_PROCESS_H

#include <stdint.h>

#include "agent/process/cgroup_tree.h"
#include "agent/process/process.h"

#define OUTSIDE_PROCESS_NAME "outside-pid-namespace"

/* Control groups of a large node (250 pods of a few containers) twice over; the least recently sampled is forgotten first. */
#define OUTSIDE_PROCESSES_MAX 2048

struct outside_processes_options {
	struct cgroup_tree
		*tree; /* borrowed; NULL: there is none, all are called OUTSIDE_PROCESS_NAME */
	size_t max;    /* 0: OUTSIDE_PROCESSES_MAX */
	struct telemetry *telemetry; /* borrowed, required: samples_outside_pid_namespace */
	/* Last call for p: drop p->user. NULL-able. */
	void (*on_forget)(struct process *p, void *data);
	void *data;
};

struct outside_processes;

int outside_processes_new(const struct outside_processes_options *o,
			  struct outside_processes **ret_outside_processes);
void outside_processes_free(struct outside_processes *s);
DEFINE_CLEANUP(struct outside_processes *, outside_processes_free);

/* The process that stands for the one that was sampled; counts the sample, unless it is a kernel thread's. Borrowed until the next call.
 * NULL only without memory. */
struct process *outside_processes_get(struct outside_processes *s, uint64_t cgroup_id,
				      bool kernel_thread);

#endif
