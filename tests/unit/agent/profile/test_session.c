/* SPDX-License-Identifier: Apache-2.0 */
/* A whole session on this kernel: a child that spins is profiled, and every sample is accounted for. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/profile/session.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "tests/support/pprof_check.h"
#include "tests/unit/agent/sample/refused.h"

struct fixture {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct session *session;
	struct labels *labels;
	uint32_t pid;	    /* 0: every process is wanted */
	uint32_t later_pid; /* which is decided later … */
	int later_answer; /* … and becomes this, when the interval has been about to close so often */
	unsigned int n_later;
	unsigned int n_closing;
	unsigned int n_asked; /* about it */
	/* What came out. */
	unsigned int n_intervals;
	uint64_t spread_ns[2]; /* of the first, and the last */
	uint64_t max_spread_ns;
	uint64_t n_samples;
	int64_t total_ns;
	struct buf text;
};

static struct wire_counters counters_of(struct fixture *f)
{
	struct wire_counters by_event[EVENT_MAX];

	assert_int_equal(sampler_counters(session_sampler(f->session), by_event), 0);
	return by_event[EVENT_CPU];
}

static int match(struct process_table *processes, struct process *p, void *data,
		 struct labels **ret_labels)
{
	struct fixture *f = data;

	(void)processes;
	if (f->later_pid && p->pid == f->later_pid) {
		f->n_asked++;
		if (f->n_closing < f->n_later)
			return SESSION_LATER;
		if (f->later_answer == 0)
			*ret_labels = labels_ref(f->labels);
		return f->later_answer;
	}
	if (f->pid && p->pid != f->pid)
		return SESSION_SKIP;
	*ret_labels = labels_ref(f->labels);
	return 0;
}

static void before_close(void *data)
{
	struct fixture *f = data;

	f->n_closing++;
}

static void on_interval(const struct interval *interval, struct build *build, void *data)
{
	struct fixture *f = data;

	f->spread_ns[f->n_intervals > 0] = build->spread_ns;
	f->max_spread_ns = MAX_OF(f->max_spread_ns, build->spread_ns);
	f->n_intervals++;
	assert_int_equal(build->summary.n_samples, interval->n_samples);
	for (const struct built *x = build->first; x; x = x->next) {
		f->n_samples += x->n_samples;
		struct pprof_bytes gz;
		struct pprof_facts facts;

		if (!x->profile) {
			assert_int_equal(buf_append(&f->text, x->bytes, x->n_bytes), 0);
			continue;
		}
		assert_ptr_equal(x->profile->labels, f->labels);
		assert_int_equal(profile_encode(x->profile, FORM_PPROF, &gz), 0);
		assert_null(pprof_check(&gz, (size_t)16 << 20, &facts));
		pprof_bytes_fini(&gz);
		f->total_ns += facts.totals[0];
	}
}

static void set_up(struct fixture *f)
{
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	buf_init(&f->text, (size_t)16 << 20);
	f->labels = make_service("test");
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(worker_new(f->loop, 4, &f->worker), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
}

static void tear_down(struct fixture *f)
{
	session_free(f->session);
	worker_free(f->worker);
	loop_free(f->loop);
	telemetry_free(f->telemetry);
	labels_unref(f->labels);
	buf_fini(&f->text);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct session_options options_of(struct fixture *f)
{
	return (struct session_options){
		.sampler = SAMPLER_OPTIONS_INIT,
		.build = build_profiles,
		.hooks = { .match = match,
			   .before_close = before_close,
			   .on_interval = on_interval,
			   .data = f },
		.loop = f->loop,
		.worker = f->worker,
		.telemetry = f->telemetry,
	};
}

/* EPERM: a seccomp filter or an LSM. */
static void start(struct fixture *f, const struct session_options *o)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int r = session_new(o, &why, &f->session);

	if (r == -EPERM) {
		printf("skip: %s\n", buf_str(&why));
		buf_fini(&why); /* skip() leaves by longjmp */
		skip();
	}
	if (r < 0)
		fail_msg("%s", buf_str(&why));
}

static void run_for_ms(struct fixture *f, uint64_t ms)
{
	for (uint64_t end = clock_mono_ns() + ms * NS_PER_MS; clock_mono_ns() < end;)
		assert_int_equal(loop_run_once(f->loop, 50), 0);
}

/* With a frame of its own, however the tests are compiled. */
#define FRAMED __attribute__((noinline, optimize("no-omit-frame-pointer")))

/* What the child does; its name is looked for. */
static FRAMED void spin_in_the_child(uint64_t ns)
{
	for (uint64_t end = clock_mono_ns() + ns; clock_mono_ns() < end;)
		for (volatile unsigned int i = 0; i < 3000000; i++)
			;
}

static FRAMED pid_t fork_spinning(uint64_t ns)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	spin_in_the_child(ns);
	_exit(0);
}

