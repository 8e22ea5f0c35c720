/* SPDX-License-Identifier: Apache-2.0 */
/* One number of /proc/PID/status. */
#ifndef XAGENT_AGENT_CLI_PROC_STATUS_H
#define XAGENT_AGENT_CLI_PROC_STATUS_H

#include <stdint.h>

/* `key` is "Tgid:", "VmHWM:" (in KiB) …; of a thread or process. 0, or -ESRCH. */
int proc_status_number(uint32_t tid, const char *key, uint32_t *ret_number);

#endif
