/* SPDX-License-Identifier: Apache-2.0 */
/* Time: monotonic for intervals (the clock of the kernel half), real for profiles. */
#ifndef XAGENT_AGENT_UTIL_CLOCK_H
#define XAGENT_AGENT_UTIL_CLOCK_H

#include <stdint.h>

#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_S 1000000000ULL

uint64_t clock_mono_ns(void);
uint64_t clock_real_ns(void);
/* CPU time of this thread. */
uint64_t clock_thread_ns(void);

#endif
