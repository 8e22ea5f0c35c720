/* SPDX-License-Identifier: Apache-2.0 */
/* Where the interpreter's loop changes the list of frames: by code of real builds, and by others. */
#include <elf.h>

#include "agent/runtimes/python/loop.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	uint16_t machine;
	const char *code;
	size_t n;
	unsigned int from, gap_at, gap_bytes;
};

#define CODE(text) EM_X86_64, (text), sizeof(text) - 1
#define ARM64(text) EM_AARCH64, (text), sizeof(text) - 1

#define PUSH_RBX_R12 "\x49\x89\x5c\x24\x18" /* mov %rbx, 0x18(%r12) */
#define PUSH_RSI_RDI "\x48\x89\x77\x18"	    /* mov %rsi, 0x18(%rdi) */
#define TO_STACK "\x48\x89\x4c\x24\x18"	    /* mov %rcx, 0x18(%rsp) */
#define LOAD "\x48\x8b\x43\x18"		    /* mov 0x18(%rbx), %rax */
#define POP "\x49\x89\x44\x24\x18"	    /* mov %rax, 0x18(%r12) */
#define CALL "\xe8\x10\x20\x30\x00"

#define PUSH_X28_X23 "\xfc\x0e\x00\xf9" /* str x28, [x23, #24] */
#define TO_SP "\xe0\x0f\x00\xf9"	/* str x0, [sp, #24] */
#define LOAD_X28 "\x9c\x0f\x40\xf9"	/* ldr x28, [x28, #24] */
#define NOP "\x1f\x20\x03\xd5"
#define RET "\xc0\x03\x5f\xd6"
#define B "\x10\x00\x00\x14"

