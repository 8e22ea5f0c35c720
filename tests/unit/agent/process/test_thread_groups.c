/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of processes from exits of threads. */
#include "agent/process/thread_groups.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

struct fixture {
	struct proc_tree tree;
	struct thread_groups *thread_groups;
	uint64_t now;
	uint32_t ended[8];
	size_t n_ended;
};

static void set_up(struct fixture *f)
{
	proc_tree_init(&f->tree);
	f->now = clock_mono_ns();
	assert_int_equal(thread_groups_new(f->tree.root, 16, &f->thread_groups), 0);
}

static void tear_down(struct fixture *f)
{
	thread_groups_free(f->thread_groups);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

static void note_end(uint32_t pid, void *data)
{
	struct fixture *f = data;

	f->ended[f->n_ended++] = pid;
}

static void recheck(struct fixture *f, uint64_t after_ns)
{
	thread_groups_recheck(f->thread_groups, f->now + after_ns, note_end, f);
}

static void test_counted(void **state)
{
	struct fixture *f = *state;

	thread_groups_fork(f->thread_groups, 10);
	thread_groups_thread_start(f->thread_groups, 10);
	thread_groups_thread_start(f->thread_groups, 10);
	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 10,
					       f->now)); /* the leader leaves first */
	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 11, f->now));
	assert_true(thread_groups_thread_exit(f->thread_groups, 10, 12, f->now));
	assert_int_equal(thread_groups_n(f->thread_groups), 0);
}

static void test_exec_leaves_one_thread(void **state)
{
	struct fixture *f = *state;

	/* Not seen from birth: how many threads it had is not known, and after the exec it is. */
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 10, .start_ticks = 1 });
	assert_false(thread_groups_thread_exit(
		f->thread_groups, 10, 10,
		f->now)); /* the leader, killed by the exec of another thread */
	thread_groups_exec(f->thread_groups, 10);
	recheck(f, NS_PER_S);
	assert_int_equal(f->n_ended, 0);
	assert_true(thread_groups_thread_exit(f->thread_groups, 10, 10, f->now));
}

static void test_uncounted_ends(void **state)
{
	struct fixture *f = *state;

	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 11, f->now)); /* any thread */
	assert_int_equal(thread_groups_n(f->thread_groups), 0);
	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 10, f->now)); /* the leader */
	recheck(f, 0);
	assert_int_equal(f->n_ended, 0);
	recheck(f, THREAD_GROUPS_RECHECK_NS);
	assert_int_equal(f->n_ended, 1);
	assert_int_equal(f->ended[0], 10);
	assert_int_equal(thread_groups_n(f->thread_groups), 0);
}

static void test_uncounted_lives_on(void **state)
{
	struct fixture *f = *state;
	struct fake_proc leader_left = {
		.pid = 10, .state = 'Z', .n_threads = 3, .start_ticks = 1
	};
	struct fake_proc zombie = { .pid = 10, .state = 'Z', .n_threads = 1, .start_ticks = 1 };

	proc_tree_add(&f->tree, &leader_left);
	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 10, f->now));
	for (uint64_t ms = 10; ms <= 10000; ms *= 10)
		recheck(f, ms * NS_PER_MS);
	assert_int_equal(f->n_ended, 0);
	/* No longer asked about, until one of its threads exits. */
	proc_tree_add(&f->tree, &zombie);
	recheck(f, 20 * NS_PER_S);
	assert_int_equal(f->n_ended, 0);
	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 12, f->now + 20 * NS_PER_S));
	recheck(f, 21 * NS_PER_S);
	assert_int_equal(f->n_ended, 1);
}

static void test_pid_reused_before_the_answer(void **state)
{
	struct fixture *f = *state;

	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 10, f->now));
	proc_tree_add(&f->tree,
		      &(struct fake_proc){ .pid = 10, .start_ticks = ticks_now() + 1000 });
	recheck(f, THREAD_GROUPS_RECHECK_NS);
	assert_int_equal(f->n_ended, 1); /* the old one did end */
	assert_false(thread_groups_thread_exit(f->thread_groups, 11, 11, f->now));
	thread_groups_fork(f->thread_groups, 11);
	recheck(f, NS_PER_S);
	assert_int_equal(f->n_ended, 1); /* its end is told by the fork */
}

static void test_forget(void **state)
{
	struct fixture *f = *state;

	thread_groups_fork(f->thread_groups, 10);
	thread_groups_forget(f->thread_groups);
	assert_int_equal(thread_groups_n(f->thread_groups), 0);
	assert_false(thread_groups_thread_exit(f->thread_groups, 10, 10, f->now));
	recheck(f, NS_PER_S);
	assert_int_equal(f->n_ended, 1);
}

static void test_ceiling(void **state)
{
	struct fixture *f = *state;

	for (uint32_t pid = 100; pid < 200; pid++)
		thread_groups_fork(f->thread_groups, pid);
	assert_int_equal(thread_groups_n(f->thread_groups), 16);
	assert_true(thread_groups_thread_exit(f->thread_groups, 100, 100, f->now));
	thread_groups_fork(f->thread_groups, 300);
	/* Without an entry /proc is asked at once. */
	assert_true(thread_groups_thread_exit(f->thread_groups, 199, 199, f->now));
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 198, .start_ticks = 1 });
	assert_false(thread_groups_thread_exit(f->thread_groups, 198, 198, f->now));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_counted),
	FIXTURE_TEST(test_exec_leaves_one_thread),
	FIXTURE_TEST(test_uncounted_ends),
	FIXTURE_TEST(test_uncounted_lives_on),
	FIXTURE_TEST(test_pid_reused_before_the_answer),
	FIXTURE_TEST(test_forget),
	FIXTURE_TEST(test_ceiling),
};

TEST_MAIN(tests)
