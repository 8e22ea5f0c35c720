/* SPDX-License-Identifier: Apache-2.0 */
/* How stacks are shown. */
#include "agent/cli/inspect/stack_text.h"
#include "tests/support/unit.h"

static void test_frames(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	stack_text_thread(&out, 4711, "a name");
	stack_text_frame(&out, 0, 11, 0x401000, "leaf", "/bin/a");
	stack_text_frame(&out, 9, 11, 0x7f8a8e68a503, "[jit]", NULL);
	stack_text_frame(&out, 10, 11, UINT64_MAX, "main", "/bin/a b");
	assert_string_equal(buf_str(&out), "thread 4711 a name\n"
					   " #0  0x0000000000401000 leaf (/bin/a)\n"
					   " #9  0x00007f8a8e68a503 [jit]\n"
					   "#10  0xffffffffffffffff main (/bin/a b)\n");
}

static void test_short_stack_is_not_indented(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	stack_text_frame(&out, 9, 10, 0x401000, "f", NULL);
	stack_text_frame(&out, 0, 1, 0x401000, "f", NULL);
	assert_string_equal(buf_str(&out), "#9  0x0000000000401000 f\n#0  0x0000000000401000 f\n");
}

static void test_no_name(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	stack_text_thread(&out, 1, "");
	assert_string_equal(buf_str(&out), "thread 1 ?\n");
}

static void test_ends(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	stack_text_end(&out, STOP_REASON_ROOT);
	stack_text_end(&out, STOP_REASON_MAX);
	assert_string_equal(buf_str(&out), "");
	stack_text_end(&out, STOP_REASON_COMPAT);
	stack_text_end(&out, STOP_REASON_NO_RULE);
	assert_string_equal(buf_str(&out),
			    "[32-bit process]\n[truncated: no unwind information]\n");
}

static const struct unit_test tests[] = {
	TEST(test_frames),
	TEST(test_short_stack_is_not_indented),
	TEST(test_no_name),
	TEST(test_ends),
};

TEST_MAIN(tests)
