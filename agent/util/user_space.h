/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of a process's address space. On AArch64 the kernel is built for one of several, and the processor may have less; the bits above
 * hold pointer authentication codes (arch/arm64/include/asm/pointer_auth.h: GENMASK(54, vabits_actual)) and tags.
 */
#ifndef XAGENT_AGENT_UTIL_USER_SPACE_H
#define XAGENT_AGENT_UTIL_USER_SPACE_H

#include <stdint.h>

/* The bits that user addresses of this host have: all below a power of two. It asks the kernel on AArch64 (a page is mapped and unmapped some
 * times), so it is asked once. */
uint64_t user_space_mask(void);

#endif
