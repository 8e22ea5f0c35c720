/* SPDX-License-Identifier: Apache-2.0 */
/* Timer ticks that run the smallest of programs, and CPUs that go and come. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sample/tick.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/spin.h"

#define HOTPLUG "/sys/devices/system/cpu/cpu1/online"

struct fixture {
	int runs_fd;
	int prog_fd;
	struct cpus cpus;
	struct ticks *ticks;
};

/* runs++; return 0; */
static int load_program(int runs_fd)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = runs_fd },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "t_tick", "GPL", insns, ARRAY_SIZE(insns),
			     NULL);
}

static void set_up(struct fixture *f)
{
	f->runs_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_runs", 4, 8, 1, NULL);
	f->prog_fd = load_program(f->runs_fd);
	assert_int_equal(cpus_online(&f->cpus), 0);
}

static void tear_down(struct fixture *f)
{
	ticks_free(f->ticks);
	cpus_fini(&f->cpus);
	cleanup_close_p(&f->prog_fd);
	cleanup_close_p(&f->runs_fd);
}

FIXTURE(struct fixture, set_up, tear_down)

/* Attached to all CPUs. */
static struct fixture *started(void **state)
{
	struct fixture *f = *state;
	int r = f->prog_fd < 0 ? f->prog_fd : ticks_new(f->prog_fd, 100, &f->cpus, &f->ticks);

	if (r == -EPERM || r == -EACCES) {
		printf("skip: no programs or perf events for us: %s\n", strerror(-r));
		skip();
	}
	assert_int_equal(r, 0);
	return f;
}

static size_t n_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static void test_one_a_cpu(void **state)
{
	struct fixture *f = started(state);

	assert_int_equal(ticks_n_cpus(f->ticks), f->cpus.n);
	assert_int_equal(ticks_sync(f->ticks, &f->cpus), 0);
	assert_int_equal(ticks_n_cpus(f->ticks), f->cpus.n);
}

static void test_sync_lets_go_and_starts(void **state)
{
	struct fixture *f = started(state);
	struct cpus none = { 0 };
	size_t n_fds = n_open_fds();

	assert_int_equal(ticks_sync(f->ticks, &none), 0);
	assert_int_equal(ticks_n_cpus(f->ticks), 0);
	assert_int_equal(n_open_fds(), n_fds - f->cpus.n);
	assert_int_equal(ticks_set_hz(f->ticks, 50), 0);
	assert_int_equal(ticks_sync(f->ticks, &f->cpus), 0);
	assert_int_equal(ticks_n_cpus(f->ticks), f->cpus.n);
	assert_int_equal(n_open_fds(), n_fds);
}

/* Gone between the look at the list and the call: not an error. */
static void test_cpu_that_is_not_there(void **state)
{
	struct fixture *f = started(state);
	unsigned int ids[] = { f->cpus.ids[0], CPUS_MAX - 1 };
	struct cpus cpus = { .ids = ids, .n = 2 };
	int r = ticks_sync(f->ticks, &cpus);

	/* Beyond the kernel's own limit it is an invalid argument. */
	if (r == -EINVAL)
		return;
	assert_int_equal(r, 0);
	assert_int_equal(ticks_n_cpus(f->ticks), 1);
}

static void test_set_hz_replaces(void **state)
{
	struct fixture *f = started(state);
	size_t n_fds = n_open_fds();

	assert_int_equal(ticks_set_hz(f->ticks, 500), 0);
	assert_int_equal(ticks_n_cpus(f->ticks), f->cpus.n);
	assert_int_equal(n_open_fds(), n_fds);
	/* A rate that is refused leaves everything as it was. */
	assert_int_equal(ticks_set_hz(f->ticks, 2000000000), -EINVAL);
	assert_int_equal(ticks_n_cpus(f->ticks), f->cpus.n);
	assert_int_equal(n_open_fds(), n_fds);
}

