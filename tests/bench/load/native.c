/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads, each 30 calls deep. usage: native SECONDS */
#include <pthread.h>
#include <stdlib.h>

#include "load.h"

#define DEPTH 30
#define N_THREADS 2

static unsigned int seconds;

static LOAD_FUNCTION int descend(int level)
{
	if (level > 0)
		return descend(level - 1) + 1;
	for (uint64_t end = load_share_end_ns(); load_turn(end);)
		;
	return 0;
}

static void chain(void)
{
	volatile int depth = descend(DEPTH);

	(void)depth;
}

static void *work(void *data)
{
	load_run(seconds, chain);
	return data;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	seconds = argc > 1 ? (unsigned int)atoi(argv[1]) : 10;
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
