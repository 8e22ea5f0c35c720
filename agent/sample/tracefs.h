/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of its tracepoints. */
#ifndef XAGENT_AGENT_SAMPLE_TRACEFS_H
#define XAGENT_AGENT_SAMPLE_TRACEFS_H

#include <stdint.h>

/*
 * A directory of tracefs: the one that is mounted, else (in a container) one that no path leads to, which takes CAP_SYS_ADMIN. A descriptor, or -errno: the kernel
 * has none, or does not let us.
 */
int tracefs_open(void);

/* The number of a tracepoint for perf_event_open(). 0, -ENOENT when the kernel has none of this name, or -errno. */
int tracefs_event_id(int tracefs_fd, const char *group, const char *name, uint64_t *ret_id);

#endif
