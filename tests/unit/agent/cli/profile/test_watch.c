/* SPDX-License-Identifier: Apache-2.0 */
/* The end of real processes. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/cli/profile/watch.h"
#include "tests/support/unit.h"

struct fixture {
	struct loop *loop;
	struct watch *watch;
	int n_ends;
};

static void on_end(void *data)
{
	struct fixture *f = data;

	f->n_ends++;
}

static uint32_t start_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return (uint32_t)pid;
}

static void end_child(uint32_t pid)
{
	assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
	assert_int_equal(waitpid((pid_t)pid, NULL, 0), (pid_t)pid);
}

static void begin(struct fixture *f, const uint32_t *pids, size_t n)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(watch_new(f->loop, pids, n, on_end, f, &f->watch), 0);
}

/* Rounds until nothing more is due. */
static void turn(struct fixture *f)
{
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(f->loop, 20), 0);
}

static void finish(struct fixture *f)
{
	watch_free(f->watch);
	loop_free(f->loop);
}

static void test_last_of_two(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	for (int first = 0; first < 2; first++) {
		uint32_t pids[] = { start_child(), start_child() };

		f.n_ends = 0;
		begin(&f, pids, 2);
		turn(&f);
		assert_int_equal(f.n_ends, 0);
		end_child(pids[first]);
		turn(&f);
		assert_int_equal(f.n_ends, 0);
		end_child(pids[1 - first]);
		turn(&f);
		assert_int_equal(f.n_ends, 1);
		finish(&f);
	}
}

/* Nothing is called before the loop runs. */
static void test_ended_before(void **state)
{
	struct fixture f = { 0 };
	uint32_t pid = start_child();

	(void)state;
	end_child(pid);
	begin(&f, &pid, 1);
	assert_int_equal(f.n_ends, 0);
	turn(&f);
	assert_int_equal(f.n_ends, 1);
	finish(&f);
}

static const struct unit_test tests[] = {
	TEST(test_last_of_two),
	TEST(test_ended_before),
};

TEST_MAIN(tests)
