/* SPDX-License-Identifier: Apache-2.0 */
/* What proc.c and proc_wait.c share, and nobody else. */
#ifndef XAGENT_AGENT_PROCESS_PROC_PRIVATE_H
#define XAGENT_AGENT_PROCESS_PROC_PRIVATE_H

#include "agent/process/proc.h"

/* "stat" and the link "exe" of a directory of /proc, which is of that process or one of its threads. Where there is no such link `exe` stays empty. By
 * a reader. 0 or -errno, those of reader_run() among them. */
int proc_wait_state(int dir_fd, uint32_t pid, struct buf *stat, struct buf *exe);

#endif
