/* SPDX-License-Identifier: Apache-2.0 */
/* Timers, descriptors and signals; what a callback may do to them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/util/clock.h"
#include "agent/util/loop.h"
#include "tests/support/unit.h"

#define N_TIMERS 8
#define N_PIPES 3

struct fixture {
	struct loop *loop;
	struct loop_timer *timers[N_TIMERS];
	struct loop_io *ios[N_PIPES];
	int pipes[N_PIPES][2];
	char seen[64]; /* a letter for each call */
	size_t n_seen;
	uint64_t fired_ns;
};

static struct fixture *new_fixture(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(loop_new(&f->loop), 0);
	for (int i = 0; i < N_PIPES; i++)
		assert_int_equal(pipe2(f->pipes[i], O_CLOEXEC | O_NONBLOCK), 0);
	return f;
}

static int setup(void **state)
{
	*state = new_fixture();
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < N_TIMERS; i++)
		loop_timer_free(f->timers[i]);
	for (int i = 0; i < N_PIPES; i++) {
		loop_io_free(f->ios[i]);
		(void)close(f->pipes[i][0]);
		(void)close(f->pipes[i][1]);
	}
	loop_free(f->loop);
	free(f);
	return 0;
}

static void see(struct fixture *f, char c)
{
	assert_true(f->n_seen + 1 < sizeof(f->seen));
	f->seen[f->n_seen++] = c;
	f->seen[f->n_seen] = '\0';
}

static void on_a(void *data)
{
	see(data, 'a');
}

static void on_b(void *data)
{
	see(data, 'b');
}

static void on_c(void *data)
{
	see(data, 'c');
}

static struct loop_timer *timer(struct fixture *f, int i, loop_timer_fn fn)
{
	assert_int_equal(loop_timer_new(f->loop, fn, f, &f->timers[i]), 0);
	return f->timers[i];
}

static void run_until_seen(struct fixture *f, size_t n)
{
	for (int i = 0; i < 1000 && f->n_seen < n; i++)
		assert_int_equal(loop_run_once(f->loop, 100), 0);
}

static void test_timers_in_order(void **state)
{
	struct fixture *f = *state;
	uint64_t now = clock_mono_ns();

	loop_timer_arm(timer(f, 0, on_c), now + 6 * NS_PER_MS);
	loop_timer_arm(timer(f, 1, on_a), now + 2 * NS_PER_MS);
	loop_timer_arm(timer(f, 2, on_b), now + 4 * NS_PER_MS);
	run_until_seen(f, 3);
	assert_string_equal(f->seen, "abc");
	/* Once for each arming. */
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "abc");
}

/* Due at the same time: in the order of arming. */
static void test_equal_times(void **state)
{
	struct fixture *f = *state;
	uint64_t at = clock_mono_ns() - 1;

	loop_timer_arm(timer(f, 0, on_a), at);
	loop_timer_arm(timer(f, 1, on_b), at);
	loop_timer_arm(timer(f, 2, on_c), at);
	loop_timer_arm(f->timers[0], at);
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "bca");
}

static void on_note_time(void *data)
{
	struct fixture *f = data;

	f->fired_ns = clock_mono_ns();
	see(f, 't');
}

static void test_never_early(void **state)
{
	struct fixture *f = *state;

	for (uint64_t us = 100; us < 3000; us += 700) {
		uint64_t at = clock_mono_ns() + us * NS_PER_US;

		f->n_seen = 0;
		loop_timer_free(f->timers[0]);
		loop_timer_arm(timer(f, 0, on_note_time), at);
		run_until_seen(f, 1);
		assert_true(f->fired_ns >= at);
	}
}

static void test_disarm_and_rearm(void **state)
{
	struct fixture *f = *state;

	loop_timer_arm(timer(f, 0, on_a), 1);
	loop_timer_arm(timer(f, 1, on_b), clock_mono_ns() + 3600 * NS_PER_S);
	loop_timer_disarm(f->timers[0]);
	loop_timer_disarm(NULL);
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "");
	loop_timer_arm(f->timers[1], 1);
	assert_int_equal(loop_run_once(f->loop, -1), 0);
	assert_string_equal(f->seen, "b");
}

