/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side: the server. */
#include "agent/dwarf/client.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "agent/dwarf/channel.h"
#include "agent/dwarf/client_internal.h"
#include "agent/dwarf/server.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define PROGRAM "/proc/self/exe"
/* Starting the program, or a child of it, takes milliseconds; this is for a host that is very busy. */
#define ORDER_NS (4 * NS_PER_S)
/* A server that was killed has no file that could hold it up. */
#define END_TRIES 100
#define END_STEP_NS NS_PER_MS

static const struct dwarf_owner nobody = { .kind = DWARF_OWNER_NOBODY };

int dwarf_client_new(struct telemetry *telemetry, struct dwarf_client **ret_client)
{
	struct dwarf_client *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->telemetry = telemetry;
	c->fd = -1;
	*ret_client = c;
	return 0;
}

/* By the end of its channel where a signal may not be sent. */
static void end_server(struct dwarf_client *c)
{
	const struct timespec step = { .tv_nsec = END_STEP_NS };

	if (c->pid == 0)
		return;
	cleanup_close_p(&c->fd);
	c->fd = -1;
	(void)kill(c->pid, SIGKILL);
	for (int i = 0; i < END_TRIES && waitpid(c->pid, NULL, WNOHANG) == 0; i++)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
	c->pid = 0;
	c->generation++;
}

void dwarf_client_free(struct dwarf_client *client)
{
	if (!client)
		return;
	assert(client->n_files == 0);
	end_server(client);
	free(client);
}

void dwarf_client_rest(struct dwarf_client *client, uint64_t now_ns)
{
	if (client->n_files > 0 || client->pid == 0) {
		client->idle_ns = 0;
		return;
	}
	if (client->idle_ns == 0)
		client->idle_ns = now_ns;
	if (now_ns - client->idle_ns >= DWARF_IDLE_NS)
		end_server(client);
}

void dwarf_client_failed(struct dwarf_client *c, struct dwarf_owner owner,
			 enum telemetry_counter reason)
{
	dwarf_blame_add(&c->blame, owner, clock_mono_ns());
	if (c->telemetry)
		telemetry_count(c->telemetry, reason, 1);
}

/* Not in our session: a person's Ctrl-C is for the agent. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	int error = posix_spawnattr_setsigmask(attributes, &none);
	if (error == 0)
		error = posix_spawnattr_setsigdefault(attributes, &all);
	if (error == 0)
		error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
								     POSIX_SPAWN_SETSIGDEF |
								     POSIX_SPAWN_SETSID);
	return error;
}

/* The socket first: ours may have the number of what is opened. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int fd)
{
	int error = posix_spawn_file_actions_adddup2(actions, fd, DWARF_SERVER_FD);

	for (int i = 0; error == 0 && i < DWARF_SERVER_FD; i++)
		error = posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
	return error;
}

static int spawn(int fd, pid_t *ret_pid)
{
	char *const arguments[] = { "xagent", DWARF_SERVER_ARGUMENT, NULL };
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;

	int error = posix_spawn_file_actions_init(&actions);
	if (error != 0)
		return -error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		error = set_attributes(&attributes);
		if (error == 0)
			error = set_descriptors(&actions, fd);
		if (error == 0)
			error = posix_spawn(ret_pid, PROGRAM, &actions, &attributes, arguments,
					    environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return -error;
}

static int start_server(struct dwarf_client *c)
{
	int fds[2];
	int r = channel_new(fds);

	if (r < 0)
		return r;
	_cleanup_close_ int ours = fds[0];
	_cleanup_close_ int theirs = fds[1];

	r = spawn(theirs, &c->pid);
	if (r < 0) {
		c->pid = 0;
		return r;
	}
	c->fd = TAKE_FD(ours);
	return 0;
}

int dwarf_client_start(struct dwarf_client *c, struct dwarf_owner owner, uint64_t now_ns)
{
	if (dwarf_blame_holds_back(&c->blame, owner, now_ns)) {
		if (c->telemetry)
			telemetry_count(c->telemetry, TELEMETRY_dwarf_helper_held_back, 1);
		return DWARF_NOT_NOW;
	}
	if (c->pid > 0 || start_server(c) == 0)
		return 0;
	dwarf_client_failed(c, nobody, TELEMETRY_dwarf_helper_crashed);
	return DWARF_NOT_NOW;
}

int dwarf_client_order(struct dwarf_client *c, const struct dwarf_order *order, const int *fds,
		       size_t n_fds, struct dwarf_done *ret_done)
{
	if (c->pid == 0)
		return DWARF_NOT_NOW;
	int r = channel_send(c->fd, order, sizeof(*order), fds, n_fds);
	bool is_late;

	if (r == 0)
		r = channel_wait(c->fd, clock_mono_ns() + ORDER_NS, NULL, NULL);
	is_late = r == CHANNEL_LATE;
	if (r == 0 &&
	    channel_receive(c->fd, ret_done, sizeof(*ret_done), NULL, 0) == sizeof(*ret_done))
		return 0;
	dwarf_client_failed(c, nobody,
			    is_late ? TELEMETRY_dwarf_helper_timed_out
				    : TELEMETRY_dwarf_helper_crashed);
	end_server(c);
	return DWARF_NOT_NOW;
}
