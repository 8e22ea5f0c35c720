/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XAGENT_TESTS_SUPPORT_ASSERT_FRAME_H
#define XAGENT_TESTS_SUPPORT_ASSERT_FRAME_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "agent/unwind/frame_ref.h"

static inline void assert_frame(struct frame_ref frame, struct frame_ref expected)
{
	assert_int_equal(frame.word, expected.word);
}

#endif
