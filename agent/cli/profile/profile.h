/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent profile`: whether what was asked for is there on this host. */
#ifndef XAGENT_AGENT_CLI_PROFILE_PROFILE_H
#define XAGENT_AGENT_CLI_PROFILE_PROFILE_H

#include "agent/cli/profile/profile_args.h"
#include "agent/util/buf.h"

/* Processes, threads and CPUs exist: 0, or -errno with one line in `why`. */
int profile_check(const struct profile_args *a, struct buf *why);

/* The rate as the kernel allows it (kernel.perf_event_max_sample_rate). When it is lower, `note` gets one line. */
uint32_t profile_clamp_hz(uint32_t hz, struct buf *note);

#endif
