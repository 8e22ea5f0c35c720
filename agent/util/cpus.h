/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPU numbers as the kernel prints them: "0-3,5,8-11". Ids may be sparse; there is no built-in limit but CPUS_MAX. */
#ifndef XAGENT_AGENT_UTIL_CPUS_H
#define XAGENT_AGENT_UTIL_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/cleanup.h"
#include "agent/util/str.h"

/* Highest CPU number + 1 that we accept: NR_CPUS of the largest kernel configurations is 8192 (x86, 6.x). */
#define CPUS_MAX 8192

struct cpus {
	unsigned int *ids; /* ascending, unique; owned */
	size_t n;
};

void cpus_fini(struct cpus *c);
#define _cleanup_cpus_ _cleanup_(cpus_fini)

/* Parses a list; -EINVAL on anything else, -ERANGE above CPUS_MAX. An empty text is an empty set. */
int cpus_parse(struct str text, struct cpus *ret_cpus);
/* /sys/devices/system/cpu/online */
int cpus_online(struct cpus *ret_cpus);
/* /sys/devices/system/cpu/possible: the order of the values of a per-CPU map. */
int cpus_possible(struct cpus *ret_cpus);
bool cpus_has(const struct cpus *c, unsigned int cpu);

#endif
