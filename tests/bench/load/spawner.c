/* SPDX-License-Identifier: Apache-2.0 */
/* 50 processes of a millisecond a second. usage: spawner SECONDS */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "load.h"

#define A_SECOND 50

extern char **environ;

int main(int argc, char **argv)
{
	int n = A_SECOND * (argc > 1 ? atoi(argv[1]) : 10);
	struct timespec pause = { 0, 1000000000L / A_SECOND };

	for (int i = 0; i < n; i++) {
		char *const true_argv[] = { (char *)"/bin/true", NULL };
		pid_t pid;

		if (posix_spawn(&pid, true_argv[0], NULL, NULL, true_argv, environ) == 0)
			waitpid(pid, NULL, 0);
		nanosleep(&pause, NULL);
	}
	return 0;
}