/* Arms itself for a time in the past, as one that is always late does. */
static void on_again(void *data)
{
	struct fixture *f = data;

	see(f, 'x');
	if (f->n_seen < 20)
		loop_timer_arm(f->timers[0], 1);
}

static void test_past_is_the_next_round(void **state)
{
	struct fixture *f = *state;

	loop_timer_arm(timer(f, 0, on_again), 1);
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "x");
	assert_int_equal(loop_run_once(f->loop, -1), 0);
	assert_string_equal(f->seen, "xx");
}

static void on_free_all(void *data)
{
	struct fixture *f = data;

	see(f, 'f');
	for (int i = 0; i < N_TIMERS; i++)
		loop_timer_free(TAKE_PTR(f->timers[i]));
}

/* A timer frees itself and others that are due in the same round. */
static void test_free_timers_inside(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < N_TIMERS; i++)
		loop_timer_arm(timer(f, i, on_free_all), 1 + (uint64_t)i);
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "f");
	assert_int_equal(loop_run_once(f->loop, 0), 0);
}

struct io_data {
	struct fixture *f;
	int i;
};

static void on_io(uint32_t events, void *data)
{
	const struct io_data *d = data;
	char c;

	assert_true(events & EPOLLIN);
	assert_int_equal(read(d->f->pipes[d->i][0], &c, 1), 1);
	see(d->f, c);
}

static void watch(struct fixture *f, int i, loop_io_fn fn, void *data)
{
	assert_int_equal(loop_io_new(f->loop, f->pipes[i][0], EPOLLIN, fn, data, &f->ios[i]), 0);
}

static void put(const struct fixture *f, int i, const char *text)
{
	assert_int_equal(write(f->pipes[i][1], text, strlen(text)), strlen(text));
}

static void test_level_triggered(void **state)
{
	struct fixture *f = *state;
	struct io_data d = { f, 0 };

	watch(f, 0, on_io, &d);
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "");
	put(f, 0, "ab");
	assert_int_equal(loop_run_once(f->loop, -1), 0);
	assert_string_equal(f->seen, "a");
	/* Not asked for, not told. */
	assert_int_equal(loop_io_set_events(f->ios[0], 0), 0);
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "a");
	assert_int_equal(loop_io_set_events(f->ios[0], EPOLLIN), 0);
	assert_int_equal(loop_run_once(f->loop, -1), 0);
	assert_string_equal(f->seen, "ab");
}

static void on_io_free_all(uint32_t events, void *data)
{
	struct fixture *f = data;

	(void)events;
	see(f, 'f');
	for (int i = 0; i < N_PIPES; i++)
		loop_io_free(TAKE_PTR(f->ios[i]));
}

/* All are readable; the first that is told frees all of them. */
static void test_free_descriptors_inside(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < N_PIPES; i++) {
		watch(f, i, on_io_free_all, f);
		put(f, i, "x");
	}
	assert_int_equal(loop_run_once(f->loop, -1), 0);
	assert_string_equal(f->seen, "f");
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "f");
}

/* Runs the loop inside of a callback, and frees what the outer round still has to tell. */
static void on_io_nested(uint32_t events, void *data)
{
	struct fixture *f = data;
	bool outer = f->n_seen == 0;
	char c;

	(void)events;
	see(f, outer ? 'o' : 'i');
	if (!outer) {
		on_io_free_all(events, f);
		return;
	}
	assert_int_equal(read(f->pipes[0][0], &c, 1), 1);
	assert_int_equal(loop_run_once(f->loop, -1), 0);
	see(f, 'e');
}

static void test_nested_run(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < N_PIPES; i++)
		watch(f, i, on_io_nested, f);
	/* In the order of becoming readable; the first reads its byte, the others are met again inside. */
	for (int i = 0; i < N_PIPES; i++)
		put(f, i, "x");
	assert_int_equal(loop_run_once(f->loop, -1), 0);
	assert_string_equal(f->seen, "oife");
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "oife");
}

static void on_nested_timer(void *data)
{
	struct fixture *f = data;

	see(f, '(');
	loop_timer_arm(f->timers[1], 1);
	assert_int_equal(loop_run_once(f->loop, 1000), 0);
	see(f, ')');
}

