/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passwords in the URLs of a command line. Everybody on a host may read the command line of every process (/proc/PID/cmdline, ps), so they are
 * overwritten where the kernel reads it, before anything else is done. What was seen until then, in a shell's history or in the command line of a
 * parent (sudo), stays seen.
 */
#ifndef XAGENT_AGENT_CLI_ARGV_SECRETS_H
#define XAGENT_AGENT_CLI_ARGV_SECRETS_H

#include <stddef.h>

/*
 * Overwrites who logs in (USER:PASSWORD@) in each URL up to a "--", behind which another program's arguments begin. argv[] gets copies
 * of what was there, which are never freed: flags point into them. Arguments that were hidden.
 */
size_t argv_secrets_hide(int argc, char **argv);

#endif
