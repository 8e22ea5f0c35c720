/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hits switches|calls RATE SECONDS: so many switches of tasks or system calls a second together, 0: as many as there can be.
 *
 * switches: on each CPU two threads that yield to each other, by the kernel's count: a yield while the other one sleeps is none. calls: on each CPU a thread
 * that asks for its parent's number. In bursts of a hundredth of a second, with a sleep for what is left of it; what others on the machine have kept a burst
 * from is due in the next one. Threads that yield are of the real-time class, if they may be: of the fair one, a yield gives its time slice to whoever else
 * there is. Prints how many there were a second, and the nanoseconds of a CPU that each took: "hits_hz 100000" and "hit_ns 812.5".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define BURST_NS (NS_PER_S / 100)
#define MAX_THREADS 512
/* Between two looks at the clock. */
#define HITS_A_LOOK 100

static bool are_calls;
static uint64_t cpu_hz; /* hits a second that are due on each CPU; 0: as many as there can be */
static uint64_t begin_ns, end_ns;

/* Of a CPU, by all of its threads. */
struct cpu {
	_Atomic uint64_t n;
};

struct thread {
	pthread_t id;
	struct cpu *cpu;
	int cpu_id;
	uint64_t n_switches; /* of which it was told */
	uint64_t busy_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Since the last time. */
static uint64_t switches(struct thread *t)
{
	uint64_t before = t->n_switches;
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	t->n_switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	return t->n_switches - before;
}

static uint64_t hits(struct thread *t)
{
	for (int i = 0; i < HITS_A_LOOK; i++)
		if (are_calls)
			(void)syscall(SYS_getppid);
		else
			sched_yield();
	return are_calls ? HITS_A_LOOK : switches(t);
}

static bool is_done(const struct thread *t, uint64_t until_ns)
{
	uint64_t due = (until_ns - begin_ns) / 1000 * cpu_hz / (NS_PER_S / 1000);

	return cpu_hz && atomic_load(&t->cpu->n) >= due;
}

static void burst(struct thread *t, uint64_t until_ns)
{
	while (now_ns() < until_ns && !is_done(t, until_ns))
		atomic_fetch_add(&t->cpu->n, hits(t));
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
	CPU_SET((size_t)t->cpu_id, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	(void)switches(t);
	for (uint64_t until = begin_ns + BURST_NS; until <= end_ns; until += BURST_NS) {
		burst(t, until);
		if (cpu_hz)
			sleep_until(until);
	}
	struct timespec busy;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
	t->busy_ns = (uint64_t)busy.tv_sec * NS_PER_S + (uint64_t)busy.tv_nsec;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct thread threads[MAX_THREADS];
	static struct cpu cpus[MAX_THREADS];
	const struct sched_param first = { .sched_priority = 1 };
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), a_cpu;
	uint64_t n = 0, busy_ns = 0;

	if (argc != 4)
		return 2;
	are_calls = strcmp(argv[1], "calls") == 0;
	a_cpu = are_calls ? 1 : 2;
	if (n_cpus > MAX_THREADS / a_cpu)
		n_cpus = MAX_THREADS / a_cpu;
	cpu_hz = strtoull(argv[2], NULL, 10) / (uint64_t)n_cpus;
	/* Before there is any: one that runs already would not let the other one become so. */
	if (!are_calls)
		(void)sched_setscheduler(0, SCHED_FIFO, &first);
	begin_ns = now_ns();
	end_ns = begin_ns + strtoull(argv[3], NULL, 10) * NS_PER_S;
	for (int i = 0; i < n_cpus * a_cpu; i++) {
		threads[i].cpu_id = i / a_cpu;
		threads[i].cpu = &cpus[i / a_cpu];
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
			return 1;
	}
	for (int i = 0; i < n_cpus * a_cpu; i++) {
		pthread_join(threads[i].id, NULL);
		busy_ns += threads[i].busy_ns;
	}
	for (int i = 0; i < n_cpus; i++)
		n += cpus[i].n;
	printf("hits_hz %.0f\nhit_ns %.1f\n", (double)n * NS_PER_S / (double)(now_ns() - begin_ns),
	       (double)busy_ns / (double)(n ? n : 1));
	return 0;
}
