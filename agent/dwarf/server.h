/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads DWARF for the agent: the program itself, executed anew with DWARF_SERVER_ARGUMENT, so that it holds nothing of
 * the agent's memory. It gives its rights up and starts a child for each file (a reader), because starting the whole program takes 20 times
 * as long. A file that takes its reader over can lie about itself only.
 */
#ifndef XAGENT_AGENT_DWARF_SERVER_H
#define XAGENT_AGENT_DWARF_SERVER_H

#include <stdbool.h>

#define DWARF_SERVER_ARGUMENT "--internal-dwarf-server"
/* Its end of the channel; 0 to 2 lead to /dev/null. */
#define DWARF_SERVER_FD 3

/* Whether a program was called to be the server. */
bool dwarf_server_is_meant(int argc, char **argv);
/* Until the agent ends the channel; then the process ends, without what exit(3) does. */
_Noreturn void dwarf_server_run(void);

#endif
