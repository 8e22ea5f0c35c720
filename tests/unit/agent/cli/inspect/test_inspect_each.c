/* SPDX-License-Identifier: Apache-2.0 */
/* Process ids as words, and what is said of processes that cannot be looked at. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/cli/inspect/inspect_each.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

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

static const struct bad_pid {
	const char *text;
} bad_pids[] = {
	{ "0" }, { "x" }, { "1x" }, { "-1" }, { "" }, { "2147483648" }, { "0x1" },
};

static void test_bad_pid(void **state)
{
	const struct bad_pid *bad = *state;
	const char *words[] = { "4711", bad->text };
	_cleanup_inspect_pids_ struct inspect_pids pids = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	char expected[128];

	assert_int_equal(parse(words, ARRAY_SIZE(words), &pids, &why), -EINVAL);
	assert_null(pids.items);
	(void)snprintf(expected, sizeof(expected), "wants process ids, not \"%s\"",
		       bad->text);
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

static const struct unit_test tests[] = {
	TEST(test_pids),
	TEST(test_no_pid),
	TEST_ROWS(test_bad_pid, bad_pids, text),
	TEST(test_there_is_none),
	TEST(test_ourselves),
	TEST(test_zombie),
	TEST(test_permission),
};

TEST_MAIN(tests)
