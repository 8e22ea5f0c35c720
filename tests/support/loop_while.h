/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XAGENT_TESTS_SUPPORT_LOOP_WHILE_H
#define XAGENT_TESTS_SUPPORT_LOOP_WHILE_H

#include "agent/util/clock.h"
#include "agent/util/loop.h"
#include "tests/support/unit.h"

/*
 * Runs the loop while the condition holds, 20 s at most: the test asserts afterwards what it has
 * waited for.
 */
#define LOOP_WHILE(loop, condition)                                       \
	do {                                                              \
		const uint64_t end_ns_ = clock_mono_ns() + 20 * NS_PER_S; \
                                                                          \
		while ((condition) && clock_mono_ns() < end_ns_)          \
			assert_int_equal(loop_run_once(loop, 10), 0);     \
	} while (0)

#endif
