/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timer ticks: one cpu-clock perf event a CPU, each running the BPF program, following CPUs as they come and go.
 *
 * cpu-clock is there on every machine (no PMU needed). Events are never refreshed or limited in number: on 6.16 and 6.17 a cpu-clock
 * event that disables itself freezes the CPU.
 */
#ifndef XAGENT_AGENT_SAMPLE_TICK_H
#define XAGENT_AGENT_SAMPLE_TICK_H

#include "agent/util/cleanup.h"
#include "agent/util/cpus.h"

struct ticks;

/* Attaches prog_fd (borrowed) on each CPU of `cpus`. */
int ticks_new(int prog_fd, unsigned int hz, const struct cpus *cpus, struct ticks **ret_ticks);
/* No more ticks; ticks_n_due() stands. */
void ticks_stop(struct ticks *t);
void ticks_free(struct ticks *t);
DEFINE_CLEANUP(struct ticks *, ticks_free);

/* Starts on CPUs that are new in `cpus`, lets go of those that are not in it any more, and starts again on those that went and came
 * back since the last call. Looks at those that stay as well: to be called about once a second. */
int ticks_sync(struct ticks *t, const struct cpus *cpus);
/* Another rate from now on: each CPU gets its new event before it loses the old one. On failure all keep the old rate. */
int ticks_set_hz(struct ticks *t, unsigned int hz);
size_t ticks_n_cpus(const struct ticks *t);

/* Asks each event for its time: ticks_n_due() is as of now. */
void ticks_look(struct ticks *t);
/* Ticks that the kernel had to deliver on this CPU up to the last look, by all events that it had. Never more than that, less by two at most for
 * each event (agent/sample/due.h). */
uint64_t ticks_n_due(const struct ticks *t, unsigned int cpu);

#endif
