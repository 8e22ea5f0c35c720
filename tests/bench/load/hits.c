/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hits switches|calls RATE SECONDS: so many switches of tasks or system calls a second together, 0: as many as there can be.
 *
 * switches: on each CPU two threads that yield to each other; calls: on each CPU a thread that asks for its parent's number. In bursts of a hundredth of a
 * second, with a sleep for what is left of it. Prints how many there were a second, and the nanoseconds of a CPU that each took: "hits_hz 100000" and
 * "hit_ns 812.5".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define BURST_NS (NS_PER_S / 100)
#define MAX_THREADS 512
/* Between two looks at the clock. */
#define HITS_A_LOOK 100

static bool are_calls;
static uint64_t burst_hits; /* of a thread; UINT64_MAX: as long as a burst is */
static uint64_t end_ns;

struct thread {
	pthread_t id;
	int cpu;
	uint64_t n;
	uint64_t busy_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void hit(void)
{
	if (are_calls)
		(void)syscall(SYS_getppid);
	else
		sched_yield();
}

static void burst(struct thread *t, uint64_t until_ns)
{
	for (uint64_t n = 0; n < burst_hits && now_ns() < until_ns; n += HITS_A_LOOK)
		for (int i = 0; i < HITS_A_LOOK; i++, t->n++)
			hit();
}

static void sleep_until(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *run(void *data)
{
	struct thread *t = data;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)t->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	for (uint64_t begin = now_ns(); begin < end_ns; begin += BURST_NS) {
		burst(t, begin + BURST_NS);
		if (burst_hits != UINT64_MAX)
			sleep_until(begin + BURST_NS);
	}
	struct timespec busy;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
	t->busy_ns = (uint64_t)busy.tv_sec * NS_PER_S + (uint64_t)busy.tv_nsec;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct thread threads[MAX_THREADS];
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), a_cpu;
	uint64_t n = 0, busy_ns = 0, rate;

	if (argc != 4)
		return 2;
	are_calls = strcmp(argv[1], "calls") == 0;
	a_cpu = are_calls ? 1 : 2;
	if (n_cpus > MAX_THREADS / a_cpu)
		n_cpus = MAX_THREADS / a_cpu;
	rate = strtoull(argv[2], NULL, 10);
	burst_hits = rate ? rate * BURST_NS / NS_PER_S / (uint64_t)(n_cpus * a_cpu) : UINT64_MAX;
	uint64_t begin_ns = now_ns();
	end_ns = begin_ns + strtoull(argv[3], NULL, 10) * NS_PER_S;
	for (int i = 0; i < n_cpus * a_cpu; i++) {
		threads[i].cpu = i / a_cpu;
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
			return 1;
	}
	for (int i = 0; i < n_cpus * a_cpu; i++) {
		pthread_join(threads[i].id, NULL);
		n += threads[i].n;
		busy_ns += threads[i].busy_ns;
	}
	printf("hits_hz %.0f\nhit_ns %.1f\n", (double)n * NS_PER_S / (double)(now_ns() - begin_ns),
	       (double)busy_ns / (double)(n ? n : 1));
	return 0;
}
