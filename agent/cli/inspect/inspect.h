/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent inspect WHAT`: what profiling rests on, looked at. A new WHAT is a file with one of these functions, and a line in inspect.c. */
#ifndef XAGENT_AGENT_CLI_INSPECT_INSPECT_H
#define XAGENT_AGENT_CLI_INSPECT_INSPECT_H

#include "agent/util/buf.h"

/* argv[0] is the name of what is looked at. The exit code. */
int inspect_rows(int argc, char **argv);
int inspect_symbols(int argc, char **argv);
int inspect_stack(int argc, char **argv);
int inspect_process(int argc, char **argv);
int inspect_eval(int argc, char **argv);

#endif