/* Runs the loop while the child works, and until it has ended. */
static void run_with_child(struct fixture *f, pid_t child)
{
	uint64_t end = clock_mono_ns() + 60 * NS_PER_S;

	while (waitpid(child, NULL, WNOHANG) == 0) {
		assert_true(clock_mono_ns() < end);
		assert_int_equal(loop_run_once(f->loop, 50), 0);
	}
}

static uint64_t count_of(const struct fixture *f, enum telemetry_counter counter)
{
	return telemetry_get(f->telemetry, counter);
}

static void check_accounting(const struct fixture *f)
{
	uint64_t dropped = count_of(f, TELEMETRY_samples_dropped_no_target) +
			   count_of(f, TELEMETRY_samples_dropped_malformed) +
			   count_of(f, TELEMETRY_samples_dropped_memory) +
			   count_of(f, TELEMETRY_samples_dropped_encode);

	assert_int_equal(count_of(f, TELEMETRY_samples_received),
			 count_of(f, TELEMETRY_samples_in_profiles) + dropped +
				 session_n_waiting(f->session));
	assert_int_equal(count_of(f, TELEMETRY_samples_in_profiles), f->n_samples);
}

/* And after the end the kernel half's numbers meet ours. */
static void check_final_accounting(struct fixture *f)
{
	struct wire_counters c;

	check_accounting(f);
	assert_int_equal(session_n_waiting(f->session), 0);
	c = counters_of(f);
	assert_int_equal(c.ticks, c.emitted + c.idle + c.filtered + c.lost);
	assert_int_equal(c.emitted, count_of(f, TELEMETRY_samples_received));
}

static void test_one_child(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	o.interval_ns = 300 * NS_PER_MS;
	start(f, &o);
	pid_t child = fork_spinning(NS_PER_S);
	assert_true(child > 0);
	f->pid = (uint32_t)child;
	pid_t unwanted = fork_spinning(300 * NS_PER_MS);
	assert_true(unwanted > 0);
	run_with_child(f, child);
	run_with_child(f, unwanted);
	check_accounting(f);
	session_stop(f->session);
	check_final_accounting(f);
	/* 97 are due when the machine has nothing else to do. */
	assert_in_range(f->n_samples, 15, 105);
	assert_int_equal(f->total_ns, f->n_samples * (NS_PER_S / SAMPLER_DEFAULT_HZ));
	assert_in_range(f->n_intervals, 3, 1000);
	assert_true(count_of(f, TELEMETRY_samples_dropped_no_target) > 0);
	assert_int_equal(f->spread_ns[0], 0);
	assert_int_equal(f->spread_ns[1], 0);
	assert_int_equal(f->max_spread_ns, 150 * NS_PER_MS);
}

static void test_names_of_a_child(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	o.build = build_folded;
	start(f, &o);
	pid_t child = fork_spinning(500 * NS_PER_MS);
	assert_true(child > 0);
	f->pid = (uint32_t)child;
	run_with_child(f, child);
	/* One interval only, and it is not over. */
	assert_int_equal(f->n_intervals, 0);
	assert_true(session_n_waiting(f->session) > 0);
	session_stop(f->session);
	check_final_accounting(f);
	assert_int_equal(f->n_intervals, 1);
	if (!strstr(buf_str(&f->text), ";spin_in_the_child"))
		fail_msg("not in:\n%s", buf_str(&f->text));
	assert_non_null(strstr(buf_str(&f->text), ";fork_spinning;spin_in_the_child"));
}

/* Tables of what the child runs are loaded while it runs, and the kernel half walks by them. */
static void test_tables_are_loaded(void **state)
{
	struct fixture *f = *state;
	struct wire_counters c;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	start(f, &o);
	pid_t child = fork_spinning(2 * NS_PER_S);
	assert_true(child > 0);
	f->pid = (uint32_t)child;
	run_with_child(f, child);
	session_stop(f->session);
	check_final_accounting(f);
	c = counters_of(f);
	const uint64_t *ends = session_stack_ends(f->session);
	/* At first they are finished by the agent. */
	assert_true(c.cold > 0);
	assert_true(c.cfi_frames > c.cold);
	assert_true(c.window_fills > 0 && c.mapping_searches > 0);
	assert_true(ends[STOP_REASON_ROOT] > f->n_samples / 2);
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 0);
}

