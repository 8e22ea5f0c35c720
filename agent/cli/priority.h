/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's scheduling priority. */
#ifndef XAGENT_AGENT_CLI_PRIORITY_H
#define XAGENT_AGENT_CLI_PRIORITY_H

/*
 * On a host with dozens of runnable threads a CPU the agent would wait so long that rings run full and unwind tables come late, just when
 * people look. It needs a few thousandths of a CPU, and asks for them first: for the calling thread and those it makes from then on.
 * Not being allowed to (CAP_SYS_NICE) is no error.
 */
void priority_raise(void);

#endif
