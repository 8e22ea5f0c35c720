/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many ticks one event had to deliver so far. Pure.
 *
 * The timer of a cpu-clock event runs by CLOCK_MONOTONIC from the moment at which it is enabled, in steps of 1e9 / rate ns, whole numbers
 * (perf_swevent_init_hrtimer, kernel/events/core.c), so what is due follows from that clock. For how long the event was there at all, only
 * the event knows: it ends when its CPU goes offline, unseen until somebody looks. Its own clock is not the timer's (the one is
 * adjusted by NTP, up to 500 ppm, the other is not), so of the time between two looks the timer's clock is believed where both agree, and the
 * event's where they do not. That they agree is judged to 1/512 of that time: looks are to be seconds apart, not hours.
 *
 * Never too many: the tick that is due now may be under way. Too few by two at most, for each event.
 */
#ifndef XAGENT_AGENT_SAMPLE_DUE_H
#define XAGENT_AGENT_SAMPLE_DUE_H

#include <stdint.h>

#include "agent/util/clock.h"

/* One look: CLOCK_MONOTONIC before and after the event was asked for the time that it was enabled. */
struct due_look {
	uint64_t before_ns;
	uint64_t after_ns;
	uint64_t enabled_ns;
};

struct due {
	uint64_t period_ns;
	uint64_t run_ns; /* for which it was there, by the timer's clock, up to the last look */
	struct due_look last;
};

/* `now_ns`: CLOCK_MONOTONIC after it was enabled. `hz` is not 0. */
void due_begin(struct due *d, unsigned int hz, uint64_t now_ns);
void due_look(struct due *d, const struct due_look *look);
uint64_t due_ticks(const struct due *d);

#endif
