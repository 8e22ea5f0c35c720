/* SPDX-License-Identifier: Apache-2.0 */
/* A load of a known size: 20 ms of the thread's own CPU time in every 100 ms, below whatever chain of calls the program makes. */
#ifndef XAGENT_TESTS_BENCH_LOAD_LOAD_H
#define XAGENT_TESTS_BENCH_LOAD_LOAD_H

#include <stdint.h>
#include <time.h>

#define LOAD_BUSY_NS 20000000ULL
#define LOAD_PERIOD_NS 100000000ULL
/* The chain is a real one: nothing is inlined, and no call is made a jump. */
#define LOAD_FUNCTION __attribute__((noinline, noclone))

static inline uint64_t load_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* One piece of a period's work; true until the period's share is used up. */
static inline int load_turn(uint64_t end_ns)
{
	volatile uint64_t x = 1;

	for (int i = 0; i < 20000; i++)
		x = x * 6364136223846793005ULL + 1;
	return load_now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns;
}

static inline uint64_t load_share_end_ns(void)
{
	return load_now_ns(CLOCK_THREAD_CPUTIME_ID) + LOAD_BUSY_NS;
}

/* Calls `chain` at the begin of every period, for so long. */
static inline void load_run(unsigned int seconds, void (*chain)(void))
{
	uint64_t next = load_now_ns(CLOCK_MONOTONIC);
	uint64_t end = next + seconds * 1000000000ULL;

	while (next < end) {
		struct timespec at;

		chain();
		next += LOAD_PERIOD_NS;
		at.tv_sec = (time_t)(next / 1000000000ULL);
		at.tv_nsec = (long)(next % 1000000000ULL);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
	}
}

#endif
