/* SPDX-License-Identifier: Apache-2.0 */
/* Something to sample: CPU time that is used up on purpose, by this process or by a child. */
#ifndef XAGENT_TESTS_UNIT_AGENT_SAMPLE_SPIN_H
#define XAGENT_TESTS_UNIT_AGENT_SAMPLE_SPIN_H

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/util/clock.h"

/* Runs until this thread has used so much CPU time: other load on the machine makes it longer, not less. */
static inline void spin_cpu_ms(uint64_t ms)
{
	struct timespec begin, now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (volatile unsigned int i = 0; i < 50000; i++)
			;
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((uint64_t)(now.tv_sec - begin.tv_sec) * 1000 + (uint64_t)now.tv_nsec / NS_PER_MS <
		 ms + (uint64_t)begin.tv_nsec / NS_PER_MS);
}

/* The first CPU that this process may run on. */
static inline unsigned int first_cpu(void)
{
	cpu_set_t set;
	unsigned int cpu = 0;

	CPU_ZERO(&set);
	(void)sched_getaffinity(0, sizeof(set), &set);
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

/* A child that spins until it is ended, and that does not outlive us. */
static inline pid_t spin_child_start(void)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		for (volatile unsigned int i = 0; i < 1000000; i++)
			;
	_exit(0);
}

static inline void spin_child_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

#endif
