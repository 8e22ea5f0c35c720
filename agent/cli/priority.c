/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's scheduling priority. */
#include "agent/cli/priority.h"

#include <sys/resource.h>

/* Nine times the weight of an ordinary thread (sched_prio_to_weight, kernel/sched/core.c). */
#define PRIORITY_NICE (-10)

void priority_raise(void)
{
	(void)setpriority(PRIO_PROCESS, 0, PRIORITY_NICE);
}
