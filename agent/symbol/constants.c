/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are the same for everyone. */
#include "agent/symbol/constants.h"

static const struct frame_object anon = { FRAME_OBJECT_ANON, "[anon]", "" };
static const struct frame_object unknown = { FRAME_OBJECT_ANON, "[unknown]", "" };
static const struct frame_object kernel = { FRAME_OBJECT_KERNEL, "[kernel]", "" };

struct frame symbol_frame_jit(void)
{
	return (struct frame){ .function = "[jit]", .file = "", .object = &anon };
}

struct frame symbol_frame_unknown(void)
{
	return (struct frame){ .function = "[unknown]", .file = "", .object = &unknown };
}

struct frame symbol_frame_kernel(void)
{
	return (struct frame){ .function = "[kernel]", .file = "", .object = &kernel };
}
