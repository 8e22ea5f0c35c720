/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand of `xagent inspect` whose words are process ids. */
#ifndef XAGENT_AGENT_CLI_INSPECT_EACH_H
#define XAGENT_AGENT_CLI_INSPECT_EACH_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/cli/inspect_context.h"
#include "agent/util/buf.h"

/* Writes what is to be said of one process to standard output; a blank line comes first unless it `is_first` of all. 0, or -errno with
 * one line in `why`. */
typedef int (*inspect_show_fn)(struct inspect_context *w, uint32_t pid, bool is_first,
			       struct buf *why);

/* The exit code. What is wrong with one process is said on standard error, and the next one's turn comes. */
int inspect_each(const char *command, const char *help, inspect_show_fn show, int argc,
		 char **argv);

#endif
