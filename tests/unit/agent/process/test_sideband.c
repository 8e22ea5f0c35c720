/* SPDX-License-Identifier: Apache-2.0 */
/* The side-band of this kernel. Skips where it may not be opened. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process/sideband.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

#define MAX_SEEN 256

struct seen {
	uint32_t pid; /* of whom events are kept */
	struct process_event events[MAX_SEEN];
	char paths[MAX_SEEN][128];
	size_t n;
	uint64_t last_ns; /* of all processes */
	bool out_of_order;
	uint64_t lost;
	size_t n_losses;  /* events that tell of them */
	uint64_t loss_ns; /* the time of the last one */
	size_t n_forks;	  /* of this process */
};

struct fixture {
	struct telemetry *telemetry;
	struct sideband *sb;
	struct seen seen;
};

static int open_with(struct sideband_options o, struct telemetry *telemetry,
		     struct sideband **ret_sideband)
{
	_cleanup_cpus_ struct cpus online = { 0 };

	assert_int_equal(cpus_online(&online), 0);
	o.cpus = &online;
	o.telemetry = telemetry;
	return sideband_new(&o, ret_sideband);
}

static int open_sideband(struct telemetry *telemetry, size_t ring_bytes,
			 struct sideband **ret_sideband)
{
	return open_with((struct sideband_options){ .ring_bytes = ring_bytes }, telemetry,
			 ret_sideband);
}

static void set_up(struct fixture *f)
{
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	int r = open_sideband(f->telemetry, 0, &f->sb);
	if (r < 0)
		print_message("skip: perf_event_open: %s (needs CAP_PERFMON or root)\n",
			      strerror(-r));
}

static void tear_down(struct fixture *f)
{
	sideband_free(f->sb);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

static void note(const struct process_event *ev, void *data)
{
	struct seen *s = data;

	if (ev->kind == PROCESS_EVENT_LOST) {
		s->n_losses++;
		s->lost += ev->lost;
		s->loss_ns = ev->time_ns;
	}
	s->n_forks += ev->kind == PROCESS_EVENT_FORK && ev->parent_pid == (uint32_t)getpid();
	s->out_of_order = s->out_of_order || ev->time_ns < s->last_ns;
	s->last_ns = ev->time_ns;
	if (ev->pid != s->pid || s->n >= MAX_SEEN)
		return;
	s->events[s->n] = *ev;
	if (ev->path)
		(void)snprintf(s->paths[s->n], sizeof(s->paths[0]), "%s", ev->path);
	s->n++;
}

static const struct process_event *find(const struct seen *s, enum process_event_kind kind,
					const char *path_part)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->events[i].kind == kind && (!path_part || strstr(s->paths[i], path_part)))
			return &s->events[i];
	return NULL;
}

static size_t count(const struct seen *s, enum process_event_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->events[i].kind == kind;
	return n;
}

static void test_fork_exec_exit(void **state)
{
	struct fixture *f = *state;

	if (!f->sb)
		skip();
	uint64_t before = clock_mono_ns();
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	f->seen.pid = (uint32_t)pid;
	sideband_read(f->sb, note, &f->seen);
	uint64_t after = clock_mono_ns();

	const struct process_event *born = find(&f->seen, PROCESS_EVENT_FORK, NULL);
	const struct process_event *exec = find(&f->seen, PROCESS_EVENT_EXEC, NULL);
	const struct process_event *binary = find(&f->seen, PROCESS_EVENT_MMAP, "/true");
	const struct process_event *libc = find(&f->seen, PROCESS_EVENT_MMAP, "libc");
	const struct process_event *end = find(&f->seen, PROCESS_EVENT_EXIT, NULL);
	assert_true(born && exec && binary && libc && end);
	assert_int_equal(born->parent_pid, getpid());
	assert_string_equal(exec->comm, "true");
	assert_int_not_equal(binary->inode, 0);
	assert_true(before < born->time_ns && born->time_ns < exec->time_ns &&
		    exec->time_ns < binary->time_ns && binary->time_ns < libc->time_ns &&
		    libc->time_ns < end->time_ns && end->time_ns < after);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_EXIT), 1);
	assert_false(f->seen.out_of_order);
	assert_int_equal(f->seen.lost, 0);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_sideband_malformed), 0);
}

