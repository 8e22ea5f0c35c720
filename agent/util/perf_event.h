/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all perf events of a CPU have in common. Each was opened, enabled, with read_format PERF_FORMAT_TOTAL_TIME_ENABLED and nothing else.
 */
#ifndef XAGENT_AGENT_UTIL_PERF_EVENT_H
#define XAGENT_AGENT_UTIL_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* For how long it has been enabled, by the CPU's own clock (sched_clock). The CPU is asked. 0 or -errno. */
int perf_event_enabled_ns(int fd, uint64_t *ret_ns);

/*
 * Whether the event is dead: its CPU went offline, if only for a moment (a suspended machine takes all but one off and on), and an
 * event does not come back with its CPU. Told by its time, which stands still between two calls, so at the second one at the latest;
 * *enabled_ns (0 at first) is kept by the caller.
 */
bool perf_event_is_dead(int fd, uint64_t *enabled_ns);

#endif
