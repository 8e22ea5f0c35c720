/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of this machine and their errors, by number. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_CALL_NAME_H
#define XAGENT_AGENT_SAMPLE_CALL_NAME_H

#include <stdint.h>

/* "sys_read", as the kernel calls them; NULL: no such number was known when this was written. */
const char *call_name(uint32_t number);
/* "EAGAIN"; "unknown" of a number that is none. Of one with which the kernel begins a call anew: "EINTR". */
const char *call_error_name(uint32_t error);

#endif
