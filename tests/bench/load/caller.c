/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program and a library that call each other, ten times. The same source twice:
 *	caller			usage: caller SECONDS
 *	libcallee.so		with -DCALLEE
 */
#include <stdlib.h>

#include "load.h"

int caller_step(int level);
int callee_step(int level);

#ifdef CALLEE
LOAD_FUNCTION int callee_step(int level)
{
	if (level > 0)
		return caller_step(level - 1) + 1;
	for (uint64_t end = load_share_end_ns(); load_turn(end);)
		;
	return 0;
}
#else
LOAD_FUNCTION int caller_step(int level)
{
	return callee_step(level - 1) + 1;
}

static void chain(void)
{
	volatile int depth = callee_step(10);

	(void)depth;
}

int main(int argc, char **argv)
{
	load_run(argc > 1 ? (unsigned int)atoi(argv[1]) : 10, chain);
	return 0;
}
#endif
