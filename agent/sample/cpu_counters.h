/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half's counters, by event and CPU, each as it was between two ticks.
 *
 * A look may come in the middle of a tick: it is counted in `ticks` then, and in none of its ends. Such a CPU is read again, for
 * CPU_COUNTERS_WAIT_NS at most; after that (a virtual CPU that was taken away within a tick) it adds to sums what it had at the look before,
 * and by itself is not told: what is compared with a clock has to be as of now. So
 *
 *	ticks = emitted + idle + filtered + lost
 *
 * holds in each look, and no counter ever goes back. Loop thread only.
 */
#ifndef XAGENT_AGENT_SAMPLE_CPU_COUNTERS_H
#define XAGENT_AGENT_SAMPLE_CPU_COUNTERS_H

#include <stdbool.h>

#include "agent/util/cleanup.h"
#include "bpf/wire.h"

/* A tick takes some 10 µs, with a deep stack to copy 100 µs. */
#define CPU_COUNTERS_WAIT_NS 2000000ULL

struct cpu_counters;

/* `map_fd`: a per-CPU array of a struct wire_counters for each event, borrowed. */
int cpu_counters_new(int map_fd, struct cpu_counters **ret_counters);
void cpu_counters_free(struct cpu_counters *c);
DEFINE_CLEANUP(struct cpu_counters *, cpu_counters_free);

/* A new look. 0 or -errno, and sums stand. */
int cpu_counters_look(struct cpu_counters *c);
/* Of one CPU at the last look; NULL: it was in the middle of a tick all the time, or the look failed, or the kernel says that there can be no
 * such CPU. Borrowed until the next look. */
const struct wire_counters *cpu_counters_of(const struct cpu_counters *c, enum event event,
					    unsigned int cpu);
/* Of all CPUs at the last look. */
void cpu_counters_sum(const struct cpu_counters *c, enum event event,
		      struct wire_counters *ret_sum);

/* Adds `what` to `sum`, counter by counter. */
void wire_counters_add(struct wire_counters *sum, const struct wire_counters *what);

static inline bool wire_counters_balance(const struct wire_counters *c)
{
	return c->ticks == c->emitted + c->idle + c->filtered + c->lost;
}

#endif
