/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that is profiled: a child that waits until sampling is attached, and then becomes the command.
 *
 *	command_new (fork) → command_go (exec) → command_fd readable → command_exit_code
 */
#ifndef XAGENT_AGENT_CLI_PROFILE_COMMAND_H
#define XAGENT_AGENT_CLI_PROFILE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

struct command;

/* Call before signals are blocked and threads are made: the child gets what we have. `argv` is NULL terminated. 0 or -errno. */
int command_new(char **argv, struct command **ret_command);
/* A child that was never told to go ends; a running command is left alone. NULL-safe. */
void command_free(struct command *c);
DEFINE_CLEANUP(struct command *, command_free);

/* 0 once the command runs, or -errno of execve(2) (search in PATH included); the child has then ended. */
int command_go(struct command *c);

uint32_t command_pid(const struct command *c);
/* Readable once the command has ended; owned by `c`. */
int command_fd(const struct command *c);
/* Passes a signal on, if it still runs. */
void command_signal(const struct command *c, int signo);

/* Waits for its end: its exit code, or 128 + the signal that killed it. */
int command_exit_code(struct command *c);

#endif
