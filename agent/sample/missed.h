/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks that were due and never came to the program: the kernel held back its own timer (kernel.perf_cpu_time_max_percent), another BPF
 * program or a change of a BPF map was under way on the CPU when the timer fired (bpf_prog_active), or the CPU itself was away for
 * longer than a period (a virtual CPU that was not run, interrupts that were off).
 *
 *	due = rate × time for which each CPU was online = ticks + missed
 *
 * Only grows. Never more than were missed, less by two at most for each event that a CPU had: one at the start, one for each change of the
 * rate, one each time it came online. Loop thread only.
 */
#ifndef XAGENT_AGENT_SAMPLE_MISSED_H
#define XAGENT_AGENT_SAMPLE_MISSED_H

#include <stdint.h>

#include "agent/sample/cpu_counters.h"
#include "agent/sample/tick.h"
#include "agent/util/cleanup.h"

struct missed;

int missed_new(struct missed **ret_missed);
void missed_free(struct missed *m);
DEFINE_CLEANUP(struct missed *, missed_free);

/* Of all CPUs, as of the last looks. What is due has to be looked at first: what came meanwhile is not missed. A CPU whose counters could not
 * be told is left to the next one. */
void missed_look(struct missed *m, const struct ticks *ticks, const struct cpu_counters *counters);
uint64_t missed_total(const struct missed *m);

#endif
