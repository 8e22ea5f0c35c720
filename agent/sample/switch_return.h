/* SPDX-License-Identifier: Apache-2.0 */
/* Where a task is back on its CPU, and in its own context. */
#ifndef XAGENT_AGENT_SAMPLE_SWITCH_RETURN_H
#define XAGENT_AGENT_SAMPLE_SWITCH_RETURN_H

#include "agent/util/buf.h"

struct bpf_program;

/*
 * The scheduler's tracepoint at the end of a switch (6.17 or so), else the return of schedule(), where the kernel lets programs be attached to functions. The
 * verifier loads the program for the one or for the other. 0, or -EOPNOTSUPP with one line in `why` that names `event`.
 */
int switch_return_choose(struct bpf_program *program, const char *event, struct buf *why);

/* Why it could not be attached, where that is known. */
void switch_return_explain(const char *event, int error, struct buf *why);

#endif
