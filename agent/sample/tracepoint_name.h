/* SPDX-License-Identifier: Apache-2.0 */
/* "group:name" of a tracepoint. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_TRACEPOINT_NAME_H
#define XAGENT_AGENT_SAMPLE_TRACEPOINT_NAME_H

#include "agent/util/buf.h"

/* MAX_EVENT_NAME_LEN, kernel/trace/trace.h: of either part. */
#define TRACEPOINT_PART_BYTES 64

struct tracepoint_name {
	char group[TRACEPOINT_PART_BYTES];
	char name[TRACEPOINT_PART_BYTES];
};

/* 0, or -EINVAL with one line in `why`. Letters, digits and _ only: both are parts of a path. */
int tracepoint_name_parse(const char *text, struct tracepoint_name *ret_name, struct buf *why);

#endif
