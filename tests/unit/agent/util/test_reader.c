/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that never return: who waits for them goes on, nobody uses up all threads, and what comes back is used again. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/reader_private.h"
#include "tests/support/unit.h"

/* Reads a byte from a pipe: it returns when the test wants it. */
struct pipe_call {
	struct reader_call call;
	int fd;
	ssize_t result;
};

static atomic_int n_freed;

static void pipe_run(struct reader_call *call)
{
	struct pipe_call *c = CONTAINER_OF(call, struct pipe_call, call);
	char byte;

	c->result = c->fd >= 0 ? read(c->fd, &byte, 1) : 0;
}

static void pipe_free(struct reader_call *call)
{
	n_freed++;
	free(call);
}

/* As reader_run(). fd −1 returns at once. */
static int run(int fd, const struct reader_subject *subject)
{
	struct pipe_call *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	*c = (struct pipe_call){ .call = { .run = pipe_run, .free = pipe_free }, .fd = fd };
	int r = reader_run(&c->call, subject);
	if (r == 0)
		free(c);
	return r;
}

/* After calls that were lost the patience of this thread is short: what was not in time by accident comes back at once. */
static int run_again(const struct reader_subject *subject)
{
	int r = run(-1, subject);

	for (int i = 0; i < 1000 && r != 0; i++) {
		(void)usleep(5000);
		r = run(-1, subject);
	}
	return r;
}

static struct reader_subject on(dev_t dev)
{
	return (struct reader_subject){ .reason = READER_file, .dev = dev };
}

static void wait_for_n_lost(uint32_t n)
{
	for (int i = 0; i < 5000 && reader_get_stats().n_lost != n; i++)
		(void)usleep(1000);
	assert_int_equal(reader_get_stats().n_lost, n);
}

struct pipe_ends {
	int ends[2];
};

static int setup(void **state)
{
	struct pipe_ends *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_int_equal(pipe2(p->ends, O_CLOEXEC), 0);
	n_freed = 0;
	*state = p;
	return 0;
}

/* All that is lost returns at the end of the file. */
static int teardown(void **state)
{
	struct pipe_ends *p = *state;

	(void)close(p->ends[1]);
	wait_for_n_lost(0);
	(void)close(p->ends[0]);
	free(p);
	reader_stop();
	assert_int_equal(reader_get_stats().n_threads, 0);
	return 0;
}

static void test_runs(void **state)
{
	struct reader_subject subject = on(1);

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(run(-1, &subject), 0);
	assert_int_equal(n_freed, 0);
	assert_int_equal(reader_get_stats().n_threads, 1);
}

static void test_given_up(void **state)
{
	const struct pipe_ends *p = *state;
	struct reader_subject subject = on(1), other = on(2);
	struct reader_stats before = reader_get_stats();
	uint64_t failed_before = reader_n_failed();

	assert_int_equal(run(p->ends[0], &subject), -ETIMEDOUT);
	assert_int_equal(n_freed, 0);
	struct reader_stats stats = reader_get_stats();
	assert_int_equal(stats.n_lost, 1);
	assert_int_equal(stats.n_given_up[READER_file], before.n_given_up[READER_file] + 1);
	/* Not tried, and freed. */
	assert_int_equal(run(-1, &subject), -EHOSTDOWN);
	assert_int_equal(n_freed, 1);
	assert_int_equal(reader_get_stats().n_avoided, before.n_avoided + 1);
	assert_int_equal(run(-1, &other), 0);
	assert_int_equal(reader_n_failed(), failed_before + 2);
	/* It returns: its memory is freed by the thread, and its subject tried again. */
	assert_int_equal(write(p->ends[1], "x", 1), 1);
	wait_for_n_lost(0);
	assert_int_equal(run(-1, &subject), 0);
	for (int i = 0; i < 5000 && n_freed < 2; i++)
		(void)usleep(1000);
	assert_int_equal(n_freed, 2);
}

/* What a call runs to its end while the state of its thread is asked for. */
static struct {
	int fd; /* lets it end; 0: nobody asks */
	atomic_bool has_run;
} race;

static void race_run(struct reader_call *call)
{
	pipe_run(call);
	race.has_run = true;
}

