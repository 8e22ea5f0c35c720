/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoints of this kernel. */
#ifndef XAGENT_AGENT_SAMPLE_TRACEPOINT_H
#define XAGENT_AGENT_SAMPLE_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/sample/tracepoint_name.h"
#include "agent/util/buf.h"

/* Where they are looked up. A descriptor, or -errno with a sentence for the user. */
int tracepoint_open(struct buf *why);
/* The number for perf_event_open(). 0, or -errno with a sentence for the user where the kernel has none of this name. */
int tracepoint_id(int tracefs_fd, const struct tracepoint_name *name, struct buf *why,
		  uint64_t *ret_id);

/* Whether this kernel has all of these ("group:name"); nothing is attached. 0, or -errno with a sentence for the user. */
int tracepoint_check(const char *const *names, size_t n, struct buf *why);

#endif
