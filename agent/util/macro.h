/* SPDX-License-Identifier: Apache-2.0 */
/* The few macros that every file may want. */
#ifndef XAGENT_AGENT_UTIL_MACRO_H
#define XAGENT_AGENT_UTIL_MACRO_H

#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

#endif
