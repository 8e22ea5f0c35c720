/* SPDX-License-Identifier: Apache-2.0 */
/* One run of `xagent profile`: from what was asked to the result written. Main thread, which becomes the loop thread. */
#ifndef XAGENT_AGENT_CLI_PROFILE_PROFILING_H
#define XAGENT_AGENT_CLI_PROFILE_PROFILING_H

#include "agent/cli/profile/profile_args.h"

/* `a` has been checked; `hz` is what the kernel allows. Returns the exit code; what went wrong has been printed. */
int profiling_run(const struct profile_args *a, uint32_t hz);

#endif
