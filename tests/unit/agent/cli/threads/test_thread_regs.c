/* SPDX-License-Identifier: Apache-2.0 */
/* Registers from the text of /proc/PID/task/TID/syscall. */
#include <errno.h>

#include "agent/cli/threads/thread_regs.h"
#include "bpf/rule.h"
#include "tests/support/unit.h"

#if WIRE_N_REGS == 16
#define FIRST_ARGUMENT RULE_X86_RDI
#define FOURTH_ARGUMENT (RULE_X86_R8 + 2)
#else
#define FIRST_ARGUMENT 0
#define FOURTH_ARGUMENT 3
#endif

static void test_system_call(void **state)
{
	struct thread_regs r = { 0 };
	struct str text = STR_LIT("58 0x11 0x22 0x33 0x44 0x55 0x66 0x7ffc8 0x7f8a8e68a503\n");

	(void)state;
	assert_int_equal(thread_regs_parse(text, &r), 0);
	assert_true(r.after_syscall);
	assert_int_equal(r.regs.pc, 0x7f8a8e68a503);
	assert_int_equal(r.regs.reg[WIRE_ABI_SP], 0x7ffc8);
	assert_int_equal(r.regs.reg[FIRST_ARGUMENT], 0x11);
	assert_int_equal(r.regs.reg[FOURTH_ARGUMENT], 0x44);
	assert_int_equal(r.regs.reg[WIRE_ABI_FP], THREAD_REGS_UNKNOWN);
}

static void test_page_fault(void **state)
{
	struct thread_regs r = { 0 };

	(void)state;
	assert_int_equal(thread_regs_parse(STR_LIT("-1 0x7ffc8 0x401000\n"), &r), 0);
	assert_false(r.after_syscall);
	assert_int_equal(r.regs.pc, 0x401000);
	assert_int_equal(r.regs.reg[WIRE_ABI_SP], 0x7ffc8);
	assert_int_equal(r.regs.reg[FIRST_ARGUMENT], THREAD_REGS_UNKNOWN);
}

static const struct nothing_row {
	const char *name;
	const char *text;
} nothing_rows[] = {
	{ "running", "running\n" },
	{ "empty", "" },
	{ "too few", "1 0x1 0x2 0x3" },
	{ "too many", "-1 0x1 0x2 0x3" },
	{ "decimal", "-1 1 2" },
	{ "too wide", "-1 0x11112222333344445 0x2" },
	{ "no number", "x 0x1 0x2" },
};

static void test_nothing(void **state)
{
	const struct nothing_row *row = *state;
	struct thread_regs r = { .regs.pc = 1 };

	assert_int_equal(thread_regs_parse(str_from(row->text), &r), -EINVAL);
	assert_int_equal(r.regs.pc, 1);
}

static const struct unit_test tests[] = {
	TEST(test_system_call),
	TEST(test_page_fault),
	TEST_ROWS(test_nothing, nothing_rows, name),
};

TEST_MAIN(tests)
