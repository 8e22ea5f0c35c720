/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load of a known size: each thread burns 20 ms of its own CPU time in every 100 ms, below a chain of calls.
 * usage: load SECONDS THREADS DEPTH
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BUSY_NS 20000000ULL
#define PERIOD_NS 100000000ULL

static unsigned int seconds;
static unsigned int depth;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static __attribute__((noipa)) void burn(void)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + BUSY_NS;
	volatile uint64_t x = 1;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			x = x * 6364136223846793005ULL + 1;
}

static __attribute__((noipa)) int descend(unsigned int level)
{
	if (level == 0)
		burn();
	else
		return descend(level - 1) + 1;
	return 0;
}

static void *work(void *data)
{
	uint64_t next = now_ns(CLOCK_MONOTONIC);
	uint64_t end = next + seconds * 1000000000ULL;

	while (next < end) {
		struct timespec at;

		(void)descend(depth);
		next += PERIOD_NS;
		at = (struct timespec){ (time_t)(next / 1000000000ULL),
					(long)(next % 1000000000ULL) };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	return data;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	unsigned int n = argc > 2 ? (unsigned int)atoi(argv[2]) : 1;

	seconds = argc > 1 ? (unsigned int)atoi(argv[1]) : 10;
	depth = argc > 3 ? (unsigned int)atoi(argv[3]) : 30;
	for (unsigned int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (unsigned int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
