/* SPDX-License-Identifier: Apache-2.0 */
/* Process ids as words, and what is said of processes that cannot be looked at. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/cli/inspect_pid.h"
#include "agent/util/macro.h"

static int parse(const char **words, size_t n, struct inspect_pids *pids, struct buf *why)
{
	return inspect_pids_parse(&(struct cli_words){ .items = words, .n = n }, pids, why);
}

static void test_pids(void **state)
{
	const char *words[] = { "1", "4711", "1" };
	_cleanup_inspect_pids_ struct inspect_pids pids = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(parse(words, ARRAY_SIZE(words), &pids, &why), 0);
	assert_int_equal(pids.n, 3);
	assert_int_equal(pids.items[1], 4711);
	assert_int_equal(pids.items[2], 1);
	assert_string_equal(buf_str(&why), "");
}

static void test_no_pid(void **state)
{
	_cleanup_inspect_pids_ struct inspect_pids pids = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(parse(NULL, 0, &pids, &why), -EINVAL);
	assert_string_equal(buf_str(&why), "wants process ids");
}

static void test_bad_pid(void **state)
{
	const char *words[] = { "4711", *state };
	_cleanup_inspect_pids_ struct inspect_pids pids = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	char expected[128];

	assert_int_equal(parse(words, ARRAY_SIZE(words), &pids, &why), -EINVAL);
	assert_null(pids.items);
	(void)snprintf(expected, sizeof(expected), "wants process ids, not \"%s\"",
		       (const char *)*state);
	assert_string_equal(buf_str(&why), expected);
}

static void test_there_is_none(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	/* Above the highest pid of 64-bit kernels (PID_MAX_LIMIT, include/linux/threads.h). */
	assert_int_equal(inspect_pid_check(4194305, &why), -ESRCH);
	assert_string_equal(buf_str(&why), "there is no process 4194305");
}

static void test_ourselves(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(inspect_pid_check((uint32_t)getpid(), &why), 0);
	inspect_pid_explain((uint32_t)getpid(), -EPERM, &why);
	assert_non_null(strstr(buf_str(&why), "cannot stop itself"));
}

static void test_zombie(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	pid_t pid = fork();
	siginfo_t info;
	char expected[64];

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(inspect_pid_check((uint32_t)pid, &why), -ESRCH);
	(void)snprintf(expected, sizeof(expected), "process %d has ended", (int)pid);
	assert_string_equal(buf_str(&why), expected);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_permission(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	inspect_pid_explain((uint32_t)getppid(), -EPERM, &why);
	assert_non_null(strstr(buf_str(&why), "not permitted to stop process"));
	buf_reset(&why);
	inspect_pid_explain(4711, -ENOMEM, &why);
	assert_string_equal(buf_str(&why), "process 4711: Cannot allocate memory");
}

#define BAD(text)                                                                  \
	{                                                                          \
		.name = (text), .test_func = test_bad_pid, .initial_state = (text) \
	}

int main(void)
{
	static char zero[] = "0", letter[] = "x", tail[] = "1x", minus[] = "-1", empty[] = "",
		    large[] = "2147483648", hex[] = "0x1";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pids),
		cmocka_unit_test(test_no_pid),
		BAD(zero),
		BAD(letter),
		BAD(tail),
		BAD(minus),
		BAD(empty),
		BAD(large),
		BAD(hex),
		cmocka_unit_test(test_there_is_none),
		cmocka_unit_test(test_ourselves),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_permission),
	};

	return cmocka_run_group_tests_name("agent/cli/inspect_pid", tests, NULL, NULL);
}
