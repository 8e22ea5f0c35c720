/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of `discovery.process`: every process of the host as a target, joined with the targets
 * of containers.
 *
 * It holds what it found between scans, so that one process that starts or ends is one small change
 * and need not wait for the next scan: a process has its target with its first sample. The order of
 * the targets is stable (join targets as given, processes by pid).
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_DISCOVERY_PROCESS_H
#define XAGENT_AGENT_DISCOVERY_DISCOVERY_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/target/label.h"
#include "agent/discovery/process_target.h"

/* As many as the process table holds; those beyond are counted in discovery_process_n_skipped(). */
#define DISCOVERY_PROCESS_MAX 32768
/* Container targets to join with: a port and network of each container is one. */
#define DISCOVERY_JOIN_MAX 100000

struct discovery_process;

/* `processes` is borrowed. */
int discovery_process_new(const struct discover_config *config, struct process_table *processes,
			  struct discovery_process **ret_discovery);
void discovery_process_free(struct discovery_process *d);
DEFINE_CLEANUP(struct discovery_process *, discovery_process_free);

/* Container targets from now on, instead of those before; borrowed for the call, references are
 * taken. -E2BIG beyond DISCOVERY_JOIN_MAX, -ENOMEM: then the old ones stay. */
int discovery_process_set_join(struct discovery_process *d, struct labels *const *join, size_t n);

/* What the following return when they succeed; else -errno, and the targets are as they were (after
 * a scan: partly renewed). */
enum discovery_outcome { DISCOVERY_SAME = 0, DISCOVERY_CHANGED = 1 };

/* Looks at every process of the host: forgets those that are gone, takes in new ones. */
int discovery_process_scan(struct discovery_process *d);

/* The first sample of a process came, or the first since its last exec. `p` is of `processes`, the
 * table of who takes the samples: it knows processes that are gone before anybody could look at
 * /proc. Borrowed for the call. DISCOVERY_CHANGED until discovery_process_told(), if it is a target. */
int discovery_process_on_sample(struct discovery_process *d, struct process_table *processes,
				struct process *p);
/* It has ended. A target of it that nobody was told of is kept until then: its samples wait for it. */
void discovery_process_on_exit(struct discovery_process *d, uint32_t pid);

/* All who use the targets get them as they are now. */
void discovery_process_told(struct discovery_process *d);

/*
 * The targets as they are now; the caller's, to be freed with labels_array_free(). 0 or -ENOMEM.
 *
 * 1. join targets without a container id, unchanged
 * 2. a target for each process that is no kernel thread and has an executable; where a join target
 *    (the last one) has its container id, merged with that one, whose labels win. Should both
 *    together be beyond LABELS_RAW_MAX, the process is left to 3
 * 3. all join targets with a container id, for processes of these containers not known yet
 */
int discovery_process_targets(struct discovery_process *d, struct labels ***ret_targets,
			      size_t *ret_n);

/* Processes that have no target because there are too many, since the last scan began. */
size_t discovery_process_n_skipped(const struct discovery_process *d);

#endif