static void test_mapping_later(void **state)
{
	struct fixture *f = *state;

	if (!f->sb)
		skip();
	f->seen.pid = (uint32_t)getpid();
	/* What dlopen(3) does: a file mapped executable. And what a JIT does. */
	FILE *self = fopen("/proc/self/exe", "re");
	assert_non_null(self);
	void *file = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(self), 0);
	void *jit = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(mprotect(jit, 4096, PROT_READ | PROT_EXEC), 0);
	sideband_read(f->sb, note, &f->seen);
	const struct process_event *ev = find(&f->seen, PROCESS_EVENT_MMAP, "test_sideband");
	assert_non_null(ev);
	assert_int_equal(ev->begin, (uint64_t)(uintptr_t)file);
	assert_int_equal(ev->len, 4096);
	ev = find(&f->seen, PROCESS_EVENT_MMAP, "//anon");
	assert_non_null(ev);
	assert_true(ev->begin <= (uint64_t)(uintptr_t)jit &&
		    ev->begin + ev->len > (uint64_t)(uintptr_t)jit);
	(void)munmap(file, 4096);
	(void)munmap(jit, 4096);
	(void)fclose(self);
}

/* Waits until it is told; ends the thread only: the last one must not run the test program's own end in the child. */
static void *thread_main(void *data)
{
	char byte;

	(void)!read(*(int *)data, &byte, 1);
	(void)syscall(SYS_exit, 0);
	return data;
}

/* Its main thread is left, its process is not. */
static bool is_without_leader(pid_t pid)
{
	char path[64], state = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *stat = fopen(path, "re");
	assert_non_null(stat);
	assert_int_equal(fscanf(stat, "%*d (%*[^)]) %c", &state), 1);
	(void)fclose(stat);
	return state == 'Z';
}

/* The main thread leaves first: one EXIT, after the last thread. */
static void test_leader_leaves(void **state)
{
	struct fixture *f = *state;

	int ends[2];

	if (!f->sb)
		skip();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;

		(void)close(ends[1]);
		for (int i = 0; i < 3; i++)
			(void)pthread_create(&thread, NULL, thread_main, &ends[0]);
		/* Its own stack with `ends` stays. */
		(void)syscall(SYS_exit, 0);
	}
	f->seen.pid = (uint32_t)pid;
	while (!is_without_leader(pid))
		(void)usleep(1000);
	sideband_read(f->sb, note, &f->seen);
	assert_non_null(find(&f->seen, PROCESS_EVENT_FORK, NULL));
	assert_null(find(&f->seen, PROCESS_EVENT_EXIT, NULL));
	(void)close(ends[1]);
	(void)close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sideband_read(f->sb, note, &f->seen);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_FORK), 1);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_EXIT), 1);
}

static void *exec_true(void *data)
{
	execl("/bin/true", "true", (char *)NULL);
	return data;
}

/* An exec by another thread than the leader ends all others, the leader first among them. */
static void test_exec_by_a_thread(void **state)
{
	struct fixture *f = *state;

	if (!f->sb)
		skip();
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;

		(void)pthread_create(&thread, NULL, exec_true, NULL);
		for (;;)
			(void)pause();
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	f->seen.pid = (uint32_t)pid;
	sideband_read(f->sb, note, &f->seen);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_EXIT), 1);
	assert_int_equal(f->seen.events[f->seen.n - 1].kind, PROCESS_EVENT_EXIT);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_EXEC), 1);
}

/* Born before the side-band was there: its threads were not counted. */
static void test_end_of_an_older_process(void **state)
{
	struct fixture *f = *state;
	struct sideband *sb = NULL;

	if (!f->sb)
		skip();
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			(void)pause();
	assert_int_equal(open_sideband(f->telemetry, 0, &sb), 0);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	f->seen.pid = (uint32_t)pid;
	sideband_read(sb, note, &f->seen);
	assert_int_equal(f->seen.n, 0);
	(void)usleep(15000);
	sideband_read(sb, note, &f->seen);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_EXIT), 1);
	sideband_free(sb);
}

static void test_deliver_by_time(void **state)
{
	struct fixture *f = *state;

	if (!f->sb)
		skip();
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	uint64_t between = clock_mono_ns();
	pid_t second = fork();
	if (second == 0)
		_exit(0);
	assert_int_equal(waitpid(second, NULL, 0), second);
	uint64_t now = sideband_collect(f->sb);
	assert_true(now > between);
	f->seen.pid = (uint32_t)second;
	sideband_deliver_until(f->sb, between, note, &f->seen);
	assert_int_equal(f->seen.n, 0);
	assert_true(f->seen.last_ns <= between && f->seen.last_ns > 0);
	sideband_deliver_until(f->sb, now, note, &f->seen);
	assert_int_equal(f->seen.n, 2);
	assert_false(f->seen.out_of_order);
}

