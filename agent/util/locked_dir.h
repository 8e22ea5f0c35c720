/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that one user at a time has for its files. */
#ifndef XAGENT_AGENT_UTIL_LOCKED_DIR_H
#define XAGENT_AGENT_UTIL_LOCKED_DIR_H

/* Makes the directory and those above it that are not there (0700), and locks it for as long as it is
 * open. A descriptor; -EBUSY: somebody else has it; -errno. */
int locked_dir_make(const char *path);
/* The same of one that is there; -ENOENT. */
int locked_dir_open(const char *path);

#endif