/* Reads random bytes for so long, by a worker of io_uring: a thread of the process without any user code. */
static void read_by_a_worker(uint64_t ns)
{
	struct io_uring_params p = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 1, &p);

	if (ring < 0)
		_exit(1);
	char *queue = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
			   PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry = mmap(NULL, sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED,
					  ring, IORING_OFF_SQES);
	static char bytes[1 << 24];
	unsigned int *tail = (unsigned int *)(queue + p.sq_off.tail);
	unsigned int *done = (unsigned int *)(queue + p.cq_off.head);
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	for (uint64_t end = clock_mono_ns() + ns; clock_mono_ns() < end; ++*done) {
		*entry = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
						.flags = IOSQE_ASYNC,
						.fd = fd,
						.addr = (uintptr_t)bytes,
						.len = sizeof(bytes) };
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			_exit(1);
	}
	_exit(0);
}

static void test_worker_in_a_child(void **state)
{
	struct fixture *f = *state;
	int status;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	o.sampler.hz = 999;
	o.build = build_folded;
	start(f, &o);
	pid_t child = fork();
	if (child == 0)
		read_by_a_worker(NS_PER_S);
	assert_true(child > 0);
	f->pid = (uint32_t)child;
	while (waitpid(child, &status, WNOHANG) == 0)
		assert_int_equal(loop_run_once(f->loop, 50), 0);
	session_stop(f->session);
	if (status != 0 || !strstr(buf_str(&f->text), "ret_from_fork"))
		skip(); /* no io_uring for us, or no names of the kernel */
	assert_null(strstr(buf_str(&f->text), "[unknown];ret_from_fork"));
}

static void test_whole_host(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	o.interval_ns = 200 * NS_PER_MS;
	o.sampler.idle = true; /* so that there is something on a quiet host, too */
	start(f, &o);
	run_for_ms(f, 500);
	session_stop(f->session);
	check_final_accounting(f);
	assert_true(f->n_samples > 0);
	assert_int_equal(count_of(f, TELEMETRY_samples_dropped_no_target), 0);
	/* Stopped is stopped. */
	unsigned int n = f->n_intervals;
	session_stop(f->session);
	run_for_ms(f, 300);
	assert_int_equal(f->n_intervals, n);
}

/* Until so many intervals have come out; the first one has to wait for the kernel's symbols. */
static void run_until_intervals(struct fixture *f, unsigned int n)
{
	for (uint64_t end = clock_mono_ns() + 60 * NS_PER_S; f->n_intervals < n;) {
		assert_true(clock_mono_ns() < end);
		assert_int_equal(loop_run_once(f->loop, 50), 0);
	}
}

static void change_while_it_runs(struct fixture *f)
{
	run_for_ms(f, 200);
	assert_int_equal(session_set_hz(f->session, SAMPLER_DEFAULT_HZ), 0);
	run_for_ms(f, 200);
	assert_int_equal(f->n_intervals, 0);
	/* What was sampled so far is worth the old period: it goes out by itself. */
	assert_int_equal(session_set_hz(f->session, 499), 0);
	run_until_intervals(f, 1);
	session_set_interval(f->session, 100 * NS_PER_MS);
	session_set_demangle(f->session, DEMANGLE_NONE);
	run_until_intervals(f, 3);
	/* Now nobody is wanted any more. */
	assert_int_equal(count_of(f, TELEMETRY_samples_dropped_no_target), 0);
	f->pid = UINT32_MAX;
	session_rematch(f->session);
	run_until_intervals(f, f->n_intervals + 3);
	assert_true(count_of(f, TELEMETRY_samples_dropped_no_target) > 0);
}

static void test_changes_while_it_runs(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	start(f, &o);
	pid_t child = fork_spinning(120 * NS_PER_S);
	assert_true(child > 0);
	change_while_it_runs(f);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	session_stop(f->session);
	check_final_accounting(f);
}

/* What a process has mapped by now is read again after events were lost, though it is known. */
static void test_lost_events(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	start(f, &o);
	struct process_table *processes = session_processes(f->session);
	pid_t child = fork_spinning(120 * NS_PER_S);
	assert_true(child > 0);
	run_for_ms(f, 500);
	const struct process *p = process_table_find(processes, (uint32_t)child);
	assert_non_null(p);
	assert_non_null(p->mappings);
	uint64_t lost_ns = clock_mono_ns();
	process_table_distrust(processes);
	run_for_ms(f, 500);
	p = process_table_find(processes, (uint32_t)child);
	bool read_again = p && p->maps_read_ns > lost_ns;
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(read_again);
}

/* A child that nobody else is wanted beside, decided at the n-th end of an interval. */
static uint64_t run_undecided(struct fixture *f, unsigned int n_later, int answer)
{
	struct session_options o = options_of(f);

	o.interval_ns = 200 * NS_PER_MS;
	f->pid = UINT32_MAX;
	f->n_later = n_later;
	f->later_answer = answer;
	start(f, &o);
	pid_t child = fork_spinning(500 * NS_PER_MS);
	assert_true(child > 0);
	f->later_pid = (uint32_t)child;
	run_with_child(f, child);
	check_accounting(f);
	session_stop(f->session);
	check_final_accounting(f);
	return f->n_samples;
}

