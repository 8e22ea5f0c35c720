/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of /proc/PID/stat and /proc/PID/status. */
#include <errno.h>

#include "agent/process/proc_stat.h"
#include "tests/support/unit.h"

#define TAIL " 1 4242 4242 34816 -1 4194304 110 0 0 0 5 6 0 0 20 0 7 0 123456 2465792 231"

struct row {
	const char *name;
	const char *text;
	int result;
	const char *comm;
	char state;
	bool dead;
};

static const struct row rows[] = {
	{ "plain", "4242 (cat) R" TAIL "\n", 0, "cat", 'R', false },
	{ "blank in the name", "4242 (my prog) S" TAIL "\n", 0, "my prog", 'S', false },
	{ "parentheses in the name", "4242 (a) R (b) S" TAIL "\n", 0, "a) R (b", 'S', false },
	{ "only a parenthesis", "4242 ()) S" TAIL "\n", 0, ")", 'S', false },
	{ "empty name", "4242 () S" TAIL "\n", 0, "", 'S', false },
	{ "newline in the name", "4242 (a\nb) S" TAIL "\n", 0, "a\nb", 'S', false },
	{ "kernel worker", "4242 (kworker/u8:3-events_unbound) I" TAIL "\n", 0,
	  "kworker/u8:3-events_unbound", 'I', false },
	{ "zombie", "4242 (x) Z" TAIL, 0, "x", 'Z', true },
	{ "dead", "4242 (x) X" TAIL, 0, "x", 'X', true },
	{ "no newline", "4242 (cat) R" TAIL, 0, "cat", 'R', false },
	{ "exiting", "4242 (x) R 1 4242 4242 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 7 0 123456", 0, "x",
	  'R', true },
	{ "empty", "", -EINVAL, NULL, 0, false },
	{ "no name", "4242 R" TAIL, -EINVAL, NULL, 0, false },
	{ "open name", "4242 (cat R 1 1 1", -EINVAL, NULL, 0, false },
	{ "only an opening", "4242 (", -EINVAL, NULL, 0, false },
	{ "closing first", "4242 )( R" TAIL, -EINVAL, NULL, 0, false },
	{ "nothing after the name", "4242 (cat)", -EINVAL, NULL, 0, false },
	{ "long state", "4242 (cat) RR" TAIL, -EINVAL, NULL, 0, false },
	{ "cut before the start", "4242 (cat) R 1 4242 4242 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 7 0",
	  -EINVAL, NULL, 0, false },
	{ "letters as parent",
	  "4242 (cat) R x 4242 4242 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 7 0 123456", -EINVAL, NULL, 0,
	  false },
	{ "empty field", "4242 (cat) R  1 4242 4242 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 7 0 123456",
	  -EINVAL, NULL, 0, false },
	{ "pid too large", "42424242424242 (cat) R" TAIL, -EINVAL, NULL, 0, false },
	{ "start too large",
	  "4242 (cat) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 7 0 99999999999999999999", -EINVAL, NULL,
	  0, false },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct proc_stat s;

	assert_int_equal(proc_stat_parse(str_from(row->text), &s), row->result);
	if (row->result < 0)
		return;
	assert_int_equal(s.pid, 4242);
	assert_true(str_eq(s.comm, str_from(row->comm)));
	assert_int_equal(s.state, row->state);
	assert_int_equal(s.parent_pid, 1);
	assert_int_equal(s.n_threads, 7);
	assert_int_equal(s.start_ticks, 123456);
	assert_int_equal(proc_stat_is_dead(&s), row->dead);
}

/* Where an execve() has put it; what is cut off before that is 0. */
static void test_places(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_int_equal(proc_stat_parse(STR_LIT("4242 (cat) R" TAIL " 18446744073709551615 1000 2000 3000 0 0"), &s), 0);
	assert_int_equal(s.code_at, 1000);
	assert_int_equal(s.stack_at, 3000);
	assert_int_equal(proc_stat_parse(STR_LIT("4242 (cat) R" TAIL " 0 1000 2000"), &s), 0);
	assert_int_equal(s.code_at, 1000);
	assert_int_equal(s.stack_at, 0);
	assert_int_equal(proc_stat_parse(STR_LIT("4242 (cat) R" TAIL " 0 x"), &s), -EINVAL);
}

static void test_flags(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_int_equal(
		proc_stat_parse(
			STR_LIT("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3"),
			&s),
		0);
	assert_true(s.flags & PROC_PF_KTHREAD);
	assert_int_equal(s.parent_pid, 0);
}

static void test_uid(void **state)
{
	uint32_t uid = 77;

	(void)state;
	assert_int_equal(
		proc_status_uid(STR_LIT("Name:\tx\nUid:\t1000\t1001\t1002\t1003\nGid:\t5\n"), &uid),
		0);
	assert_int_equal(uid, 1000);
	assert_int_equal(proc_status_uid(STR_LIT("Uid:\t4294967295\t0\t0\t0"), &uid), 0);
	assert_int_equal(uid, UINT32_MAX);
	uid = 77;
	assert_int_equal(proc_status_uid(STR_LIT("Name:\tUid:\t5\n"), &uid), -EINVAL);
	assert_int_equal(proc_status_uid(STR_LIT("Uid:\tx\n"), &uid), -EINVAL);
	assert_int_equal(proc_status_uid(STR_LIT("Uid:"), &uid), -EINVAL);
	assert_int_equal(proc_status_uid(STR_LIT(""), &uid), -EINVAL);
	assert_int_equal(uid, 77);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_places),
	TEST(test_flags),
	TEST(test_uid),
};

TEST_MAIN(tests)
