/* SPDX-License-Identifier: Apache-2.0 */
/* The command that is profiled. */
#include "agent/cli/profile/command.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent/util/str.h"

/* Shells' codes of commands that never ran; nobody sees them, the parent reports. */
#define EXIT_NEVER_RAN 127
#define EXIT_SIGNALLED 128

struct command {
	pid_t pid;
	int pid_fd;
	int go_fd;    /* a byte says: go; its end: do not */
	int error_fd; /* errno of a failed exec; its end: it went well */
	bool waited;
	int exit_code;
};

/* In the child. */
static void wait_and_exec(char **argv, int go_fd, int error_fd)
{
	struct str name = str_basename(str_from(argv[0]));
	char go;

	/* What is sampled before exec should already carry its name; the kernel cuts it at 15 bytes. */
	(void)prctl(PR_SET_NAME, name.p);
	if (read(go_fd, &go, 1) != 1)
		_exit(EXIT_NEVER_RAN);
	(void)execvp(argv[0], argv);
	int e = errno;
	(void)!write(error_fd, &e, sizeof(e));
	_exit(EXIT_NEVER_RAN);
}

static int pid_open(pid_t pid, int *ret_fd)
{
	/* glibc has a wrapper from 2.36 on only. */
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int command_new(char **argv, struct command **ret_command)
{
	_cleanup_(command_freep) struct command *c = malloc(sizeof(*c));
	_cleanup_close_ int go_read = -1, error_write = -1;
	int fds[2];

	assert(argv && argv[0]);
	if (!c)
		return -ENOMEM;
	*c = (struct command){ .pid = -1, .pid_fd = -1, .go_fd = -1, .error_fd = -1 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	go_read = fds[0];
	c->go_fd = fds[1];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	c->error_fd = fds[0];
	error_write = fds[1];
	/* A parent that ignores it would leave us without an exit code. */
	(void)signal(SIGCHLD, SIG_DFL);
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (c->pid == 0) {
		/* Else it would wait for itself when the parent is gone. */
		(void)close(c->go_fd);
		wait_and_exec(argv, go_read, error_write);
	}
	int r = pid_open(c->pid, &c->pid_fd);
	if (r < 0)
		return r;
	*ret_command = TAKE_PTR(c);
	return 0;
}

void command_free(struct command *c)
{
	if (!c)
		return;
	bool never_went = c->go_fd >= 0 && c->pid > 0;
	cleanup_close_p(&c->go_fd);
	c->go_fd = -1;
	if (never_went)
		(void)command_exit_code(c);
	cleanup_close_p(&c->error_fd);
	cleanup_close_p(&c->pid_fd);
	free(c);
}

int command_go(struct command *c)
{
	assert(c->go_fd >= 0);

	int e = 0;
	ssize_t n = write(c->go_fd, "", 1);

	if (n != 1)
		return -ECHILD;
	(void)close(c->go_fd);
	c->go_fd = -1;
	do
		n = read(c->error_fd, &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	(void)command_exit_code(c);
	return n == (ssize_t)sizeof(e) ? -e : -EIO;
}

uint32_t command_pid(const struct command *c)
{
	return (uint32_t)c->pid;
}

int command_fd(const struct command *c)
{
	return c->pid_fd;
}

void command_signal(const struct command *c, int signo)
{
	if (!c->waited)
		(void)kill(c->pid, signo);
}

int command_exit_code(struct command *c)
{
	int status = 0;
	pid_t pid;

	if (c->waited)
		return c->exit_code;
	do
		pid = waitpid(c->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	c->waited = true;
	if (pid < 0)
		c->exit_code = EXIT_NEVER_RAN;
	else
		c->exit_code = WIFSIGNALED(status) ? EXIT_SIGNALLED + WTERMSIG(status)
						   : WEXITSTATUS(status);
	return c->exit_code;
}
