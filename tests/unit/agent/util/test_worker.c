/* SPDX-License-Identifier: Apache-2.0 */
/* The worker: order, its ceiling, and that no job is forgotten. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/util/loop.h"
#include "agent/util/macro.h"
#include "agent/util/worker.h"
#include "tests/support/unit.h"

#define MAX_JOBS 4

struct fixture {
	struct loop *loop;
	struct worker *worker;
	pthread_t loop_thread;
	int gate[2]; /* a job that waits reads a byte from here */
	char ran[64];
	char done[64];
};

struct test_job {
	struct worker_job job;
	struct fixture *f;
	char letter;
};

static void set_up(struct fixture *f)
{
	f->loop_thread = pthread_self();
	assert_int_equal(pipe2(f->gate, O_CLOEXEC), 0);
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(worker_new(f->loop, MAX_JOBS, &f->worker), 0);
}

static void tear_down(struct fixture *f)
{
	worker_free(f->worker);
	loop_free(f->loop);
	(void)close(f->gate[0]);
	(void)close(f->gate[1]);
}

FIXTURE(struct fixture, set_up, tear_down)

static void note(char *text, char letter)
{
	size_t n = strlen(text);

	text[n] = letter;
	text[n + 1] = '\0';
}

static void run_now(struct worker_job *job)
{
	struct test_job *j = CONTAINER_OF(job, struct test_job, job);

	note(j->f->ran, pthread_equal(pthread_self(), j->f->loop_thread) ? '!' : j->letter);
}

static void run_at_the_gate(struct worker_job *job)
{
	struct test_job *j = CONTAINER_OF(job, struct test_job, job);
	char c;

	if (read(j->f->gate[0], &c, 1) == 1)
		run_now(job);
}

static void done(struct worker_job *job)
{
	struct test_job *j = CONTAINER_OF(job, struct test_job, job);

	note(j->f->done, pthread_equal(pthread_self(), j->f->loop_thread) ? j->letter : '!');
	free(j);
}

static int submit(struct fixture *f, char letter, void (*run)(struct worker_job *job))
{
	struct test_job *j = calloc(1, sizeof(*j));

	assert_non_null(j);
	*j = (struct test_job){ .job = { .run = run, .done = done }, .f = f, .letter = letter };
	int r = worker_submit(f->worker, &j->job);
	if (r < 0)
		free(j);
	return r;
}

static void open_gate(const struct fixture *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(write(f->gate[1], "x", 1), 1);
}

static void test_in_order(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(submit(f, 'a', run_now), 0);
	assert_int_equal(submit(f, 'b', run_now), 0);
	assert_int_equal(submit(f, 'c', run_now), 0);
	while (worker_n_jobs(f->worker) > 0)
		assert_int_equal(loop_run_once(f->loop, 1000), 0);
	assert_string_equal(f->ran, "abc");
	assert_string_equal(f->done, "abc");
}

static void test_full(void **state)
{
	struct fixture *f = *state;

	for (char c = 'a'; c < 'a' + MAX_JOBS; c++)
		assert_int_equal(submit(f, c, run_at_the_gate), 0);
	assert_int_equal(worker_n_jobs(f->worker), MAX_JOBS);
	assert_int_equal(submit(f, 'x', run_now), -EAGAIN);
	open_gate(f, 1);
	/* Room is there when a job is delivered, not when it has run. */
	while (worker_n_jobs(f->worker) == MAX_JOBS)
		assert_int_equal(loop_run_once(f->loop, 1000), 0);
	assert_int_equal(submit(f, 'y', run_now), 0);
	open_gate(f, MAX_JOBS - 1);
	worker_drain(f->worker);
	assert_string_equal(f->ran, "abcdy");
	assert_string_equal(f->done, "abcdy");
}

static void test_drain(void **state)
{
	struct fixture *f = *state;

	worker_drain(f->worker);
	assert_int_equal(submit(f, 'a', run_at_the_gate), 0);
	assert_int_equal(submit(f, 'b', run_now), 0);
	assert_string_equal(f->done, "");
	open_gate(f, 1);
	worker_drain(f->worker);
	assert_string_equal(f->done, "ab");
	assert_int_equal(worker_n_jobs(f->worker), 0);
	/* The event of what was delivered meanwhile finds nothing. */
	assert_int_equal(loop_run_once(f->loop, 0), 0);
	assert_string_equal(f->done, "ab");
}

static bool first_is_missing(const void *data)
{
	const struct fixture *f = data;

	return !strchr(f->done, 'a');
}

/* The second stays behind its gate: who waits for the first does not wait for it. */
static void test_drain_while(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(submit(f, 'a', run_now), 0);
	assert_int_equal(submit(f, 'b', run_at_the_gate), 0);
	worker_drain_while(f->worker, first_is_missing, f);
	assert_string_equal(f->done, "a");
	assert_int_equal(worker_n_jobs(f->worker), 1);
	open_gate(f, 1);
	worker_drain(f->worker);
	assert_string_equal(f->done, "ab");
	/* Nothing is under way: nothing to wait for. */
	f->done[0] = '\0';
	worker_drain_while(f->worker, first_is_missing, f);
}

static void test_free_delivers_all(void **state)
{
	struct fixture *f = *state;

	for (char c = 'a'; c < 'a' + MAX_JOBS; c++)
		assert_int_equal(submit(f, c, run_at_the_gate), 0);
	open_gate(f, MAX_JOBS);
	worker_free(TAKE_PTR(f->worker));
	assert_string_equal(f->ran, "abcd");
	assert_string_equal(f->done, "abcd");
	worker_free(NULL);
}

static void done_and_again(struct worker_job *job)
{
	struct fixture *f = CONTAINER_OF(job, struct test_job, job)->f;

	assert_int_equal(submit(f, 'n', run_now), 0);
	done(job);
}

/* A job's end may begin the next. */
static void test_submit_when_done(void **state)
{
	struct fixture *f = *state;
	struct test_job *j = calloc(1, sizeof(*j));

	assert_non_null(j);
	*j = (struct test_job){ .job = { .run = run_now, .done = done_and_again },
				.f = f,
				.letter = 'a' };
	assert_int_equal(worker_submit(f->worker, &j->job), 0);
	worker_drain(f->worker);
	assert_string_equal(f->ran, "an");
	assert_string_equal(f->done, "an");
}

static void test_many(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2000; i++) {
		f->ran[0] = f->done[0] = '\0';
		assert_int_equal(submit(f, 'a', run_now), 0);
		assert_int_equal(submit(f, 'b', run_now), 0);
		if (i % 2)
			worker_drain(f->worker);
		while (worker_n_jobs(f->worker) > 0)
			assert_int_equal(loop_run_once(f->loop, 1000), 0);
		assert_string_equal(f->done, "ab");
	}
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_in_order),
	FIXTURE_TEST(test_full),
	FIXTURE_TEST(test_drain),
	FIXTURE_TEST(test_drain_while),
	FIXTURE_TEST(test_free_delivers_all),
	FIXTURE_TEST(test_submit_when_done),
	FIXTURE_TEST(test_many),
};

TEST_MAIN(tests)
