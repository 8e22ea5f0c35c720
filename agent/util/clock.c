/* SPDX-License-Identifier: Apache-2.0 */
/* Time. */
#include "agent/util/clock.h"

#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t clock_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