/* The n-th of those that we may run on. */
static void pin_to(const cpu_set_t *all, int n)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, all) && n-- == 0)
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void forks_on(int nth_cpu, int n)
{
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	pin_to(&all, nth_cpu);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		(void)waitpid(pid, NULL, 0);
	}
	(void)sched_setaffinity(0, sizeof(all), &all);
}

/* All on one CPU, always the same. */
static void pinned_forks(int n)
{
	forks_on(0, n);
}

/* A ring that is found full may have lost what came next: that is told at the time from which on it may be so. */
static void test_full_ring_is_told_at_once(void **state)
{
	struct fixture *f = *state;
	struct sideband *sb = NULL;

	if (!f->sb)
		skip();
	assert_int_equal(open_sideband(f->telemetry, (size_t)sysconf(_SC_PAGESIZE), &sb), 0);
	sideband_read(f->sb, note, &f->seen);
	assert_int_equal(f->seen.n_losses, 0);
	pinned_forks(300);
	uint64_t now_ns = sideband_collect(sb);
	sideband_deliver_until(sb, now_ns, note, &f->seen);
	assert_in_range(f->seen.n_forks, 1, 299);
	assert_true(f->seen.n_losses > 0);
	assert_true(f->seen.loss_ns < now_ns);
	sideband_free(sb);
}

/* A ring of one page fills: the descriptor wakes us, and what did not fit is told. */
static void test_lost_and_wakeup(void **state)
{
	struct fixture *f = *state;
	struct sideband *sb = NULL;

	if (!f->sb)
		skip();
	assert_int_equal(open_sideband(f->telemetry, (size_t)sysconf(_SC_PAGESIZE), &sb), 0);
	struct pollfd pfd = { .fd = sideband_fd(sb), .events = POLLIN };
	assert_int_equal(poll(&pfd, 1, 0), 0);
	pinned_forks(300);
	assert_int_equal(poll(&pfd, 1, 1000), 1);
	sideband_read(sb, note, &f->seen);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	/* The kernel writes the report with the next record that fits. */
	pinned_forks(4);
	sideband_read(sb, note, &f->seen);
	assert_true(f->seen.lost > 0);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_sideband_lost), f->seen.lost);
	sideband_free(sb);
}

static void sync_cpus(struct sideband *sb)
{
	_cleanup_cpus_ struct cpus online = { 0 };

	assert_int_equal(cpus_online(&online), 0);
	assert_int_equal(sideband_sync_cpus(sb, &online), 0);
}

/* Of as many events as its ring has no room for. */
static uint64_t lost_on(int nth_cpu, struct sideband *sb, struct seen *seen)
{
	uint64_t before = seen->lost;

	forks_on(nth_cpu, 300);
	sideband_read(sb, note, seen);
	forks_on(nth_cpu, 4);
	sideband_read(sb, note, seen);
	return seen->lost - before;
}

static uint64_t lost_of_forks(struct sideband *sb, struct seen *seen)
{
	return lost_on(0, sb, seen);
}

/* The CPU's ring that ran full is replaced, and has room then for what it had none for. */
static void test_ring_that_ran_full_grows(void **state)
{
	struct fixture *f = *state;
	const struct sideband_options o = {
		.ring_bytes = (size_t)sysconf(_SC_PAGESIZE),
		.max_grown_bytes = SIZE_MAX / 2,
	};
	struct sideband *sb = NULL;

	if (!f->sb)
		skip();
	assert_int_equal(open_with(o, f->telemetry, &sb), 0);
	assert_true(lost_of_forks(sb, &f->seen) > 0);
	uint64_t lost = f->seen.lost;
	sync_cpus(sb);
	sideband_read(sb, note, &f->seen);
	/* What happened while it was replaced is missed, too. */
	assert_true(f->seen.lost > lost);
	size_t n_before = f->seen.n_forks;
	pinned_forks(300);
	sideband_read(sb, note, &f->seen);
	assert_int_equal(f->seen.n_forks - n_before, 300);
	sideband_free(sb);
}