/* No sample is lost until it is known whose they are, over as many intervals as that takes. */
static void test_undecided_is_found(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	assert_in_range(run_undecided(f, 3, 0), 10, 60);
	assert_true(f->n_asked >= 3);
}

static void test_undecided_is_not_wanted(void **state)
{
	struct fixture *f = *state;
	struct wire_counters c;

	if (refused())
		skip();
	assert_int_equal(run_undecided(f, 1, SESSION_SKIP), 0);
	assert_true(count_of(f, TELEMETRY_samples_dropped_no_target) > 0);
	c = counters_of(f);
	assert_true(c.refused > 0);
}

/* Nobody ever says: the end is the last moment. */
static void test_undecided_until_the_end(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	assert_int_equal(run_undecided(f, UINT_MAX, 0), 0);
	assert_in_range(count_of(f, TELEMETRY_samples_dropped_no_target), 10, 1000);
}

/* Who matches nothing costs a tick in the kernel, and comes back when targets change. */
static void test_refused_in_the_kernel(void **state)
{
	struct fixture *f = *state;
	struct wire_counters before, refused_for_a_while;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	o.sampler.hz = 499;
	f->pid = UINT32_MAX;
	start(f, &o);
	pid_t child = fork_spinning(120 * NS_PER_S);
	assert_true(child > 0);
	run_for_ms(f, 300);
	before = counters_of(f);
	run_for_ms(f, 300);
	refused_for_a_while = counters_of(f);
	assert_true(refused_for_a_while.refused > before.refused);
	assert_true(refused_for_a_while.filtered >= refused_for_a_while.refused);
	f->pid = (uint32_t)child;
	session_rematch(f->session);
	run_for_ms(f, 500);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	session_stop(f->session);
	check_final_accounting(f);
	assert_true(f->n_samples > 10);
}

/* Nanoseconds until the first samples have been taken out of the ring of a session that has just begun. */
static uint64_t first_read_after_ns(struct fixture *f)
{
	struct session_options o = options_of(f);

	o.sampler.idle = true;
	start(f, &o);
	uint64_t begin = clock_mono_ns();
	while (session_n_waiting(f->session) == 0 && clock_mono_ns() - begin < NS_PER_S)
		assert_int_equal(loop_run_once(f->loop, 50), 0);
	uint64_t took = clock_mono_ns() - begin;
	session_free(TAKE_PTR(f->session));
	return took;
}

/* At first the ring is read more often: of a few attempts one is not held up by what else this machine does. */
static void test_first_samples_are_read_soon(void **state)
{
	struct fixture *f = *state;
	uint64_t least = UINT64_MAX;

	if (refused())
		skip();
	for (int i = 0; i < 20 && least >= SESSION_DRAIN_NS; i++)
		least = MIN_OF(least, first_read_after_ns(f));
	assert_true(least < SESSION_DRAIN_NS);
}

/* Freed without a word of farewell: what was sampled is delivered all the same. */
static void test_free_stops(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	struct session_options o = options_of(f);
	o.sampler.idle = true;
	start(f, &o);
	run_for_ms(f, 200);
	session_free(TAKE_PTR(f->session));
	assert_int_equal(f->n_intervals, 1);
	assert_true(f->n_samples > 0);
	assert_int_equal(count_of(f, TELEMETRY_samples_in_profiles), f->n_samples);
	session_free(NULL);
}

static void test_failure_is_explained(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (refused())
		skip();
	struct session_options o = options_of(f);
	o.sampler.hz = 2000000000;
	assert_true(session_new(&o, &why, &f->session) < 0);
	assert_null(f->session);
	assert_true(why.len > 0);
	assert_int_equal(f->n_intervals, 0);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_one_child),
	FIXTURE_TEST(test_names_of_a_child),
	FIXTURE_TEST(test_whole_host),
	FIXTURE_TEST(test_changes_while_it_runs),
	FIXTURE_TEST(test_lost_events),
	FIXTURE_TEST(test_undecided_is_found),
	FIXTURE_TEST(test_undecided_is_not_wanted),
	FIXTURE_TEST(test_undecided_until_the_end),
	FIXTURE_TEST(test_refused_in_the_kernel),
	FIXTURE_TEST(test_worker_in_a_child),
	FIXTURE_TEST(test_tables_are_loaded),
	FIXTURE_TEST(test_first_samples_are_read_soon),
	FIXTURE_TEST(test_free_stops),
	FIXTURE_TEST(test_failure_is_explained),
};

TEST_MAIN(tests)
