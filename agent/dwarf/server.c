/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads DWARF for the agent. */
#include "agent/dwarf/server.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/dwarf/answering.h"
#include "agent/dwarf/channel.h"
#include "agent/dwarf/message.h"
#include "agent/dwarf/sandbox.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* A reader that reads from a file system without an answer does not end by SIGKILL at once. */
#define END_TRIES 20
#define END_STEP_NS NS_PER_MS
/* Of those only so many are waited for later. */
#define MAX_LATE 64

struct server {
	uint64_t mapped_bytes; /* before the first reader */
	pid_t late[MAX_LATE];  /* readers that did not end when they were told to; 0: none */
};

bool dwarf_server_is_meant(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], DWARF_SERVER_ARGUMENT) == 0;
}

/* The child. */
static void read_file(const struct server *s, int fd, int file_fd)
{
	struct bytes file;

	(void)close(DWARF_SERVER_FD);
	if (bytes_from_fd(file_fd, &file) < 0 || sandbox_enter_reader(s->mapped_bytes) < 0)
		_exit(EXIT_FAILURE);
	dwarf_answer_all(fd, &file, s->mapped_bytes);
	_exit(EXIT_SUCCESS);
}

static int32_t start(const struct server *s, const int fds[CHANNEL_MAX_FDS])
{
	if (fds[0] < 0 || fds[1] < 0)
		return -EINVAL;
	pid_t pid = fork();
	if (pid == 0)
		read_file(s, fds[0], fds[1]);
	return pid < 0 ? -errno : pid;
}

static void reap_late(struct server *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->late); i++)
		if (s->late[i] > 0 && waitpid(s->late[i], NULL, WNOHANG) != 0)
			s->late[i] = 0;
}

static void remember_late(struct server *s, pid_t pid)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->late); i++)
		if (s->late[i] == 0) {
			s->late[i] = pid;
			return;
		}
}

/* How it has ended, also before it was told to; −1: not yet. */
static int32_t end(struct server *s, pid_t pid)
{
	const struct timespec step = { .tv_nsec = END_STEP_NS };
	int status;

	(void)kill(pid, SIGKILL);
	for (int i = 0; i < END_TRIES; i++) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended != 0)
			return ended == pid ? status : -1;
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
	}
	remember_late(s, pid);
	return -1;
}

static void obey(struct server *s, const struct dwarf_order *order, int *fds)
{
	struct dwarf_done done = { .pid = -EINVAL, .status = -1 };

	reap_late(s);
	if (order->kind == DWARF_START)
		done.pid = start(s, fds);
	else if (order->kind == DWARF_END && order->pid > 0)
		done = (struct dwarf_done){ order->pid, end(s, order->pid) };
	(void)channel_send(DWARF_SERVER_FD, &done, sizeof(done), NULL, 0);
}

/* Whatever the C library looks up once is looked up while it may be. */
static int compare(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static void prepare(void)
{
	/* qsort(3) with more than 1 KiB asks for the size of memory, before glibc 2.34 by a file. */
	unsigned char some[2048] = { 0 };

	qsort(some, sizeof(some), 1, compare);
	(void)prctl(PR_SET_NAME, "xagent-dwarf");
}

void dwarf_server_run(void)
{
	static struct server s;
	int r;

	prepare();
	r = sandbox_enter_server(DWARF_SERVER_FD, &s.mapped_bytes);
	while (r == 0) {
		struct dwarf_order order;
		int fds[CHANNEL_MAX_FDS];
		ssize_t n = channel_receive(DWARF_SERVER_FD, &order, sizeof(order), fds,
					    ARRAY_SIZE(fds));

		r = n == sizeof(order) ? 0 : -EBADMSG;
		if (r == 0)
			obey(&s, &order, fds);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
			cleanup_close_p(&fds[i]);
	}
	_exit(EXIT_SUCCESS);
}