/* One CPU after the other: with memory for one larger ring, it is where it was needed last. */
/* One ring grows at a time: where others' programs fill that of another CPU as well, it may be its turn first. */
static bool grows_on(int cpu, struct sideband *sb, struct seen *seen)
{
	size_t n_forks = 0;

	for (int try = 0; try < 5 && n_forks != 300; try++) {
		assert_true(lost_on(cpu, sb, seen) > 0);
		sync_cpus(sb);
		sideband_read(sb, note, seen);
		size_t n_before = seen->n_forks;
		forks_on(cpu, 300);
		sideband_read(sb, note, seen);
		n_forks = seen->n_forks - n_before;
	}
	return n_forks == 300;
}

static void test_larger_ring_goes_where_it_is_needed(void **state)
{
	struct fixture *f = *state;
	const struct sideband_options o = {
		.ring_bytes = (size_t)sysconf(_SC_PAGESIZE),
		.max_grown_bytes = SIDEBAND_GROWN_BYTES,
	};
	struct sideband *sb = NULL;
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (!f->sb || CPU_COUNT(&all) < 2)
		skip();
	assert_int_equal(open_with(o, f->telemetry, &sb), 0);
	for (int i = 0; i < 4; i++)
		assert_true(grows_on(i % 2, sb, &f->seen));
	sideband_free(sb);
}

/* Without memory for it all rings stay as they are, and nothing is missed by trying. */
static void test_no_room_to_grow(void **state)
{
	struct fixture *f = *state;
	const struct sideband_options o = {
		.ring_bytes = (size_t)sysconf(_SC_PAGESIZE),
		.max_grown_bytes = SIDEBAND_GROWN_BYTES - 1,
	};
	struct sideband *sb = NULL;

	if (!f->sb)
		skip();
	assert_int_equal(open_with(o, f->telemetry, &sb), 0);
	assert_true(lost_of_forks(sb, &f->seen) > 0);
	uint64_t lost = f->seen.lost;
	sync_cpus(sb);
	sideband_read(sb, note, &f->seen);
	assert_int_equal(f->seen.lost, lost);
	assert_true(lost_of_forks(sb, &f->seen) > 0);
	sideband_free(sb);
}

#define N_FLOOD 100
#define LIMIT_BYTES 2048

static void map_and_unmap(void)
{
	for (int i = 0; i < N_FLOOD; i++) {
		void *p =
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		(void)munmap(p, 4096);
	}
}

/* Who maps in a loop has what is beyond its share left out, which is told; its birth and its end are not left out. */
static void test_flood_of_mappings(void **state)
{
	struct fixture *f = *state;
	struct sideband *sb = NULL;

	if (!f->sb)
		skip();
	assert_int_equal(open_with((struct sideband_options){ .max_process_bytes = LIMIT_BYTES },
				   f->telemetry, &sb),
			 0);
	pid_t pid = fork();
	if (pid == 0) {
		map_and_unmap();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	f->seen.pid = (uint32_t)pid;
	sideband_read(sb, note, &f->seen);
	size_t n_taken = count(&f->seen, PROCESS_EVENT_MMAP);
	assert_in_range(n_taken, 1, LIMIT_BYTES / 64);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_FORK), 1);
	assert_int_equal(count(&f->seen, PROCESS_EVENT_EXIT), 1);
	/* When the first was left out, and when the last was. */
	assert_int_equal(count(&f->seen, PROCESS_EVENT_FLOOD), 2);
	assert_int_equal(f->seen.events[n_taken + 1].kind, PROCESS_EVENT_FLOOD);
	assert_int_equal(f->seen.events[f->seen.n - 2].kind, PROCESS_EVENT_FLOOD);
	assert_false(f->seen.out_of_order);
	/* Of the whole host: another program may map as much meanwhile. */
	assert_true(telemetry_get(f->telemetry, TELEMETRY_mapping_floods) >= 1);
	assert_true(telemetry_get(f->telemetry, TELEMETRY_sideband_left_out) + n_taken >= N_FLOOD);
	sideband_free(sb);
}

/* Nothing is left out of who came after. */
static void test_flood_of_another(void **state)
{
	struct fixture *f = *state;
	struct sideband *sb = NULL;

	if (!f->sb)
		skip();
	assert_int_equal(open_with((struct sideband_options){ .max_process_bytes = LIMIT_BYTES },
				   f->telemetry, &sb),
			 0);
	map_and_unmap();
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	f->seen.pid = (uint32_t)pid;
	sideband_read(sb, note, &f->seen);
	assert_non_null(find(&f->seen, PROCESS_EVENT_MMAP, "/true"));
	assert_non_null(find(&f->seen, PROCESS_EVENT_MMAP, "libc"));
	assert_int_equal(count(&f->seen, PROCESS_EVENT_FLOOD), 0);
	sideband_free(sb);
}

