/* SPDX-License-Identifier: Apache-2.0 */
/* Where the interpreter's loop changes the list of frames. */
#include "agent/runtimes/python/loop.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "agent/util/macro.h"

/* PyThreadState.frame, PyFrameObject.f_back. */
#define FIELD 0x18
/* Between the load and the store of the same statement compilers put a few others. */
#define LOAD_DISTANCE 48
/* From the store of a CFrame to that of its frame, both included. */
#define CFRAME_DISTANCE 64
/* From the last store to the end of the function. */
#define END_DISTANCE 96

#define OPCODE_STORE 0x89
#define OPCODE_LOAD 0x8b

/* What is looked for in the code of a machine: lengths of instructions, 0 when it is none of these. */
struct instructions {
	size_t (*store)(const uint8_t *code, size_t n, uint8_t offset); /* to offset(register) */
	size_t (*load)(const uint8_t *code, size_t n);	/* from FIELD(register) */
	size_t (*end)(const uint8_t *code,
		      size_t n); /* a return or a jump: what of it is needed to tell */
	size_t step;		 /* at which they may begin */
};

/* A move of a 64-bit register to or from offset(register), which is not the stack's. (Intel SDM, 2.1.5.) */
static size_t x86_move(const uint8_t *code, size_t n, uint8_t opcode, uint8_t offset)
{
	if (n < 5 || (code[0] & 0xf8) != 0x48 || code[1] != opcode || code[2] >> 6 != 1)
		return 0;
	if ((code[2] & 7) != 4)
		return code[3] == offset ? 4 : 0;
	/* rsp and r12 have a byte more; REX.B tells them apart. */
	return (code[0] & 1) && code[3] == 0x24 && code[4] == offset ? 5 : 0;
}

static size_t x86_store(const uint8_t *code, size_t n, uint8_t offset)
{
	return x86_move(code, n, OPCODE_STORE, offset);
}

static size_t x86_load(const uint8_t *code, size_t n)
{
	return x86_move(code, n, OPCODE_LOAD, FIELD);
}

static size_t x86_end(const uint8_t *code, size_t n)
{
	return n && (code[0] == 0xc3 || code[0] == 0xe9 || code[0] == 0xeb);
}

static bool arm64_is(const uint8_t *code, size_t n, uint32_t mask, uint32_t bits)
{
	uint32_t word;

	if (n < sizeof(word))
		return false;
	memcpy(&word, code, sizeof(word));
	return (word & mask) == bits;
}

/* STR and LDR with an immediate, of 64 bits: the offset in units of eight bytes, then the register of the address. (Arm ARM, C4.1.) */
#define ARM64_FIELD_MASK 0xfffffc00
#define ARM64_OFFSET(offset) ((uint32_t)(offset) / 8 << 10)
#define ARM64_SP 0x3e0

static size_t arm64_store(const uint8_t *code, size_t n, uint8_t offset)
{
	return arm64_is(code, n, ARM64_FIELD_MASK, 0xf9000000 | ARM64_OFFSET(offset)) &&
			       !arm64_is(code, n, ARM64_SP, ARM64_SP)
		       ? 4
		       : 0;
}

static size_t arm64_load(const uint8_t *code, size_t n)
{
	return arm64_is(code, n, ARM64_FIELD_MASK, 0xf9400000 | ARM64_OFFSET(FIELD)) ? 4 : 0;
}

static size_t arm64_end(const uint8_t *code, size_t n)
{
	return arm64_is(code, n, 0xfffffc1f, 0xd65f0000) ||
			       arm64_is(code, n, 0xfc000000, 0x14000000)
		       ? 4
		       : 0;
}

static const struct instructions x86 = { x86_store, x86_load, x86_end, 1 };
static const struct instructions arm64 = { arm64_store, arm64_load, arm64_end, 4 };

static bool has_load_before(const struct instructions *of, const uint8_t *code, size_t at)
{
	for (size_t i = at > LOAD_DISTANCE ? at - LOAD_DISTANCE : 0; i < at; i += of->step)
		if (of->load(code + i, at - i + 1))
			return true;
	return false;
}

/* Up to a return or a jump. */
static uint8_t bytes_to_end(const struct instructions *of, const uint8_t *code, size_t n)
{
	for (size_t i = 0; i < MIN_OF(n, (size_t)END_DISTANCE); i += of->step)
		if (of->end(code + i, n - i))
			return (uint8_t)(i + of->end(code + i, n - i));
	return 0;
}

void python_loop_find(uint16_t machine, const uint8_t *code, size_t n, struct python_loop *ret_loop)
{
	const struct instructions *of = machine == EM_AARCH64 ? &arm64 : &x86;

	*ret_loop = (struct python_loop){ 0 };
	for (size_t i = 0; i < MIN_OF(n, (size_t)PYTHON_LOOP_BYTES); i += of->step) {
		size_t length = of->store(code + i, n - i, FIELD);

		if (length && !ret_loop->from) {
			ret_loop->from = (uint16_t)(i + length);
		} else if (length && has_load_before(of, code, i)) {
			ret_loop->gap_at = (uint16_t)(i + length);
			ret_loop->gap_bytes = bytes_to_end(of, code + i + length, n - i - length);
			return;
		}
	}
}

/* Behind the last one before the store that ends at `end`. 0: there is none. */
static uint16_t cframe_before(const struct instructions *of, const uint8_t *code, size_t end,
			      uint8_t offset)
{
	size_t first = end > CFRAME_DISTANCE ? end - CFRAME_DISTANCE : 0;

	first += -first % of->step;
	for (size_t i = end; i > first; i -= of->step) {
		size_t length = of->store(code + i - of->step, end - i + of->step, offset);

		if (length)
			return (uint16_t)(i - of->step + length);
	}
	return 0;
}

void python_loop_find_cframes(uint16_t machine, const uint8_t *code, uint8_t offset,
			      struct python_loop *loop)
{
	const struct instructions *of = machine == EM_AARCH64 ? &arm64 : &x86;

	loop->cframe_from = cframe_before(of, code, loop->from, offset);
	loop->cframe_gap_at = cframe_before(of, code, loop->gap_at, offset);
}

/* ff /2 with a scaled index of eight bytes: call *(base, index, 8). (Intel SDM, 2.1.5.) */
static bool x86_calls_by_table(const uint8_t *code, size_t n)
{
	return n > 2 && code[0] == 0xff && code[1] == 0x14 && code[2] >= 0xc0;
}

/* LDR of 64 bits with a register as its offset, scaled by eight, and right behind it BLR of what was loaded. (Arm ARM, C4.1.) */
static bool arm64_calls_by_table(const uint8_t *code, size_t n)
{
	uint32_t target;

	if (!arm64_is(code, n, 0xffe01c00, 0xf8601800) ||
	    !arm64_is(code + 4, n - 4, 0xfffffc1f, 0xd63f0000))
		return false;
	memcpy(&target, code + 4, sizeof(target));
	return (target >> 5 & 31) == (code[0] & 31U);
}

bool python_loop_calls_by_table(uint16_t machine, const uint8_t *code, size_t n)
{
	bool is_arm64 = machine == EM_AARCH64;

	if (!is_arm64 && machine != EM_X86_64)
		return false;
	for (size_t i = 0; i < n; i += is_arm64 ? 4 : 1)
		if (is_arm64 ? arm64_calls_by_table(code + i, n - i)
			     : x86_calls_by_table(code + i, n - i))
			return true;
	return false;
}