static const struct row rows[] = {
	{ "nothing", CODE(""), 0, 0, 0 },
	{ "whole", CODE("\x53\x90" PUSH_RBX_R12 TO_STACK LOAD "\x90" POP CALL "\x5b\xc3"), 7, 22,
	  7 },
	{ "without_a_call", CODE(PUSH_RSI_RDI LOAD POP "\x5b\x5d\xc3"), 4, 13, 3 },
	{ "to_a_common_end", CODE(PUSH_RSI_RDI LOAD POP CALL "\xe9\x00\x00\x00\x00"), 4, 13, 6 },
	{ "stack_alone", CODE(TO_STACK "\xc3"), 0, 0, 0 },
	{ "no_end", CODE(PUSH_RSI_RDI LOAD POP "\x90\x90"), 4, 13, 0 },
	{ "another_field", CODE("\x48\x89\x77\x20\x48\x89\x77\x10\xc3"), 0, 0, 0 },
	{ "of_32_bits", CODE("\x89\x77\x18\xc3"), 0, 0, 0 },
	{ "scaled", CODE("\x48\x89\x74\xc1\x18\xc3"), 0, 0, 0 },
	{ "store_without_a_load", CODE(PUSH_RSI_RDI POP "\xc3"), 4, 0, 0 },
	{ "load_too_far",
	  CODE(PUSH_RSI_RDI LOAD "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
				 "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
				 "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
				 "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90" POP "\xc3"),
	  4, 0, 0 },
	{ "arm64", ARM64(NOP TO_SP PUSH_X28_X23 NOP LOAD_X28 PUSH_X28_X23 NOP RET), 12, 24, 8 },
	{ "arm64_to_a_common_end", ARM64(PUSH_X28_X23 LOAD_X28 NOP PUSH_X28_X23 B), 4, 16, 4 },
	{ "arm64_store_without_a_load", ARM64(PUSH_X28_X23 PUSH_X28_X23 RET), 4, 0, 0 },
	{ "arm64_another_field", ARM64("\xfc\x12\x00\xf9\xfc\x0a\x00\xf9"), 0, 0, 0 },
	{ "arm64_of_32_bits", ARM64("\xfc\x1a\x00\xb9"), 0, 0, 0 },
	{ "arm64_cut", ARM64(NOP "\xfc\x0e\x00"), 0, 0, 0 },
	{ "cut_store", CODE("\x90\x49\x89\x5c\x24"), 0, 0, 0 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct python_loop loop;

	python_loop_find(row->machine, (const uint8_t *)row->code, row->n, &loop);
	assert_int_equal(loop.from, row->from);
	assert_int_equal(loop.gap_at, row->gap_at);
	assert_int_equal(loop.gap_bytes, row->gap_bytes);
}

#define CFRAME "\x48\x89\x55\x30"     /* mov %rdx, 0x30(%rbp) */
#define CFRAME_BACK "\x48\x89\x45\x30" /* mov %rax, 0x30(%rbp) */
#define CFRAME_X1 "\x61\x1a\x00\xf9"   /* str x1, [x19, #48] */

static const struct cframe_row {
	const char *name;
	uint16_t machine;
	const char *code;
	size_t n;
	unsigned int from, gap_at;
} cframe_rows[] = {
	{ "both", CODE("\x90" CFRAME "\x90" PUSH_RSI_RDI "\x90" CFRAME_BACK LOAD POP "\xc3"), 5, 15 },
	{ "the last one", CODE(CFRAME CFRAME PUSH_RSI_RDI CFRAME_BACK LOAD POP "\xc3"), 8, 16 },
	{ "none", CODE(PUSH_RSI_RDI LOAD POP "\xc3"), 0, 0 },
	{ "behind it", CODE(PUSH_RSI_RDI CFRAME "\xc3"), 0, 0 },
	{ "too far",
	  CODE(CFRAME "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		      "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		      "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		      "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90" PUSH_RSI_RDI
			      LOAD POP "\xc3"),
	  0, 0 },
	{ "arm64", ARM64(CFRAME_X1 PUSH_X28_X23 CFRAME_X1 LOAD_X28 NOP PUSH_X28_X23 RET), 4, 12 },
	{ "nothing", CODE(""), 0, 0 },
};

static void test_cframes(void **state)
{
	const struct cframe_row *row = *state;
	const uint8_t *code = (const uint8_t *)row->code;
	struct python_loop loop;

	python_loop_find(row->machine, code, row->n, &loop);
	python_loop_find_cframes(row->machine, code, 0x30, &loop);
	assert_int_equal(loop.cframe_from, row->from);
	assert_int_equal(loop.cframe_gap_at, row->gap_at);
}

#define LOAD_X8 "\x28\x79\x68\xf8" /* ldr x8, [x9, x8, lsl #3] */
#define BLR_X8 "\x00\x01\x3f\xd6"

static const struct call_row {
	const char *name;
	uint16_t machine;
	const char *code;
	size_t n;
	bool is_by_table;
} call_rows[] = {
	{ "call *(%rbx,%rax,8)", CODE("\x90\xff\x14\xc3\xc3"), true },
	{ "jmp *(%rbx,%rax,8)", CODE("\x90\xff\x24\xc3\xc3"), false },
	{ "call *(%rbx,%rax,4)", CODE("\x90\xff\x14\x83\xc3"), false },
	{ "call, cut", CODE("\x90\xff\x14"), false },
	{ "ldr x8, [x9, x8, lsl #3]; blr x8", ARM64(NOP LOAD_X8 BLR_X8 RET), true },
	{ "ldr w8; blr x8", ARM64("\x28\x79\x68\xb8" BLR_X8), false },
	{ "not scaled", ARM64("\x28\x69\x68\xf8" BLR_X8), false },
	{ "blr x9", ARM64(LOAD_X8 "\x20\x01\x3f\xd6"), false },
	{ "br x8", ARM64(LOAD_X8 "\x00\x01\x1f\xd6"), false },
	{ "blr, cut", ARM64(LOAD_X8 "\x00\x01\x3f"), false },
	{ "another machine", EM_RISCV, LOAD_X8 BLR_X8, 8, false },
};

static void test_call(void **state)
{
	const struct call_row *row = *state;

	assert_int_equal(
		python_loop_calls_by_table(row->machine, (const uint8_t *)row->code, row->n),
		row->is_by_table);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST_ROWS(test_cframes, cframe_rows, name),
	TEST_ROWS(test_call, call_rows, name),
};

TEST_MAIN(tests)