static void test_no_program(void **state)
{
	struct fixture *f = started(state);
	struct ticks *t = NULL;
	size_t n_fds = n_open_fds();

	assert_true(ticks_new(-1, 100, &f->cpus, &t) < 0);
	assert_null(t);
	assert_int_equal(n_open_fds(), n_fds);
	ticks_free(NULL);
}

static void set_online(const char *text)
{
	_cleanup_close_ int fd = open(HOTPLUG, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, 1), 0);
}

static void sync_to_online(struct fixture *f)
{
	cpus_fini(&f->cpus);
	assert_int_equal(cpus_online(&f->cpus), 0);
	assert_int_equal(ticks_sync(f->ticks, &f->cpus), 0);
	assert_int_equal(ticks_n_cpus(f->ticks), f->cpus.n);
}

static bool hotplug_is_possible(const struct cpus *online)
{
	_cleanup_close_ int fd = open(HOTPLUG, O_WRONLY | O_CLOEXEC);

	/* The same value again: refused where the file is only for show. */
	if (fd >= 0 && cpus_has(online, 1) && file_write_fd(fd, "1", 1) == 0)
		return true;
	printf("skip: CPU 1 cannot be taken offline here (%s)\n", HOTPLUG);
	return false;
}

static void test_hotplug(void **state)
{
	struct fixture *f = started(state);
	size_t n = f->cpus.n;

	if (!hotplug_is_possible(&f->cpus))
		skip();
	set_online("0");
	/* It comes back whatever is found here. */
	int r = ticks_set_hz(f->ticks, 200);
	cpus_fini(&f->cpus);
	int r_cpus = cpus_online(&f->cpus);
	int r_sync = ticks_sync(f->ticks, &f->cpus);
	size_t n_without = ticks_n_cpus(f->ticks);
	bool has = cpus_has(&f->cpus, 1);
	set_online("1");
	/* A CPU that went before anybody noticed does not keep the others from their new rate. */
	assert_int_equal(r, 0);
	assert_int_equal(r_cpus, 0);
	assert_int_equal(r_sync, 0);
	assert_false(has);
	assert_int_equal(n_without, n - 1);
	sync_to_online(f);
	assert_int_equal(ticks_n_cpus(f->ticks), n);
}

static uint64_t n_runs(const struct fixture *f)
{
	uint32_t zero = 0;
	uint64_t n = 0;

	assert_int_equal(bpf_map_lookup_elem(f->runs_fd, &zero, &n), 0);
	return n;
}

/* An idle CPU need not tick at all. */
static void spin_on(unsigned int cpu)
{
	cpu_set_t old, one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	spin_cpu_ms(200);
	assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
}

/* Off and on between two looks, as by suspend: the CPU is in every list, its event is dead. */
static void test_back_before_anybody_noticed(void **state)
{
	struct fixture *f = started(state);
	unsigned int id = 1;
	struct cpus one = { &id, 1 };

	if (!hotplug_is_possible(&f->cpus))
		skip();
	/* The others are let go, so that all runs are this CPU's. */
	assert_int_equal(ticks_sync(f->ticks, &one), 0);
	set_online("0");
	set_online("1");
	/* The first look still sees the time before it went. */
	assert_int_equal(ticks_sync(f->ticks, &one), 0);
	assert_int_equal(ticks_sync(f->ticks, &one), 0);
	assert_int_equal(ticks_n_cpus(f->ticks), 1);
	uint64_t before = n_runs(f);
	spin_on(id);
	assert_true(n_runs(f) > before);
}

static uint64_t n_due(const struct fixture *f)
{
	uint64_t n = 0;

	ticks_look(f->ticks);
	for (size_t i = 0; i < f->cpus.n; i++)
		n += ticks_n_due(f->ticks, f->cpus.ids[i]);
	return n;
}

