/* SPDX-License-Identifier: Apache-2.0 */
/* The table of system calls that wait: its numbers are this machine's. */
#include <sys/syscall.h>

#include "bpf/waits.h"
#include "tests/support/unit.h"

static const uint8_t by_call[WAIT_MAX_CALLS] = { WAIT_TABLE };

/* Newer than the C library's headers. */
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

static const struct row {
	const char *name;
	long number;
	uint8_t reason;
} rows[] = {
#define CALL(name, x86, arm64, reason) { #name, SYS_##name, reason },
	WAIT_CALLS(CALL)
#undef CALL
#ifdef __x86_64__
#define OLD_CALL(name, x86, reason) { #name, SYS_##name, reason },
		WAIT_OLD_CALLS(OLD_CALL)
#undef OLD_CALL
#endif
};

static void test_call(void **state)
{
	const struct row *row = *state;

	assert_in_range(row->number, 0, WAIT_MAX_CALLS - 1);
	assert_int_equal(by_call[row->number], row->reason);
	assert_in_range(row->reason, 1, WAIT_BY_DESCRIPTOR);
}

/* Nothing else is in it. */
static void test_others_tell_nothing(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < WAIT_MAX_CALLS; i++)
		n += by_call[i] != 0;
	assert_int_equal(n, sizeof(rows) / sizeof(rows[0]));
	assert_int_equal(by_call[SYS_getpid], 0);
	assert_int_equal(by_call[SYS_exit_group], 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_call, rows, name),
	TEST(test_others_tell_nothing),
};

TEST_MAIN(tests)
