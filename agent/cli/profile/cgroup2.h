/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of the unified cgroup hierarchy: the kernel half can only filter by these. */
#ifndef XAGENT_AGENT_CLI_PROFILE_CGROUP2_H
#define XAGENT_AGENT_CLI_PROFILE_CGROUP2_H

#include <stdint.h>
#include <stdio.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

/* Appends the mount point of the first cgroup2 file system in a file like /proc/self/mounts. 0, -ENODEV, -ENOMEM, -ENOBUFS. */
int cgroup2_find_mount(FILE *mounts, struct buf *ret_path);

/* Opens a directory: a path as it is or, when there is none, below the mount point. 0, or -errno with one line in `why`. */
int cgroup2_open(const char *path, struct buf *why, int *ret_fd);

/*
 * A cgroup of our own for one process and its children, below the cgroup we are in. No controller is enabled in it, so nothing but
 * the path changes for who is inside.
 */
struct transient_cgroup;

/* Makes it and moves `pid` in. -errno where there is no cgroup2 or it may not be written. */
int transient_cgroup_new(uint32_t pid, struct transient_cgroup **ret_cgroup);
/* Moves who is still inside out again, and removes it. NULL-safe. */
void transient_cgroup_free(struct transient_cgroup *cgroup);
DEFINE_CLEANUP(struct transient_cgroup *, transient_cgroup_free);

/* Its directory, which it owns. */
int transient_cgroup_fd(const struct transient_cgroup *cgroup);

#endif
