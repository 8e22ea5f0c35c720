/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories below one, by their inodes: for those who may not open a file by its number.
 *
 * A number that is not known makes the tree be walked, but never for more than a small share of the time; what was found stays known,
 * also when it is gone (the kernel does not give a number again, 64 bits are enough). Loop thread only.
 */
#ifndef XAGENT_AGENT_PROCESS_CGROUP_WALK_H
#define XAGENT_AGENT_PROCESS_CGROUP_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/hash.h"

/* Directories remembered. A node has a few thousand: 250 pods of a handful of containers, and as many units. */
#define CGROUP_WALK_MAX 16384
/* What they take: 128 bytes each if there are as many; a container in a pod takes 250. Who may make directories may give them long
 * names. */
#define CGROUP_WALK_MAX_BYTES ((size_t)2 << 20)
/* Levels below the first one: kind's pods are at 12; the kernel has no limit of its own. Each is an open descriptor meanwhile. */
#define CGROUP_WALK_DEPTH 24

struct cgroup_walk {
	struct hash_table by_id;
	uint64_t next_ns; /* not walked before */
	size_t max;
	size_t n_bytes; /* of what is remembered */
};

void cgroup_walk_init(struct cgroup_walk *w, size_t max);
void cgroup_walk_fini(struct cgroup_walk *w);

/* Appends the path below the directory `root_fd`, "/" for itself. 0, -ENOENT, -ENOMEM, -ENOBUFS. */
int cgroup_walk_path(struct cgroup_walk *w, int root_fd, uint64_t inode, uint64_t now_ns,
		     struct buf *out);

/* The same, without a walk; and what was found otherwise, which may make room of all that is known. */
int cgroup_walk_known(const struct cgroup_walk *w, uint64_t inode, struct buf *out);
void cgroup_walk_remember(struct cgroup_walk *w, uint64_t inode, const char *path);

/* Until when somebody else's word need not be asked for what is known, CLOCK_MONOTONIC; 0: not known, or not said. */
void cgroup_walk_agree(struct cgroup_walk *w, uint64_t inode, uint64_t until_ns);
uint64_t cgroup_walk_agreed_until(const struct cgroup_walk *w, uint64_t inode);

#endif
