/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of values that others choose: one that would pass its range stays at the end of it. */
#ifndef XAGENT_AGENT_UTIL_SATURATE_H
#define XAGENT_AGENT_UTIL_SATURATE_H

#include <stdint.h>

/* Of values that are not negative. */
static inline int64_t saturate_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

#endif