/* Bounds of n, what was due on all CPUs: `outer` began before and ended after, `inner` the other way round; n_events on each CPU. */
static void check_due(const struct fixture *f, uint64_t n, uint64_t inner_ns, uint64_t outer_ns,
		      unsigned int hz, uint64_t n_events)
{
	uint64_t period_ns = NS_PER_S / hz;
	uint64_t least = inner_ns / period_ns * f->cpus.n;
	uint64_t slack = 3 * n_events * f->cpus.n;

	assert_true(n <= outer_ns / period_ns * f->cpus.n);
	assert_true(n + slack >= least);
}

static void test_due_follows_the_clock(void **state)
{
	uint64_t before = clock_mono_ns();
	struct fixture *f = started(state);
	uint64_t begun = clock_mono_ns();

	assert_int_equal(ticks_n_due(f->ticks, f->cpus.ids[0]), 0);
	spin_cpu_ms(200);
	uint64_t inner = clock_mono_ns() - begun;
	uint64_t n = n_due(f);
	assert_true(n >= f->cpus.n * (20 - 3));
	check_due(f, n, inner, clock_mono_ns() - before, 100, 1);
	/* What is due stands when nothing is due any more. */
	ticks_stop(f->ticks);
	uint64_t stopped = n_due(f);
	assert_true(stopped >= n);
	spin_cpu_ms(50);
	assert_int_equal(n_due(f), stopped);
	assert_int_equal(ticks_n_cpus(f->ticks), 0);
}

static void test_due_over_rates(void **state)
{
	struct fixture *f = started(state);

	spin_cpu_ms(100);
	uint64_t slow = n_due(f);
	uint64_t before = clock_mono_ns();
	assert_int_equal(ticks_set_hz(f->ticks, 1000), 0);
	uint64_t begun = clock_mono_ns();
	spin_cpu_ms(100);
	uint64_t inner = clock_mono_ns() - begun;
	uint64_t fast = n_due(f) - slow;
	/* The old events ended between the two looks. */
	assert_true(fast + 5 * f->cpus.n >= inner / NS_PER_MS * f->cpus.n);
	assert_true(fast <= ((clock_mono_ns() - before) / NS_PER_MS + 2) * f->cpus.n);
	/* A CPU that appears anew gets the new rate. */
	struct cpus none = { 0 };
	assert_int_equal(ticks_sync(f->ticks, &none), 0);
	uint64_t kept = n_due(f);
	assert_true(kept >= slow + fast);
	assert_int_equal(ticks_sync(f->ticks, &f->cpus), 0);
	begun = clock_mono_ns();
	spin_cpu_ms(100);
	inner = clock_mono_ns() - begun;
	assert_true(n_due(f) - kept + 3 * f->cpus.n >= inner / NS_PER_MS * f->cpus.n);
}

/* Nothing is due on a CPU that is not there, though nobody looks when it goes. */
static void test_nothing_is_due_offline(void **state)
{
	uint64_t before = clock_mono_ns();
	struct fixture *f = started(state);

	if (!hotplug_is_possible(&f->cpus))
		skip();
	set_online("0");
	uint64_t gone = clock_mono_ns();
	spin_cpu_ms(300);
	/* All its life lies before this look. */
	ticks_look(f->ticks);
	uint64_t n = ticks_n_due(f->ticks, 1);
	spin_cpu_ms(100);
	ticks_look(f->ticks);
	uint64_t later = ticks_n_due(f->ticks, 1);
	set_online("1");
	assert_true(n <= (gone - before) / (10 * NS_PER_MS));
	assert_int_equal(later, n);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_one_a_cpu),
	FIXTURE_TEST(test_sync_lets_go_and_starts),
	FIXTURE_TEST(test_cpu_that_is_not_there),
	FIXTURE_TEST(test_set_hz_replaces),
	FIXTURE_TEST(test_no_program),
	FIXTURE_TEST(test_hotplug),
	FIXTURE_TEST(test_back_before_anybody_noticed),
	FIXTURE_TEST(test_due_follows_the_clock),
	FIXTURE_TEST(test_due_over_rates),
	FIXTURE_TEST(test_nothing_is_due_offline),
};

TEST_MAIN(tests)
