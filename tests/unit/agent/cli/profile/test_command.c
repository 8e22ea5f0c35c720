/* SPDX-License-Identifier: Apache-2.0 */
/* Real children. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/cli/profile/command.h"
#include "agent/util/file.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	const char *words[4];
	int go;
	int code;
};

static const struct row rows[] = {
	{ "success", { "true" }, 0, 0 },
	{ "failure", { "false" }, 0, 1 },
	{ "own code", { "sh", "-c", "exit 7" }, 0, 7 },
	{ "terminated", { "sh", "-c", "kill -TERM $$" }, 0, 128 + SIGTERM },
	{ "killed", { "sh", "-c", "kill -KILL $$" }, 0, 128 + SIGKILL },
	{ "not there", { "/no/such/program" }, -ENOENT, 127 },
	{ "not in PATH", { "no-such-program-anywhere" }, -ENOENT, 127 },
	{ "a directory", { "/tmp" }, -EACCES, 127 },
	{ "not executable", { "/etc/passwd" }, -EACCES, 127 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_(command_freep) struct command *c = NULL;

	assert_int_equal(command_new((char **)row->words, &c), 0);
	assert_int_equal(command_go(c), row->go);
	assert_int_equal(command_exit_code(c), row->code);
	assert_int_equal(command_exit_code(c), row->code);
}

static bool has_ended(const struct command *c, int timeout_ms)
{
	struct pollfd p = { .fd = command_fd(c), .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1;
}

/* Until then it has our program's file, but already its own name. */
static void test_waits_for_go(void **state)
{
	char *words[] = { (char *)"/bin/true", NULL };
	_cleanup_(command_freep) struct command *c = NULL;
	_cleanup_buf_ struct buf comm = BUF_INIT(64);
	char path[64];

	(void)state;
	assert_int_equal(command_new(words, &c), 0);
	assert_false(has_ended(c, 100));
	(void)snprintf(path, sizeof(path), "/proc/%u/comm", command_pid(c));
	assert_int_equal(file_read(AT_FDCWD, path, &comm), 0);
	assert_string_equal(buf_str(&comm), "true\n");
	assert_int_equal(command_go(c), 0);
	assert_true(has_ended(c, 10000));
}

static void test_never_told_to_go(void **state)
{
	char *words[] = { (char *)"sh", (char *)"-c", (char *)"kill -KILL $PPID", NULL };
	struct command *c = NULL;

	(void)state;
	assert_int_equal(command_new(words, &c), 0);
	pid_t pid = (pid_t)command_pid(c);
	command_free(c);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void test_killed_while_it_waits(void **state)
{
	char *words[] = { (char *)"true", NULL };
	_cleanup_(command_freep) struct command *c = NULL;

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(command_new(words, &c), 0);
	command_signal(c, SIGINT);
	assert_true(has_ended(c, 10000));
	assert_int_equal(command_go(c), -ECHILD);
	assert_int_equal(command_exit_code(c), 128 + SIGINT);
}

static void test_signal_is_passed_on(void **state)
{
	char *words[] = { (char *)"sleep", (char *)"100", NULL };
	_cleanup_(command_freep) struct command *c = NULL;

	(void)state;
	assert_int_equal(command_new(words, &c), 0);
	assert_int_equal(command_go(c), 0);
	command_signal(c, SIGTERM);
	assert_int_equal(command_exit_code(c), 128 + SIGTERM);
	command_signal(c, SIGTERM);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_waits_for_go),
	TEST(test_never_told_to_go),
	TEST(test_killed_while_it_waits),
	TEST(test_signal_is_passed_on),
};

TEST_MAIN(tests)
