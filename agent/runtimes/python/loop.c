/* SPDX-License-Identifier: Apache-2.0 */
/* Where the interpreter's loop changes the list of frames. */
#include "agent/runtimes/python/loop.h"

#include <stdbool.h>

#include "agent/util/macro.h"

/* PyThreadState.frame, PyFrameObject.f_back. */
#define FIELD 0x18
/* Between the load and the store of the same statement compilers put a few others. */
#define LOAD_DISTANCE 48
/* From the last store to the end of the function. */
#define END_DISTANCE 96

#define OPCODE_STORE 0x89
#define OPCODE_LOAD 0x8b

/* A move of a 64-bit register to or from FIELD(register), which is not the stack's: its length, 0 when it is none. (Intel SDM, 2.1.5.) */
static size_t move_length(const uint8_t *code, size_t n, uint8_t opcode)
{
	if (n < 5 || (code[0] & 0xf8) != 0x48 || code[1] != opcode || code[2] >> 6 != 1)
		return 0;
	if ((code[2] & 7) != 4)
		return code[3] == FIELD ? 4 : 0;
	/* rsp and r12 have a byte more; REX.B tells them apart. */
	return (code[0] & 1) && code[3] == 0x24 && code[4] == FIELD ? 5 : 0;
}

static bool has_load_before(const uint8_t *code, size_t at)
{
	for (size_t i = at > LOAD_DISTANCE ? at - LOAD_DISTANCE : 0; i < at; i++)
		if (move_length(code + i, at - i + 1, OPCODE_LOAD))
			return true;
	return false;
}

/* Up to a return or a jump. */
static uint8_t bytes_to_end(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i < MIN_OF(n, (size_t)END_DISTANCE); i++)
		if (code[i] == 0xc3 || code[i] == 0xe9 || code[i] == 0xeb)
			return (uint8_t)(i + 1);
	return 0;
}

void python_loop_find(const uint8_t *code, size_t n, struct python_loop *ret_loop)
{
	*ret_loop = (struct python_loop){ 0 };
	for (size_t i = 0; i < MIN_OF(n, (size_t)PYTHON_LOOP_BYTES); i++) {
		size_t length = move_length(code + i, n - i, OPCODE_STORE);

		if (length && !ret_loop->from) {
			ret_loop->from = (uint16_t)(i + length);
		} else if (length && has_load_before(code, i)) {
			ret_loop->gap_at = (uint16_t)(i + length);
			ret_loop->gap_bytes = bytes_to_end(code + i + length, n - i - length);
			return;
		}
	}
}
