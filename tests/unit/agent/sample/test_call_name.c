/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls: those that this machine's headers know have the numbers that these say. */
#include "agent/sample/call_name.h"
#include "tests/support/unit.h"

#include <errno.h>
#include <sys/syscall.h>

static const struct row {
	const char *name;
	uint32_t number;
} rows[] = {
	{ "sys_read", SYS_read },
	{ "sys_mmap", SYS_mmap },
	{ "sys_clock_nanosleep", SYS_clock_nanosleep },
	{ "sys_accept4", SYS_accept4 },
	{ "sys_io_pgetevents", SYS_io_pgetevents },
	{ "sys_pidfd_send_signal", SYS_pidfd_send_signal },
	{ "sys_clone3", SYS_clone3 },
	{ "sys_futex_waitv", SYS_futex_waitv },
	{ "sys_futex_wait", 455 },
	{ "sys_mseal", 462 },
};

static void test_row(void **state)
{
	const struct row *row = *state;

	assert_string_equal(call_name(row->number), row->name);
}

static void test_numbers_without_a_call(void **state)
{
	(void)state;
	/* Between the machines' own and the common ones there is a gap. */
	assert_null(call_name(400));
	assert_null(call_name(1024));
	assert_null(call_name(UINT32_MAX));
}

static void test_errors(void **state)
{
	(void)state;
	assert_string_equal(call_error_name(EAGAIN), "EAGAIN");
	assert_string_equal(call_error_name(ECONNREFUSED), "ECONNREFUSED");
	assert_string_equal(call_error_name(512), "EINTR");
	assert_string_equal(call_error_name(516), "EINTR");
	assert_string_equal(call_error_name(517), "unknown");
	assert_string_equal(call_error_name(4095), "unknown");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_numbers_without_a_call),
	TEST(test_errors),
};

TEST_MAIN(tests)