int __real_file_read(int dir_fd, const char *path, struct buf *b);
int __wrap_file_read(int dir_fd, const char *path, struct buf *b);
int __wrap_file_read(int dir_fd, const char *path, struct buf *b)
{
	if (race.fd && strstr(path, "/stat")) {
		assert_int_equal(write(race.fd, "x", 1), 1);
		race.fd = 0;
		/* Then it waits for the lock of who asks. */
		for (int i = 0; i < 5000 && !race.has_run; i++)
			(void)usleep(1000);
		(void)usleep(20000);
	}
	return __real_file_read(dir_fd, path, b);
}

static void test_not_given_up_when_it_has_just_run(void **state)
{
	const struct pipe_ends *p = *state;
	struct pipe_call *c = calloc(1, sizeof(*c));
	struct reader_subject subject = on(1);

	assert_non_null(c);
	*c = (struct pipe_call){ .call = { .run = race_run, .free = pipe_free },
				 .fd = p->ends[0] };
	race.has_run = false;
	race.fd = p->ends[1];
	assert_int_equal(reader_run(&c->call, &subject), 0);
	assert_true(race.has_run);
	assert_int_equal(c->result, 1);
	free(c);
	assert_int_equal(reader_get_stats().n_lost, 0);
}

static void test_process_is_told_from_the_next_of_its_pid(void **state)
{
	const struct pipe_ends *p = *state;
	struct reader_subject one = { .reason = READER_memory, .pid = UINT32_MAX, .start = 1 };
	struct reader_subject two = { .reason = READER_maps, .pid = UINT32_MAX, .start = 2 };

	assert_int_equal(run(p->ends[0], &one), -ETIMEDOUT);
	assert_int_equal(run(-1, &one), -EHOSTDOWN);
	assert_int_equal(run_again(&two), 0);
	one.reason = READER_open;
	assert_int_equal(run(-1, &one), -EHOSTDOWN);
}

/* Each device for itself: nobody is known to be behind them. */
static void test_all_threads_lost(void **state)
{
	const struct pipe_ends *p = *state;

	for (uint32_t i = 0; i < READER_MAX_LOST; i++) {
		struct reader_subject subject = on(i + 1);

		assert_int_equal(run(p->ends[0], &subject), -ETIMEDOUT);
	}
	assert_int_equal(reader_get_stats().n_lost, READER_MAX_LOST);
	struct reader_subject one_more = on(READER_MAX_LOST + 1);
	assert_int_equal(run(-1, &one_more), -EHOSTDOWN);
	/* A place is free again as soon as one is back. */
	assert_int_equal(write(p->ends[1], "x", 1), 1);
	wait_for_n_lost(READER_MAX_LOST - 1);
	assert_int_equal(run_again(&one_more), 0);
}

static void test_two_of_one_user(void **state)
{
	const struct pipe_ends *p = *state;
	struct reader_subject a = on(101), b = on(102), c = on(103), others = on(104);

	for (dev_t dev = 101; dev <= 103; dev++)
		reader_blame_device(dev, (uint32_t)getpid());
	assert_int_equal(run(p->ends[0], &a), -ETIMEDOUT);
	assert_int_equal(run(p->ends[0], &b), -ETIMEDOUT);
	assert_int_equal(run(-1, &c), -EHOSTDOWN);
	assert_int_equal(run_again(&others), 0);
	struct reader_subject self = { .reason = READER_maps, .pid = (uint32_t)getpid() };
	assert_int_equal(run(-1, &self), -EHOSTDOWN);
}

#define N_AT_ONCE 8

struct at_once {
	pthread_barrier_t *barrier;
	int fd;
	dev_t dev;
	int result;
};

static void *run_at_once(void *data)
{
	struct at_once *a = data;
	struct reader_subject subject = on(a->dev);

	pthread_barrier_wait(a->barrier);
	a->result = a->fd < 0 ? run_again(&subject) : run(a->fd, &subject);
	return NULL;
}

/* Many threads lose a call for the same one, and all begin before any is lost. */
static void test_two_of_one_user_at_once(void **state)
{
	const struct pipe_ends *p = *state;
	struct at_once items[N_AT_ONCE];
	pthread_t threads[N_AT_ONCE];
	pthread_barrier_t barrier;
	int n_avoided = 0;

	assert_int_equal(pthread_barrier_init(&barrier, NULL, N_AT_ONCE), 0);
	for (int i = 0; i < N_AT_ONCE; i++) {
		items[i] = (struct at_once){ &barrier, p->ends[0], 201 + (dev_t)i, 0 };
		reader_blame_device(items[i].dev, (uint32_t)getpid());
		assert_int_equal(pthread_create(&threads[i], NULL, run_at_once, &items[i]), 0);
	}
	for (int i = 0; i < N_AT_ONCE; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		n_avoided += items[i].result == -EHOSTDOWN;
	}
	assert_int_equal(reader_get_stats().n_lost, READER_MAX_LOST_EACH);
	assert_int_equal(n_avoided, N_AT_ONCE - READER_MAX_LOST_EACH);
	(void)pthread_barrier_destroy(&barrier);
}

