/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that run full: what becomes of them where there is no more for larger ones. Skips where they may not be opened. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/process/sideband.h"
#include "agent/process/sideband_rings.h"
#include "tests/support/unit.h"

#define MAX_CPUS 2

struct fixture {
	struct sideband_rings rings;
	unsigned int ids[MAX_CPUS];
	struct cpus cpus; /* some of those that this process may run on */
	cpu_set_t all;
};

static void ignore(const void *record, size_t n, void *data)
{
	(void)record;
	(void)n;
	(void)data;
}

static void drain(struct perf_ring *ring, void *data)
{
	(void)perf_ring_read(ring, ignore, data);
}

static void set_up(struct fixture *f)
{
	bool missed;

	f->cpus.ids = f->ids;
	assert_int_equal(sched_getaffinity(0, sizeof(f->all), &f->all), 0);
	for (unsigned int i = 0; i < CPU_SETSIZE && f->cpus.n < MAX_CPUS; i++)
		if (CPU_ISSET(i, &f->all))
			f->ids[f->cpus.n++] = i;
	f->rings = (struct sideband_rings){ .ring_bytes = (size_t)sysconf(_SC_PAGESIZE),
					    .max_grown_bytes = SIDEBAND_GROWN_BYTES,
					    .drain = drain };
	assert_int_equal(sideband_rings_init(&f->rings), 0);
	int r = sideband_rings_sync(&f->rings, &f->cpus, &missed);
	if (r < 0)
		print_message("skip: perf_event_open: %s (needs CAP_PERFMON or root)\n",
			      strerror(-r));
}

static void tear_down(struct fixture *f)
{
	sideband_rings_fini(&f->rings);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct perf_ring *ring_of(const struct fixture *f, size_t i)
{
	for (size_t at = 0; at < f->rings.n; at++)
		if (perf_ring_cpu(f->rings.items[at]) == f->ids[i])
			return f->rings.items[at];
	fail();
	return NULL;
}

/* By renaming itself there. The kernel tells that a ring was full with the next record. */
static void fill(const struct fixture *f, size_t i)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(f->ids[i], &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (int n = 0; n < 2; n++) {
		for (size_t left = f->rings.ring_bytes / 16; left > 0; left--)
			(void)prctl(PR_SET_NAME, "rings");
		drain(ring_of(f, i), NULL);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(f->all), &f->all), 0);
	assert_true(perf_ring_was_full(ring_of(f, i)));
}

static bool sync_missed(struct fixture *f)
{
	bool missed = false;

	assert_int_equal(sideband_rings_sync(&f->rings, &f->cpus, &missed), 0);
	return missed;
}

/* So many bytes may be mapped beyond what is. */
static struct rlimit limit_memory(size_t n_bytes)
{
	struct rlimit before;
	unsigned long n_pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%lu", &n_pages), 1);
	(void)fclose(statm);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	struct rlimit now = { .rlim_cur = n_pages * (rlim_t)sysconf(_SC_PAGESIZE) + n_bytes,
			      .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_AS, &now), 0);
	return before;
}

/* What is short at one moment is not for good. */
static void test_no_memory_for_a_while(void **state)
{
	struct fixture *f = *state;

	if (f->rings.n == 0)
		skip();
	fill(f, 0);
	struct rlimit before = limit_memory(SIDEBAND_GROWN_BYTES / 2);
	bool missed = sync_missed(f);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_true(missed);
	assert_int_equal(perf_ring_bytes(ring_of(f, 0)), f->rings.ring_bytes);
	/* It was replaced, and is full again. */
	assert_false(sync_missed(f));
	fill(f, 0);
	assert_true(sync_missed(f));
	assert_int_equal(perf_ring_bytes(ring_of(f, 0)), SIDEBAND_GROWN_BYTES);
	assert_int_equal(f->rings.grown_bytes, SIDEBAND_GROWN_BYTES);
}

/* Nobody gives way where the place would not be enough for who wants to grow. */
static void test_no_more_is_allowed(void **state)
{
	struct fixture *f = *state;

	if (f->rings.n < 2) {
		print_message("skip: one CPU\n");
		skip();
	}
	fill(f, 0);
	assert_true(sync_missed(f));
	struct perf_ring *grown = ring_of(f, 0);
	assert_int_equal(perf_ring_bytes(grown), SIDEBAND_GROWN_BYTES);
	f->rings.max_grown_bytes = 0;
	fill(f, 1);
	assert_false(sync_missed(f));
	assert_int_equal(perf_ring_bytes(ring_of(f, 0)), SIDEBAND_GROWN_BYTES);
	assert_int_equal(perf_ring_bytes(ring_of(f, 1)), f->rings.ring_bytes);
	/* Where it is: who grew gives it up, and that is told. */
	f->rings.max_grown_bytes = SIDEBAND_GROWN_BYTES;
	assert_true(sync_missed(f));
	assert_int_equal(perf_ring_bytes(ring_of(f, 0)), f->rings.ring_bytes);
	assert_int_equal(perf_ring_bytes(ring_of(f, 1)), SIDEBAND_GROWN_BYTES);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_no_memory_for_a_while),
	FIXTURE_TEST(test_no_more_is_allowed),
};

TEST_MAIN(tests)