static void test_cpus_come_and_go(void **state)
{
	struct fixture *f = *state;
	_cleanup_cpus_ struct cpus online = { 0 };
	struct sideband *sb = NULL;
	unsigned int none_ids[1] = { 0 };
	struct cpus none = { none_ids, 0 };

	if (!f->sb)
		skip();
	assert_int_equal(cpus_online(&online), 0);
	struct cpus first = { online.ids, 1 };
	assert_int_equal(sideband_new(&(struct sideband_options){ .cpus = &first,
								  .telemetry = f->telemetry },
				      &sb),
			 0);
	assert_int_equal(sideband_sync_cpus(sb, &online), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* What their rings held is not lost with the CPUs. */
	assert_int_equal(sideband_sync_cpus(sb, &none), 0);
	f->seen.pid = (uint32_t)pid;
	sideband_read(sb, note, &f->seen);
	assert_int_equal(f->seen.n, 2);
	assert_int_equal(sideband_sync_cpus(sb, &online), 0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	f->seen.pid = (uint32_t)pid;
	sideband_read(sb, note, &f->seen);
	assert_int_equal(f->seen.n, 4);
	sideband_free(sb);
}

static bool toggle_cpu1(void)
{
	static const char path[] = "/sys/devices/system/cpu/cpu1/online";
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		return false;
	assert_int_equal(write(fd, "1", 1), 1);
	return true;
}

static pid_t fork_on_cpu1(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	return pid;
}

/* Off and on between two looks, as by suspend: its event is dead, and something was missed. */
static void test_cpu_back_before_anybody_noticed(void **state)
{
	struct fixture *f = *state;
	_cleanup_cpus_ struct cpus online = { 0 };

	assert_int_equal(cpus_online(&online), 0);
	if (!f->sb || !cpus_has(&online, 1))
		skip();
	assert_int_equal(sideband_sync_cpus(f->sb, &online), 0);
	if (!toggle_cpu1())
		skip();
	assert_int_equal(sideband_sync_cpus(f->sb, &online), 0);
	assert_int_equal(sideband_sync_cpus(f->sb, &online), 0);
	f->seen.pid = (uint32_t)fork_on_cpu1();
	sideband_read(f->sb, note, &f->seen);
	assert_int_equal(f->seen.n, 2);
	assert_true(f->seen.lost > 0);
}

static void test_bad_options(void **state)
{
	struct fixture *f = *state;
	struct sideband *sb = NULL;
	unsigned int far_ids[1] = { CPUS_MAX - 1 };
	struct cpus far = { far_ids, 1 };

	assert_int_equal(open_sideband(f->telemetry, 100, &sb), -EINVAL);
	assert_int_equal(open_sideband(f->telemetry, 3 * 4096, &sb), -EINVAL);
	if (!f->sb)
		skip();
	assert_int_equal(
		sideband_new(&(struct sideband_options){ .cpus = &far, .telemetry = f->telemetry },
			     &sb) < 0,
		1);
	assert_null(sb);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_fork_exec_exit),
	FIXTURE_TEST(test_mapping_later),
	FIXTURE_TEST(test_leader_leaves),
	FIXTURE_TEST(test_exec_by_a_thread),
	FIXTURE_TEST(test_end_of_an_older_process),
	FIXTURE_TEST(test_deliver_by_time),
	FIXTURE_TEST(test_full_ring_is_told_at_once),
	FIXTURE_TEST(test_lost_and_wakeup),
	FIXTURE_TEST(test_ring_that_ran_full_grows),
	FIXTURE_TEST(test_larger_ring_goes_where_it_is_needed),
	FIXTURE_TEST(test_no_room_to_grow),
	FIXTURE_TEST(test_flood_of_mappings),
	FIXTURE_TEST(test_flood_of_another),
	FIXTURE_TEST(test_cpus_come_and_go),
	FIXTURE_TEST(test_cpu_back_before_anybody_noticed),
	FIXTURE_TEST(test_bad_options),
};

TEST_MAIN(tests)
