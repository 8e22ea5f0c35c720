/* SPDX-License-Identifier: Apache-2.0 */
/* Where the interpreter's loop changes the list of frames: by code of real builds, and by others. */
#include "agent/runtimes/python/loop.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	const char *code;
	size_t n;
	unsigned int from, gap_at, gap_bytes;
};

#define CODE(text) (text), sizeof(text) - 1

#define PUSH_RBX_R12 "\x49\x89\x5c\x24\x18" /* mov %rbx, 0x18(%r12) */
#define PUSH_RSI_RDI "\x48\x89\x77\x18"	    /* mov %rsi, 0x18(%rdi) */
#define TO_STACK "\x48\x89\x4c\x24\x18"	    /* mov %rcx, 0x18(%rsp) */
#define LOAD "\x48\x8b\x43\x18"		    /* mov 0x18(%rbx), %rax */
#define POP "\x49\x89\x44\x24\x18"	    /* mov %rax, 0x18(%r12) */
#define CALL "\xe8\x10\x20\x30\x00"

static const struct row rows[] = {
	{ "nothing", "", 0, 0, 0, 0 },
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
	{ "cut_store", CODE("\x90\x49\x89\x5c\x24"), 0, 0, 0 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct python_loop loop;

	python_loop_find((const uint8_t *)row->code, row->n, &loop);
	assert_int_equal(loop.from, row->from);
	assert_int_equal(loop.gap_at, row->gap_at);
	assert_int_equal(loop.gap_bytes, row->gap_bytes);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
