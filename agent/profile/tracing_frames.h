/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames between a tracepoint and the program that looks at it.
 *
 * bpf_get_stack() leaves out those that are always there. How many more there are depends on the machine and on who else looks: one program
 * alone is called directly (static calls, x86-64), several, and on AArch64 each, by __traceiter_NAME() (include/linux/tracepoint.h). They are
 * none of the thread's. Pure.
 */
#ifndef XAGENT_AGENT_PROFILE_TRACING_FRAMES_H
#define XAGENT_AGENT_PROFILE_TRACING_FRAMES_H

#include <stdbool.h>

#include "agent/profile/naming.h"

/* The most that can be next to the tracepoint. */
#define TRACING_FRAMES_MAX 4

/* Whether that function of the kernel is one of them. */
bool tracing_function(const char *function);

/* Drops them at the innermost end of the thread's own stack, and of the waker's if there is one (`named->leaf`). */
void tracing_frames_drop(struct named_stack *named);

#endif
