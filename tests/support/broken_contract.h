/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what breaks a contract ends in an assertion: it is done in a child, which leaves no core and says nothing. */
#ifndef XAGENT_TESTS_SUPPORT_BROKEN_CONTRACT_H
#define XAGENT_TESTS_SUPPORT_BROKEN_CONTRACT_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void broken_contract_quiet(void)
{
	const struct rlimit none = { 0 };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)setrlimit(RLIMIT_CORE, &none);
	if (fd >= 0)
		(void)dup2(fd, STDERR_FILENO);
	(void)signal(SIGABRT, SIG_DFL);
}

/* For a test with one thread. */
static inline bool is_broken_contract(void (*call)(void *data), void *data)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		broken_contract_quiet();
		call(data);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGABRT;
}

#endif
