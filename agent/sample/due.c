/* SPDX-License-Identifier: Apache-2.0 */
/* How many ticks one event had to deliver so far. */
#include "agent/sample/due.h"

#include <assert.h>
#include <stdbool.h>

/* NTP adjusts by 1/2000 at most (MAXFREQ, include/linux/timex.h), the calibration of a time stamp counter is better than 1/1000. */
#define DRIFT_DIVISOR 512
/* hrtimers of perf are never faster (perf_swevent_hrtimer, kernel/events/core.c). */
#define LEAST_PERIOD_NS 10000

void due_begin(struct due *d, unsigned int hz, uint64_t now_ns)
{
	assert(hz > 0);

	uint64_t period_ns = NS_PER_S / hz;

	*d = (struct due){
		.period_ns = period_ns < LEAST_PERIOD_NS ? LEAST_PERIOD_NS : period_ns,
		.last = { .before_ns = now_ns, .after_ns = now_ns },
	};
}

/* The event was asked at some time of each look. */
static uint64_t doubt_ns(const struct due_look *last, const struct due_look *look)
{
	return (last->after_ns - last->before_ns) + (look->after_ns - look->before_ns) +
	       (look->before_ns - last->before_ns) / DRIFT_DIVISOR;
}

void due_look(struct due *d, const struct due_look *look)
{
	uint64_t timer_ns = look->before_ns - d->last.before_ns;
	uint64_t event_ns = look->enabled_ns - d->last.enabled_ns;
	bool was_there = event_ns + doubt_ns(&d->last, look) >= timer_ns;

	d->run_ns += was_there ? timer_ns : event_ns;
	d->last = *look;
}

uint64_t due_ticks(const struct due *d)
{
	uint64_t n = d->run_ns / d->period_ns;

	return n > 0 ? n - 1 : 0;
}
