/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the number of a control group, which the kernel half tells with each sample, to its path: where /proc/PID/cgroup is hidden by a cgroup
 * namespace ("0::/"), or the process has no number in our pid namespace.
 *
 * The number is the inode of its directory in the unified hierarchy, and the file handle that opens it (FILEID_KERNFS). Loop thread only.
 */
#ifndef XAGENT_AGENT_PROCESS_CGROUP_TREE_H
#define XAGENT_AGENT_PROCESS_CGROUP_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

struct cgroup_tree;

/* Where the unified hierarchy is mounted; NULL: found, the host's own rather than that of our container. 0, -ENOENT (there is none),
 * -errno. */
int cgroup_tree_new(const char *mount, struct cgroup_tree **ret_tree);
void cgroup_tree_free(struct cgroup_tree *t);
DEFINE_CLEANUP(struct cgroup_tree *, cgroup_tree_free);

/* Appends the path below the mount, "/" for its root. 0, also when it is gone and was found before; -ENOENT: it is gone, or not below this
 * mount; -errno. */
int cgroup_tree_path(struct cgroup_tree *t, uint64_t cgroup_id, struct buf *out);

/* A process in it said the same of itself, and nothing else: for a while others need not be asked where it is. */
void cgroup_tree_agree(struct cgroup_tree *t, uint64_t cgroup_id);
bool cgroup_tree_is_agreed(const struct cgroup_tree *t, uint64_t cgroup_id);

#endif
