/* SPDX-License-Identifier: Apache-2.0 */
/* One run of `xagent top`. Main thread, which becomes the loop thread. */
#ifndef XAGENT_AGENT_CLI_TOP_TOP_H
#define XAGENT_AGENT_CLI_TOP_TOP_H

#include "agent/cli/top/top_args.h"

/* `a` has been checked; `hz` is what the kernel allows. Returns the exit code; what went wrong has been printed. */
int top_run(const struct top_args *a, uint32_t hz);

#endif