/* Those that return in time let the others through. */
static void test_many_at_once(void **state)
{
	struct at_once items[N_AT_ONCE];
	pthread_t threads[N_AT_ONCE];
	pthread_barrier_t barrier;

	(void)state;
	assert_int_equal(pthread_barrier_init(&barrier, NULL, N_AT_ONCE), 0);
	for (int i = 0; i < N_AT_ONCE; i++) {
		items[i] = (struct at_once){ &barrier, -1, 301, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, run_at_once, &items[i]), 0);
	}
	for (int i = 0; i < N_AT_ONCE; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(items[i].result, 0);
	}
	(void)pthread_barrier_destroy(&barrier);
}

static void *run_often(void *data)
{
	struct at_once *a = data;
	struct reader_subject subject = on(a->dev);

	pthread_barrier_wait(a->barrier);
	for (int i = 0; i < 300; i++)
		(void)run(-1, &subject);
	return NULL;
}

/* More than are kept idle: most are gone again before who started them has gone on. */
static void test_readers_come_and_go(void **state)
{
	struct at_once items[N_AT_ONCE];
	pthread_t threads[N_AT_ONCE];
	pthread_barrier_t barrier;

	(void)state;
	assert_int_equal(pthread_barrier_init(&barrier, NULL, N_AT_ONCE), 0);
	for (int i = 0; i < N_AT_ONCE; i++) {
		items[i] = (struct at_once){ &barrier, -1, 401 + (dev_t)i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, run_often, &items[i]), 0);
	}
	for (int i = 0; i < N_AT_ONCE; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	(void)pthread_barrier_destroy(&barrier);
}

struct nested_call {
	struct reader_call call;
	int result;
};

static void nested_run(struct reader_call *call)
{
	struct reader_subject subject = on(1);

	CONTAINER_OF(call, struct nested_call, call)->result = run(-1, &subject);
}

static void test_call_within_a_call(void **state)
{
	struct nested_call *c = calloc(1, sizeof(*c));
	struct reader_subject subject = on(1);

	(void)state;
	c->call = (struct reader_call){ .run = nested_run, .free = pipe_free };
	c->result = 1;
	assert_int_equal(reader_run(&c->call, &subject), 0);
	assert_int_equal(c->result, 0);
	assert_int_equal(reader_get_stats().n_threads, 1);
	free(c);
}

