/* SPDX-License-Identifier: Apache-2.0 */
/* What `xagent profile` and `xagent top` sample, and by which name they show a process. Loop thread. */
#ifndef XAGENT_AGENT_CLI_PROFILE_SAMPLING_H
#define XAGENT_AGENT_CLI_PROFILE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/cli/profile/profile_args.h"
#include "agent/process/process.h"
#include "agent/profile/session.h"
#include "agent/sample/sampler.h"
#include "agent/target/label.h"

/* All is borrowed: `a` was checked, hz is what the kernel allows of ticks. cgroup_fd < 0: of no control group. */
struct sampler_options sampling_options(const struct profile_args *a, uint32_t hz, int cgroup_fd);
/* Wall-clock time is made of ticks and waits, which are nothing by themselves then. */
void sampling_wall(const struct profile_args *a, struct session_options *o);
/* service_name alone: what its leader is called; of a process that is not seen from here, what its control group is of. 0 and a reference, or -ENOMEM. */
int sampling_labels(struct process_table *processes, struct process *p, bool with_idle,
		    struct labels **ret_labels);

#endif
