/* SPDX-License-Identifier: Apache-2.0 */
/* Registers from the text of /proc/PID/task/TID/syscall. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "agent/cli/thread_regs.h"
#include "agent/util/macro.h"
#include "bpf/rule.h"

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

static void test_nothing(void **state)
{
	const struct str text = str_from(*state);
	struct thread_regs r = { .regs.pc = 1 };

	assert_int_equal(thread_regs_parse(text, &r), -EINVAL);
	assert_int_equal(r.regs.pc, 1);
}

#define NOTHING(what, line)                                                        \
	{                                                                          \
		.name = (what), .test_func = test_nothing, .initial_state = (line) \
	}

int main(void)
{
	static char running[] = "running\n", empty[] = "", few[] = "1 0x1 0x2 0x3",
		    many[] = "-1 0x1 0x2 0x3", decimal[] = "-1 1 2",
		    wide[] = "-1 0x11112222333344445 0x2", letter[] = "x 0x1 0x2";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_call),
		cmocka_unit_test(test_page_fault),
		NOTHING("running", running),
		NOTHING("empty", empty),
		NOTHING("too few", few),
		NOTHING("too many", many),
		NOTHING("decimal", decimal),
		NOTHING("too wide", wide),
		NOTHING("no number", letter),
	};

	return cmocka_run_group_tests_name("agent/cli/thread_regs", tests, NULL, NULL);
}