static void test_child_has_threads_of_its_own(void **state)
{
	struct reader_subject subject = on(1);
	int status;

	(void)state;
	assert_int_equal(run(-1, &subject), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int r = run(-1, &subject);

		reader_stop();
		_exit(r == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Bounds by a clock of our own. */

static const struct reader_blame nobody;

static void test_tried_again_later_and_later(void **state)
{
	struct reader_losses *l = calloc(1, sizeof(*l));
	struct reader_subject subject = on(1);
	uint64_t now_ns = NS_PER_S, wait_ns = READER_FIRST_RETRY_NS;

	(void)state;
	assert_non_null(l);
	struct reader_lost *lost = reader_losses_add(l, &subject, &nobody, now_ns);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(reader_losses_admit(l, &subject, &nobody, now_ns + wait_ns - 1), READER_AVOIDED);
		now_ns += wait_ns;
		assert_int_equal(reader_losses_admit(l, &subject, &nobody, now_ns), READER_ADMITTED);
		assert_int_equal(reader_losses_admit(l, &subject, &nobody, now_ns), READER_AVOIDED);
		wait_ns = MIN_OF(2 * wait_ns, READER_LAST_RETRY_NS);
	}
	assert_int_equal(lost->wait_ns, READER_LAST_RETRY_NS);
	reader_losses_remove(l, lost);
	assert_int_equal(reader_losses_admit(l, &subject, &nobody, now_ns), READER_ADMITTED);
	free(l);
}

/* Once each, and not those that come back soon. */
static void test_lost_for_long_is_said(void **state)
{
	struct reader_losses *l = calloc(1, sizeof(*l));
	struct reader_subject a = on(1), b = on(2);

	(void)state;
	assert_non_null(l);
	struct reader_lost *brief = reader_losses_add(l, &a, &nobody, 1);
	struct reader_lost *lasting = reader_losses_add(l, &b, &nobody, 2);
	assert_null(reader_losses_to_say(l, READER_SAY_NS));
	reader_losses_remove(l, brief);
	assert_null(reader_losses_to_say(l, READER_SAY_NS + 1));
	assert_ptr_equal(reader_losses_to_say(l, READER_SAY_NS + 2), lasting);
	assert_null(reader_losses_to_say(l, 2 * READER_SAY_NS));
	/* A place that is used again is another loss. */
	reader_losses_remove(l, lasting);
	lasting = reader_losses_add(l, &b, &nobody, READER_SAY_NS);
	(void)reader_losses_add(l, &a, &nobody, READER_SAY_NS);
	assert_non_null(reader_losses_to_say(l, 2 * READER_SAY_NS));
	assert_non_null(reader_losses_to_say(l, 2 * READER_SAY_NS));
	assert_null(reader_losses_to_say(l, 3 * READER_SAY_NS));
	free(l);
}

static void test_blame(void **state)
{
	struct reader_losses *l = calloc(1, sizeof(*l));
	struct reader_blame blame = { .who = 1, .place = 1 }, other = { .who = 99, .place = 2 };
	struct reader_subject subject = on(1000);

	(void)state;
	assert_non_null(l);
	/* Root in a container may be any user there. */
	for (dev_t dev = 1; dev <= READER_MAX_LOST_TOGETHER; dev++) {
		struct reader_subject s = on(dev);

		blame.who = dev;
		assert_int_equal(reader_losses_admit(l, &s, &blame, 1), READER_ADMITTED);
		(void)reader_losses_add(l, &s, &blame, 1);
	}
	blame.who = 50;
	assert_int_equal(reader_losses_admit(l, &subject, &blame, 1), READER_AVOIDED);
	assert_int_equal(reader_losses_admit(l, &subject, &other, 1), READER_ADMITTED);
	free(l);
}

/* They may be lost, too. */
static void test_calls_that_run_count(void **state)
{
	struct reader_losses *l = calloc(1, sizeof(*l));
	struct reader_blame blame = { .who = 1 }, other = { .who = 2 };
	struct reader_running known = { .blame = blame, .is_blamed = true }, unknown = { 0 };
	struct reader_running many[READER_MAX_LOST] = { 0 };
	struct reader_subject lost = on(1), subject = on(1000);

	(void)state;
	assert_non_null(l);
	reader_losses_enter(l, &known);
	(void)reader_losses_add(l, &lost, &blame, 1);
	assert_int_equal(reader_losses_admit(l, &subject, &blame, 1), READER_CROWDED);
	assert_int_equal(reader_losses_admit(l, &subject, &other, 1), READER_ADMITTED);
	/* Of whom nothing is known it may be anybody. */
	reader_losses_enter(l, &unknown);
	reader_losses_leave(l, &known);
	assert_int_equal(reader_losses_admit(l, &subject, &blame, 1), READER_CROWDED);
	reader_losses_leave(l, &unknown);
	assert_int_equal(reader_losses_admit(l, &subject, &blame, 1), READER_ADMITTED);
	for (size_t i = 0; i < READER_MAX_LOST - 1; i++) {
		assert_int_equal(reader_losses_admit(l, &subject, &other, 1), READER_ADMITTED);
		many[i] = (struct reader_running){ .blame = { .who = 100 + i }, .is_blamed = true };
		reader_losses_enter(l, &many[i]);
	}
	assert_int_equal(reader_losses_admit(l, &subject, &other, 1), READER_CROWDED);
	free(l);
}

static void test_patience(void **state)
{
	struct reader_patience p = {
		.most_ns = 100, .least_ns = 2, .share = { .burst_ns = 500, .refill_percent = 5 }
	};
	uint64_t now_ns = 1000;

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(reader_patience_limit(&p, now_ns), 100);
		reader_patience_spend(&p, now_ns, 102);
	}
	assert_int_equal(reader_patience_limit(&p, now_ns), 2);
	/* What is as short as it can be costs nothing, and nothing is owed beyond the bucket. */
	reader_patience_spend(&p, now_ns, 2);
	reader_patience_spend(&p, now_ns, 1000);
	now_ns += 1000;
	assert_int_equal(reader_patience_limit(&p, now_ns), 50);
	now_ns += 100000;
	assert_int_equal(reader_patience_limit(&p, now_ns), 100);
	assert_int_equal(p.share.spent_ns, 0);
}

/* /proc of our own making. */

struct blame_row {
	const char *uids, *cgroup;
};

static struct reader_blame blame_of(const char *root, uint32_t pid, const struct blame_row *row)
{
	_cleanup_free_ char *command = NULL;

	assert_true(asprintf(&command,
			     "mkdir -p %s/%u && printf 'Name:\\tx\\nUid:\\t%s\\n' > %s/%u/status && "
			     "echo '%s' > %s/%u/cgroup",
			     root, pid, row->uids, root, pid, row->cgroup, root, pid) > 0);
	assert_int_equal(system(command), 0);
	return reader_blame_of_process(root, pid);
}

static void test_who_is_to_blame(void **state)
{
	char root[] = "/tmp/xagent-blame-XXXXXX", command[64];
	struct blame_row rows[] = {
		{ "1000\t1000\t1000\t1000", "0::/a" },
		{ "1000\t0\t0\t0", "0::/b" },
		{ "1001\t1001\t1001\t1001", "0::/a" },
		{ "0\t0\t0\t0", "0::/a" },
		{ "0\t0\t0\t0", "0::/b" },
	};
	struct reader_blame b[ARRAY_SIZE(rows)];

	(void)state;
	assert_non_null(mkdtemp(root));
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		b[i] = blame_of(root, i + 1, &rows[i]);
	/* A program with another one's rights is still of who started it. */
	assert_int_equal(b[0].who, b[1].who);
	assert_int_not_equal(b[0].place, b[1].place);
	assert_int_not_equal(b[0].who, b[2].who);
	assert_int_equal(b[0].place, b[2].place);
	assert_int_not_equal(b[3].who, b[4].who);
	assert_int_equal(b[3].who, b[3].place);
	struct reader_blame gone = reader_blame_of_process(root, 77);
	assert_int_not_equal(gone.who, 0);
	assert_int_equal(gone.who, reader_blame_of_process(root, 78).who);
	(void)snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

/* A process that is none of this machine's, so that only its files tell. */
#define NO_PID 5000000

static uint64_t who_has_map(const char *root, const char *map)
{
	const struct blame_row row = { "100000\t100000\t100000\t100000", "0::/a" };
	_cleanup_free_ char *command = NULL;

	(void)blame_of(root, NO_PID, &row);
	assert_true(asprintf(&command, "printf '%s' > %s/%u/uid_map", map, root, NO_PID) > 0);
	assert_int_equal(system(command), 0);
	return reader_blame_of_process(root, NO_PID).who;
}

/* Whoever is mapped there, it is who made the namespace. */
static void test_users_of_a_namespace_are_one(void **state)
{
	char root[] = "/tmp/xagent-blame-XXXXXX", command[64];
	const struct blame_row row = { "1000\t1000\t1000\t1000", "0::/b" };

	(void)state;
	assert_non_null(mkdtemp(root));
	uint64_t user = blame_of(root, NO_PID + 1, &row).who;
	assert_int_equal(who_has_map(root, "         0       1000          1\\n"), user);
	assert_int_equal(who_has_map(root, "0 1000 1\\n1 100000 65536\\n"), user);
	uint64_t of_root = who_has_map(root, "0 0 1\\n");
	assert_int_not_equal(of_root, user);
	assert_int_equal(who_has_map(root, "0 0 1\\n"), of_root);
	assert_int_not_equal(who_has_map(root, ""), user);
	assert_int_not_equal(who_has_map(root, "x y z\\n"), user);
	(void)snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static uint32_t reaped_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return (uint32_t)pid;
}

/* Who ends his processes in time is limited as any other. */
static void test_dead_are_limited_together(void **state)
{
	const struct pipe_ends *p = *state;
	struct reader_subject subject = { .reason = READER_open, .pid = reaped_child() };

	for (subject.start = 1; subject.start <= READER_MAX_LOST_EACH; subject.start++)
		assert_int_equal(run(p->ends[0], &subject), -ETIMEDOUT);
	assert_int_equal(run(-1, &subject), -EHOSTDOWN);
	/* What is for no process at all is not of those. */
	struct reader_subject none = { .reason = READER_file };
	assert_int_equal(run_again(&none), 0);
}

static void test_dead_tell_nothing_of_a_device(void **state)
{
	uint64_t own = reader_blame_of_device(501).who;

	(void)state;
	reader_blame_device(501, reaped_child());
	assert_int_equal(reader_blame_of_device(501).who, own);
	reader_blame_device(501, (uint32_t)getpid());
	assert_int_not_equal(reader_blame_of_device(501).who, own);
}

/* It waits until it is killed. Where there is no such user (a container) it ends, and false is said. */
static bool start_as(uid_t uid, pid_t *ret_pid)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	*ret_pid = fork();
	if (*ret_pid == 0) {
		(void)alarm(60);
		if (setuid(uid) < 0 || write(ready[1], "x", 1) != 1)
			_exit(77);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	bool is_ready = read(ready[0], &byte, 1) == 1;
	(void)close(ready[0]);
	return is_ready;
}

static void end_child(pid_t pid)
{
	int status;

	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* Who opened a file there first does not switch off those of the others. */
static void test_shared_device_is_nobodys(void **state)
{
	uint64_t own = reader_blame_of_device(502).who;
	const uid_t uids[] = { 1001, 1001, 1002 };
	pid_t pids[ARRAY_SIZE(uids)];
	bool is_ready = true;

	(void)state;
	if (geteuid() != 0) {
		print_message("only root has processes of other users\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(uids); i++)
		is_ready = start_as(uids[i], &pids[i]) && is_ready;
	uint64_t user = reader_blame_of_process("/proc", (uint32_t)pids[0]).who;
	uint64_t who[ARRAY_SIZE(uids)];
	for (size_t i = 0; i < ARRAY_SIZE(uids); i++) {
		reader_blame_device(502, (uint32_t)pids[i]);
		reader_blame_device(502, reaped_child());
		who[i] = reader_blame_of_device(502).who;
	}
	reader_blame_device(502, (uint32_t)pids[0]);
	uint64_t at_last = reader_blame_of_device(502).who;
	for (size_t i = 0; i < ARRAY_SIZE(uids); i++)
		end_child(pids[i]);
	if (!is_ready) {
		print_message("no users 1001 and 1002 here\n");
		skip();
	}
	assert_int_equal(who[0], user);
	assert_int_equal(who[1], user);
	assert_int_equal(who[2], own);
	assert_int_equal(at_last, own);
}

static bool write_line(const char *path, const char *line)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
}

static bool write_maps(uid_t uid, gid_t gid)
{
	char users[32], groups[32];

	(void)snprintf(users, sizeof(users), "%u %u 1", uid, uid);
	(void)snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
	return write_line("/proc/self/setgroups", "deny") &&
	       write_line("/proc/self/uid_map", users) && write_line("/proc/self/gid_map", groups);
}

/* A process in a user namespace of its own, which waits until its pipe is closed. */
static pid_t start_in_user_namespace(int ready_fd, int end_fd, bool nested)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	if (unshare(CLONE_NEWUSER) < 0)
		_exit(77);
	/* Who has no number in it may make none below. */
	if (nested && (!write_maps(uid, gid) || unshare(CLONE_NEWUSER) < 0))
		_exit(77);
	(void)!write(ready_fd, "x", 1);
	(void)!read(end_fd, &byte, 1);
	_exit(0);
}

static void test_user_namespaces(void **state)
{
	struct reader_blame ours = reader_blame_of_process("/proc", (uint32_t)getpid());
	struct reader_blame b[2];
	int ready[2], end[2], status;
	char byte;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(ready), 0);
		assert_int_equal(pipe(end), 0);
		pid_t pid = start_in_user_namespace(ready[1], end[0], i == 1);
		(void)close(ready[1]);
		bool is_ready = read(ready[0], &byte, 1) == 1;
		b[i] = reader_blame_of_process("/proc", (uint32_t)pid);
		(void)kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		(void)close(ready[0]);
		(void)close(end[0]);
		(void)close(end[1]);
		if (!is_ready) {
			print_message("no user namespaces here\n");
			skip();
		}
	}
	assert_int_not_equal(b[0].who, 0);
	if (getuid() == 0) {
		/* Each of root's is somebody else: a container. */
		assert_int_not_equal(b[0].who, b[1].who);
		assert_int_not_equal(b[0].who, ours.who);
	} else {
		assert_int_equal(b[0].who, b[1].who);
		assert_int_equal(b[0].who, ours.who);
	}
	assert_int_equal(b[0].place, ours.place);
}

/* Files */

/* On a file system that tells what it has at once, and on one that does not. */
static const char *const directories[] = { "/tmp", "/dev/shm" };

static void test_pread(void **state)
{
	enum { N = 600000 };
	_cleanup_free_ unsigned char *bytes = malloc(N), *read_back = malloc(N + 1);

	(void)state;
	for (size_t i = 0; i < N; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
	for (size_t d = 0; d < ARRAY_SIZE(directories); d++) {
		int fd = open(directories[d], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		if (fd < 0)
			continue;
		assert_int_equal(file_write_fd(fd, bytes, N), 0);
		assert_int_equal(reader_pread(fd, read_back, N + 1, 0), N);
		assert_memory_equal(bytes, read_back, N);
		assert_int_equal(reader_pread(fd, read_back, 10, N - 3), 3);
		assert_memory_equal(bytes + N - 3, read_back, 3);
		assert_int_equal(reader_pread(fd, read_back, 10, N), 0);
		reader_close(fd);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	}
	assert_int_equal(reader_pread(-1, read_back, 1, 0), -EBADF);
	assert_int_equal(reader_get_stats().n_to_close, 0);
}

/* One that is avoided stays open until what was lost is back, and the next one is closed. */
static void test_closed_later(void **state)
{
	const struct pipe_ends *p = *state;
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int other = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 || other < 0) {
		print_message("no O_TMPFILE: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(fstat(fd, &st), 0);
	struct reader_subject subject = on(st.st_dev);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(run(p->ends[0], &subject), -ETIMEDOUT);
	reader_close(fd);
	if (reader_get_stats().n_to_close == 0) {
		print_message("this kernel has RWF_NOWAIT on tmpfs\n");
		skip();
	}
	assert_int_not_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(write(p->ends[1], "x", 1), 1);
	wait_for_n_lost(0);
	reader_close(other);
	assert_int_equal(reader_get_stats().n_to_close, 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* Its memory is freed when a byte came through the second pipe. */
struct held_call {
	struct reader_call call;
	int run_fd;
	int free_fd; /* owned */
};

static atomic_int n_freeing;

static void held_run(struct reader_call *call)
{
	char byte;

	(void)!read(CONTAINER_OF(call, struct held_call, call)->run_fd, &byte, 1);
}

static void held_free(struct reader_call *call)
{
	struct held_call *c = CONTAINER_OF(call, struct held_call, call);
	char byte;

	n_freeing++;
	(void)!read(c->free_fd, &byte, 1);
	reader_close(c->free_fd);
	free(c);
}

static void lose_held(int run_fd, int free_fd, const struct reader_subject *subject)
{
	struct held_call *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	*c = (struct held_call){
		.call = { .run = held_run, .free = held_free }, .run_fd = run_fd, .free_fd = free_fd
	};
	assert_int_equal(reader_run(&c->call, subject), -ETIMEDOUT);
}

/* What it holds may keep it as well. */
static void test_lost_until_it_is_freed(void **state)
{
	const struct pipe_ends *p = *state;
	struct reader_subject subject = on(1);
	uint64_t n_returned = reader_n_returned();
	int hold[2];

	n_freeing = 0;
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	lose_held(p->ends[0], hold[0], &subject);
	assert_int_equal(write(p->ends[1], "x", 1), 1);
	for (int i = 0; i < 5000 && n_freeing == 0; i++)
		(void)usleep(1000);
	assert_int_equal(n_freeing, 1);
	assert_int_equal(reader_get_stats().n_lost, 1);
	assert_int_equal(run(-1, &subject), -EHOSTDOWN);
	assert_int_equal(reader_n_returned(), n_returned);
	assert_int_equal(write(hold[1], "x", 1), 1);
	wait_for_n_lost(0);
	assert_int_equal(reader_n_returned(), n_returned + 1);
	assert_int_equal(run_again(&subject), 0);
	(void)close(hold[1]);
}

/* One that is back is not lost again for what others have left open. */
static void test_reader_closes_its_own_only(void **state)
{
	const struct pipe_ends *p = *state;
	/* procfs does not tell what it has at once. */
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), one[2], two[2], hold[2];
	struct reader_subject a, b = on(2), c = on(3);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	a = on(st.st_dev);
	assert_int_equal(pipe2(one, O_CLOEXEC), 0);
	assert_int_equal(pipe2(two, O_CLOEXEC), 0);
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	assert_int_equal(run(p->ends[0], &a), -ETIMEDOUT);
	reader_close(fd);
	assert_int_equal(reader_get_stats().n_to_close, 1);
	assert_int_equal(run(one[0], &b), -ETIMEDOUT);
	lose_held(two[0], hold[0], &c);
	assert_int_equal(write(hold[1], "x", 1), 1);
	(void)close(one[1]);
	wait_for_n_lost(2);
	(void)close(two[1]);
	wait_for_n_lost(1);
	assert_int_equal(fcntl(hold[0], F_GETFD), -1);
	assert_int_equal(reader_get_stats().n_to_close, 1);
	assert_int_not_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(write(p->ends[1], "x", 1), 1);
	wait_for_n_lost(0);
	reader_close(hold[1]);
	assert_int_equal(reader_get_stats().n_to_close, 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	(void)close(one[0]);
	(void)close(two[0]);
}

static void test_reasons_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < READER_REASON_MAX; i++)
		assert_true(strlen(reader_reason_name(i)) > 0);
	assert_string_equal(reader_reason_name(READER_memory), "memory");
}

struct waiting {
	struct pipe_ends *pipe;
	int n_called;
	int result;
};

/* Nobody else lets the call return. */
static void on_waiting(void *data)
{
	struct waiting *w = data;

	if (++w->n_called == 3)
		assert_int_equal(write(w->pipe->ends[1], "", 1), 1);
}

static void *wait_with_work(void *data)
{
	const struct reader_subject subject = on(1);
	struct waiting *w = data;

	reader_thread_is_patient();
	reader_meanwhile(on_waiting, w);
	w->result = run(w->pipe->ends[0], &subject);
	return NULL;
}

struct busy_call {
	struct reader_call call;
	uint64_t end_ns;
};

static void busy_run(struct reader_call *call)
{
	while (clock_mono_ns() < CONTAINER_OF(call, struct busy_call, call)->end_ns)
		;
}

static void busy_free(struct reader_call *call)
{
	free(call);
}

static void *wait_for_busy(void *data)
{
	const struct reader_subject subject = on(1);
	struct busy_call *c = calloc(1, sizeof(*c));
	int *result = data;

	*c = (struct busy_call){ .call = { .run = busy_run, .free = busy_free },
				 .end_ns = clock_mono_ns() + 300 * NS_PER_MS };
	*result = reader_run(&c->call, &subject);
	if (*result == 0)
		free(c);
	return NULL;
}

/* Nobody keeps it from returning; it has much to do, or has had no CPU for a while. */
static void test_running_is_not_lost(void **state)
{
	pthread_t thread;
	int result = -1;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_busy, &result), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 0);
}

static void test_work_while_it_waits(void **state)
{
	struct waiting w = { .pipe = *state, .result = -1 };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_with_work, &w), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(w.result, 0);
	assert_true(w.n_called >= 3);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_runs),
	FIXTURE_TEST(test_call_within_a_call),
	FIXTURE_TEST(test_child_has_threads_of_its_own),
	FIXTURE_TEST(test_pread),
	FIXTURE_TEST(test_given_up),
	FIXTURE_TEST(test_not_given_up_when_it_has_just_run),
	FIXTURE_TEST(test_closed_later),
	FIXTURE_TEST(test_lost_until_it_is_freed),
	FIXTURE_TEST(test_reader_closes_its_own_only),
	FIXTURE_TEST(test_process_is_told_from_the_next_of_its_pid),
	FIXTURE_TEST(test_two_of_one_user),
	FIXTURE_TEST(test_two_of_one_user_at_once),
	FIXTURE_TEST(test_dead_are_limited_together),
	FIXTURE_TEST(test_many_at_once),
	FIXTURE_TEST(test_readers_come_and_go),
	FIXTURE_TEST(test_all_threads_lost),
	FIXTURE_TEST(test_work_while_it_waits),
	FIXTURE_TEST(test_running_is_not_lost),
	TEST(test_tried_again_later_and_later),
	TEST(test_lost_for_long_is_said),
	TEST(test_blame),
	TEST(test_calls_that_run_count),
	TEST(test_patience),
	TEST(test_users_of_a_namespace_are_one),
	TEST(test_who_is_to_blame),
	TEST(test_dead_tell_nothing_of_a_device),
	TEST(test_shared_device_is_nobodys),
	TEST(test_user_namespaces),
	TEST(test_reasons_have_names),
};

TEST_MAIN(tests)
