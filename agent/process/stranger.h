/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that have no number in our pid namespace: all that is known of one is its control group.
 *
 * Where the agent is not in the host's pid namespace the kernel half gives them pid 0. They cannot be told apart, so there is one of them
 * for each control group, and one for all kernel threads. It looks like any other process (pid 0, no mappings, an identity that is
 * complete as far as it will ever be), so that targets by container, units and names work as they do for others. Where the control group
 * tells nothing it is called STRANGER_NAME.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_PROCESS_STRANGER_H
#define XAGENT_AGENT_PROCESS_STRANGER_H

#include <stdint.h>

#include "agent/process/cgroup_tree.h"
#include "agent/process/process.h"

#define STRANGER_NAME "outside-pid-namespace"

/* Control groups of a large node (250 pods of a few containers) twice over; the least recently sampled is forgotten first. */
#define STRANGERS_MAX 2048

struct strangers_options {
	struct cgroup_tree *tree; /* borrowed; NULL: there is none, all are called STRANGER_NAME */
	size_t max;		  /* 0: STRANGERS_MAX */
	struct telemetry *telemetry; /* borrowed, required: samples_outside_pid_namespace */
	/* Last call for p: drop p->user. NULL-able. */
	void (*on_forget)(struct process *p, void *data);
	void *data;
};

struct strangers;

int strangers_new(const struct strangers_options *o, struct strangers **ret_strangers);
void strangers_free(struct strangers *s);
DEFINE_CLEANUP(struct strangers *, strangers_free);

/* The process that stands for the one that was sampled; counts the sample, unless it is a kernel thread's. Borrowed until the next call.
 * NULL only without memory. */
struct process *strangers_get(struct strangers *s, uint64_t cgroup_id, bool kernel_thread);

#endif