/* A callback may wait for a timer that it arms itself. */
static void test_nested_timers(void **state)
{
	struct fixture *f = *state;

	(void)timer(f, 1, on_a);
	loop_timer_arm(timer(f, 0, on_nested_timer), 1);
	loop_timer_arm(timer(f, 2, on_b), 2);
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->seen, "(ab)");
}

static void test_bad_descriptor(void **state)
{
	struct fixture *f = *state;
	struct loop_io *io = NULL;

	assert_int_equal(loop_io_new(f->loop, -1, EPOLLIN, on_io, f, &io), -EBADF);
	assert_null(io);
	watch(f, 0, on_io, f);
	assert_int_equal(loop_io_new(f->loop, f->pipes[0][0], EPOLLIN, on_io, f, &io), -EEXIST);
	assert_null(io);
	loop_io_free(NULL);
}

static void on_quit(void *data)
{
	struct fixture *f = data;

	see(f, 'q');
	loop_quit(f->loop, 42);
}

static void test_quit(void **state)
{
	struct fixture *f = *state;

	loop_timer_arm(timer(f, 0, on_quit), clock_mono_ns() + NS_PER_MS);
	assert_int_equal(loop_run(f->loop), 42);
	/* It may be run again. */
	loop_timer_arm(f->timers[0], 1);
	assert_int_equal(loop_run(f->loop), 42);
	assert_string_equal(f->seen, "qq");
}

static void on_signal(int signo, void *data)
{
	see(data, signo == SIGUSR1 ? '1' : signo == SIGUSR2 ? '2' : '?');
}

static void test_signals(void **state)
{
	struct fixture *f = *state;
	sigset_t set, before;

	assert_int_equal(sigemptyset(&set), 0);
	assert_int_equal(sigaddset(&set, SIGUSR1), 0);
	assert_int_equal(sigaddset(&set, SIGUSR2), 0);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &before), 0);
	assert_int_equal(loop_signals_new(f->loop, &set, on_signal, f), 0);
	assert_int_equal(raise(SIGUSR2), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	run_until_seen(f, 2);
	assert_string_equal(f->seen, "12");
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

struct turns {
	struct loop *loop;
	struct loop_timer *timer;
	unsigned int n; /* turns before the long one */
};

static void on_turn(void *data)
{
	struct turns *t = data;

	/* What waits takes no CPU time. */
	(void)usleep(LOOP_LONG_TURN_NS / 1000 * 2);
	if (t->n-- > 0) {
		loop_timer_arm(t->timer, 0);
		return;
	}
	for (uint64_t end_ns = clock_thread_ns() + LOOP_LONG_TURN_NS + NS_PER_MS;
	     clock_thread_ns() < end_ns;)
		;
	loop_quit(t->loop, 0);
}

static void test_long_turns_are_counted(void **state)
{
	struct fixture *f = *state;
	struct turns t = { .loop = f->loop, .n = 3 };

	assert_int_equal(loop_timer_new(f->loop, on_turn, &t, &t.timer), 0);
	loop_timer_arm(t.timer, 0);
	assert_int_equal(loop_run(f->loop), 0);
	struct loop_stats stats = loop_get_stats(f->loop);
	assert_true(stats.n_turns >= 4);
	assert_int_equal(stats.n_long, 1);
	loop_timer_free(t.timer);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_long_turns_are_counted),
	FIXTURE_TEST(test_timers_in_order),
	FIXTURE_TEST(test_equal_times),
	FIXTURE_TEST(test_never_early),
	FIXTURE_TEST(test_disarm_and_rearm),
	FIXTURE_TEST(test_past_is_the_next_round),
	FIXTURE_TEST(test_free_timers_inside),
	FIXTURE_TEST(test_level_triggered),
	FIXTURE_TEST(test_free_descriptors_inside),
	FIXTURE_TEST(test_nested_run),
	FIXTURE_TEST(test_nested_timers),
	FIXTURE_TEST(test_bad_descriptor),
	FIXTURE_TEST(test_quit),
	FIXTURE_TEST(test_signals),
};

TEST_MAIN(tests)
