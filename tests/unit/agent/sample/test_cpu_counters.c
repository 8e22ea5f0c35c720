/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that are looked at in the middle of a tick. A map of this kernel; skipped where it gives none. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/cpu_counters.h"
#include "agent/util/cpus.h"
#include "tests/support/unit.h"

struct fixture {
	int map_fd;
	struct cpus possible;
	struct wire_counters *values; /* what the program would have written */
	struct cpu_counters *counters;
};

static void set_up(struct fixture *f)
{
	f->map_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "t_counters", 4,
				   sizeof(struct wire_counters), EVENT_MAX, NULL);
	assert_int_equal(cpus_possible(&f->possible), 0);
	f->values = calloc(f->possible.n, sizeof(*f->values));
	assert_non_null(f->values);
}

static void tear_down(struct fixture *f)
{
	cpu_counters_free(f->counters);
	cleanup_close_p(&f->map_fd);
	cpus_fini(&f->possible);
	free(f->values);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct fixture *started(void **state)
{
	struct fixture *f = *state;

	if (f->map_fd < 0) {
		printf("skip: no BPF maps for us: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(cpu_counters_new(f->map_fd, &f->counters), 0);
	return f;
}

static void write_event(struct fixture *f, enum event event)
{
	uint32_t key = event;

	assert_int_equal(bpf_map_update_elem(f->map_fd, &key, f->values, BPF_ANY), 0);
}

static void write_values(struct fixture *f)
{
	write_event(f, EVENT_CPU);
}

static struct wire_counters look(struct fixture *f)
{
	struct wire_counters sum;

	assert_int_equal(cpu_counters_look(f->counters), 0);
	cpu_counters_sum(f->counters, EVENT_CPU, &sum);
	return sum;
}

/* One event in the middle of its program keeps no other from being told. */
static void test_events_are_apart(void **state)
{
	struct fixture *f = started(state);
	struct wire_counters sum;

	f->values[0] = (struct wire_counters){ .ticks = 3, .emitted = 3 };
	write_event(f, EVENT_TRACEPOINT);
	f->values[0] = (struct wire_counters){ .ticks = 9, .emitted = 8 };
	write_event(f, EVENT_CPU);
	sum = look(f);
	assert_int_equal(sum.ticks, 0);
	cpu_counters_sum(f->counters, EVENT_TRACEPOINT, &sum);
	assert_int_equal(sum.ticks, 3);
	assert_true(wire_counters_balance(&sum));
}

static void test_sum_of_all_cpus(void **state)
{
	struct fixture *f = started(state);

	for (size_t i = 0; i < f->possible.n; i++)
		f->values[i] = (struct wire_counters){
			.ticks = 10 + i,
			.emitted = 4,
			.idle = 3,
			.filtered = 2,
			.lost = 1 + i,
			.cold = 1,
		};
	write_values(f);
	struct wire_counters sum = look(f);
	assert_true(wire_counters_balance(&sum));
	assert_int_equal(sum.emitted, 4 * f->possible.n);
	assert_int_equal(sum.cold, f->possible.n);
	for (size_t i = 0; i < f->possible.n; i++)
		assert_int_equal(cpu_counters_of(f->counters, EVENT_CPU, f->possible.ids[i])->ticks,
				 10 + i);
	assert_null(cpu_counters_of(f->counters, EVENT_CPU, CPUS_MAX));
}

/* A CPU that is in the middle of a tick for as long as anybody looks: it keeps what it had, the others go on. */
static void test_torn_cpu_keeps_its_last(void **state)
{
	struct fixture *f = started(state);
	size_t last = f->possible.n - 1;

	f->values[last] = (struct wire_counters){ .ticks = 7, .idle = 7 };
	write_values(f);
	assert_int_equal(look(f).ticks, 7);
	f->values[last] = (struct wire_counters){ .ticks = 8, .idle = 7 };
	if (last > 0)
		f->values[0] = (struct wire_counters){ .ticks = 5, .emitted = 5 };
	write_values(f);
	struct wire_counters sum = look(f);
	assert_true(wire_counters_balance(&sum));
	assert_int_equal(sum.idle, 7);
	assert_int_equal(sum.ticks, last > 0 ? 12 : 7);
	/* What is due by now is not to be compared with what came by then. */
	assert_null(cpu_counters_of(f->counters, EVENT_CPU, f->possible.ids[last]));
	if (last > 0)
		assert_non_null(cpu_counters_of(f->counters, EVENT_CPU, f->possible.ids[0]));
	/* The tick ends. */
	f->values[last].emitted = 1;
	write_values(f);
	sum = look(f);
	assert_int_equal(sum.ticks, last > 0 ? 13 : 8);
	assert_int_equal(sum.emitted, last > 0 ? 6 : 1);
	assert_non_null(cpu_counters_of(f->counters, EVENT_CPU, f->possible.ids[last]));
}

static void test_no_map(void **state)
{
	struct fixture *f = started(state);
	struct cpu_counters *c = NULL;

	assert_int_equal(cpu_counters_new(-1, &c), 0);
	assert_int_equal(cpu_counters_look(c), -EBADF);
	struct wire_counters sum;
	cpu_counters_sum(c, EVENT_CPU, &sum);
	assert_int_equal(sum.ticks, 0);
	cpu_counters_free(c);
	cpu_counters_free(NULL);
	(void)f;
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_sum_of_all_cpus),
	FIXTURE_TEST(test_events_are_apart),
	FIXTURE_TEST(test_torn_cpu_keeps_its_last),
	FIXTURE_TEST(test_no_map),
};

TEST_MAIN(tests)
