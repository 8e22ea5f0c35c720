/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer tick in the middle of another event's program: both have their own record, or the tick is counted as lost.
 *
 * On this kernel; skips without privilege.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sample/cpu_counters.h"
#include "agent/sample/sample.h"
#include "agent/sample/tick.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/nesting.skel.h"

#define HZ 4999
#define LEVELS 3 /* SCRATCH_MAX_LEVELS */
#define CALLS_A_ROUND 500
#define ENOUGH_NESTED 20
#define CEILING_NS (20 * NS_PER_S)

struct fixture {
	struct nesting_bpf *bpf;
	struct bpf_link *link;
	struct ticks *ticks;
	struct cpu_counters *counters;
	struct ring_buffer *ring;
	uint32_t pid; /* asked for once: a system call for each record would be a record for each */
	uint64_t n_records[EVENT_MAX];
	uint64_t n_wrong;
};

static bool is_right(const struct fixture *f, const struct wire_sample *head)
{
	bool is_cpu = head->record.event == EVENT_CPU;

	return head->pid == f->pid && head->record.source == (is_cpu ? 0 : 1) &&
	       head->values[0] == (is_cpu ? 1 : 7) &&
	       (is_cpu || (head->n_kernel > 0 && !(head->flags & WIRE_USER_MODE)));
}

static int on_record(void *ctx, void *data, size_t n)
{
	struct fixture *f = ctx;
	struct sample s;

	if (sample_parse(data, n, &s) < 0 || !is_right(f, s.head))
		f->n_wrong++;
	else
		f->n_records[s.head->record.event]++;
	return 0;
}

static int load(struct fixture *f, uint32_t levels)
{
	uint8_t one = 1;

	f->pid = (uint32_t)getpid();
	f->bpf = nesting_bpf__open();
	if (!f->bpf)
		return -errno;
	f->bpf->rodata->filter_pids = true;
	/* No stack copies: they fill the ring, and are not what is looked at. */
	f->bpf->rodata->user_unwound_bytes = 0;
	assert_int_equal(bpf_program__set_autoload(f->bpf->progs.sample, true), 0);
	assert_int_equal(bpf_map__set_max_entries(f->bpf->maps.scratch, levels), 0);
	assert_int_equal(bpf_map__set_max_entries(f->bpf->maps.samples, 8 << 20), 0);
	int r = nesting_bpf__load(f->bpf);
	if (r < 0)
		return r;
	return bpf_map_update_elem(bpf_map__fd(f->bpf->maps.wanted_pids), &f->pid, &one, BPF_ANY);
}

static int attach(struct fixture *f)
{
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = cpus_online(&online);

	if (r == 0)
		r = cpu_counters_new(bpf_map__fd(f->bpf->maps.counters), &f->counters);
	if (r == 0)
		r = ticks_new(bpf_program__fd(f->bpf->progs.sample), HZ, &online, &f->ticks);
	f->ring = ring_buffer__new(bpf_map__fd(f->bpf->maps.samples), on_record, f, NULL);
	f->link = bpf_program__attach_raw_tracepoint(f->bpf->progs.probe, "sys_enter");
	return r < 0 ? r : f->ring && f->link ? 0 : -errno;
}

static void close_all(struct fixture *f)
{
	(void)bpf_link__destroy(f->link);
	ticks_free(f->ticks);
	ring_buffer__free(f->ring);
	cpu_counters_free(f->counters);
	nesting_bpf__destroy(f->bpf);
}

static struct wire_counters counters_of(struct fixture *f, enum event event)
{
	struct wire_counters c;

	assert_int_equal(cpu_counters_look(f->counters), 0);
	cpu_counters_sum(f->counters, event, &c);
	return c;
}

/* Until ticks enough have come to the CPU while it was in the other program, as those tell that were refused. */
static void make_calls(struct fixture *f, bool until_refused)
{
	uint64_t until_ns = clock_mono_ns() + (until_refused ? CEILING_NS : NS_PER_S);

	do {
		for (int i = 0; i < CALLS_A_ROUND; i++)
			(void)syscall(SYS_getppid);
		(void)ring_buffer__consume(f->ring);
	} while (clock_mono_ns() < until_ns &&
		 !(until_refused && counters_of(f, EVENT_CPU).lost_nested >= ENOUGH_NESTED));
}

static void run(struct fixture *f, uint32_t levels, bool until_refused)
{
	int r = load(f, levels);

	if (r == 0)
		r = attach(f);
	if (r == -EPERM || r == -EACCES) {
		close_all(f);
		printf("skip: no BPF for us\n");
		skip();
	}
	assert_int_equal(r, 0);
	make_calls(f, until_refused);
	(void)bpf_link__destroy(f->link);
	f->link = NULL;
	ticks_stop(f->ticks);
	(void)ring_buffer__consume(f->ring);
}

static void check_accounting(struct fixture *f)
{
	assert_int_equal(f->n_wrong, 0);
	for (enum event e = 0; e < EVENT_MAX; e++) {
		struct wire_counters c = counters_of(f, e);

		assert_true(wire_counters_balance(&c));
		assert_int_equal(f->n_records[e], c.emitted);
		assert_true(c.emitted > 0);
	}
}

/* With room for one walk the inner event is lost, and said to be. */
static void test_without_room(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	run(&f, 1, true);
	check_accounting(&f);
	assert_true(counters_of(&f, EVENT_CPU).lost_nested >= ENOUGH_NESTED);
	assert_int_equal(counters_of(&f, EVENT_TRACEPOINT).lost_nested, 0);
	close_all(&f);
}

/* With more, each has a record of its own: the outer one's is not overwritten by the inner one's. */
static void test_with_room(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	run(&f, LEVELS, false);
	check_accounting(&f);
	assert_int_equal(counters_of(&f, EVENT_CPU).lost_nested, 0);
	assert_int_equal(counters_of(&f, EVENT_TRACEPOINT).lost_nested, 0);
	close_all(&f);
}

static const struct unit_test tests[] = {
	TEST(test_without_room),
	TEST(test_with_room),
};

TEST_MAIN(tests)
