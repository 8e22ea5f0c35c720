/* SPDX-License-Identifier: Apache-2.0 */
/* From argv to a command. Each command takes its own argv (argv[0] is its name) and returns the exit code. */
#ifndef XAGENT_AGENT_CLI_CLI_H
#define XAGENT_AGENT_CLI_CLI_H

#include "agent/util/buf.h"

/* Of usage errors and of everything that keeps a command from its work. */
#define CLI_EXIT_FAILURE 1

int cli_main(int argc, char **argv);

int cli_run(int argc, char **argv);
int cli_profile(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_inspect(int argc, char **argv);
int cli_validate(int argc, char **argv);
int cli_fmt(int argc, char **argv);
int cli_convert(int argc, char **argv);

/* "xagent COMMAND: why", and where the help is, on standard error; returns CLI_EXIT_FAILURE. */
int cli_usage_error(const char *command, const struct buf *why);

#endif
