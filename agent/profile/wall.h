/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wall-clock time: CPU time, time ready to run and time that was waited, of the same threads, by the same stack. Its sum over a process is threads × time.
 *
 * No program emits it: each tick and each wait is added to it as well as to its own profile. Waits are summed from switch to switch. Ticks are a sample: for
 * a thread that is busy for a third of 10 s, at 97 Hz, the sum had a standard error of 1.5 %. So what a tick is worth in it follows the CPU clock of its process: what the ticks
 * before have told too little or too much is made up for by the next ones. What that is does not depend on their stacks.
 */
#ifndef XAGENT_AGENT_PROFILE_WALL_H
#define XAGENT_AGENT_PROFILE_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/profile/interval.h"
#include "agent/util/list.h"

/* Of a process. */
struct wall_clock {
	int64_t base_ns; /* of its CPU clock, from where on ticks tell */
	int64_t told_ns; /* by ticks */
	int64_t seen_ns; /* at the last look */
	int64_t owed_ns; /* by ticks to come, as of the last look */
	bool has_base;
};

/* What the next tick is worth: a quarter of a period to sixteen. */
int64_t wall_clock_tick_ns(const struct wall_clock *c, int64_t period_ns);
void wall_clock_told(struct wall_clock *c, int64_t ns, int64_t period_ns);
/* What the process has used so far; if that is less than before it is another one, and is not looked at. `is_whole`: all of it was while ticks were taken. */
void wall_clock_look(struct wall_clock *c, int64_t cpu_ns, bool is_whole);
/* At the end of an interval: what is to be added to a stack of ticks with so much, which keeps half of that at least. */
int64_t wall_clock_settle(struct wall_clock *c, int64_t there_ns);

/* What is known of a process. */
struct wall_process {
	struct list ticked; /* the session's, of those with ticks in this round */
	struct list node;   /* the session's, of those with samples */
	struct wall_clock clock;
	struct stack *stack; /* of its last tick, while the open interval is … */
	uint64_t n_closed;   /* … the one after so many */
	uint64_t looked_ns;  /* CLOCK_MONOTONIC: up to then its threads' time is summed; 0: never */
	uint64_t n_threads;  /* then */
};

void wall_process_init(struct wall_process *w);
void wall_process_fini(struct wall_process *w);

#endif
