/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel half on this kernel: really loaded, attached and read. Skipped where the machine refuses. */
#include <dirent.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "agent/sample/event.h"
#include "agent/sample/sampler.h"
#include "agent/util/log.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/spin.h"
#include "tests/unit/agent/sample/refused.h"

/* What came out of the ring. */
struct seen {
	uint64_t n;
	uint64_t n_mine; /* of the process looked for */
	uint64_t n_other_cpu;
	uint64_t n_with_kernel;
	uint64_t n_with_user;
	uint64_t n_mine_with_user;
	uint64_t n_user_unwound;
	uint64_t n_disordered; /* times that no clock shows */
	uint64_t n_late;       /* of after not_before_ns */
	uint32_t pid;
	uint32_t exec_id; /* of its last sample */
	unsigned int cpu;
	uint64_t not_before_ns;
};

struct fixture {
	struct sampler_options options;
	struct telemetry *telemetry;
	struct sampler *sampler;
	struct seen seen;
};

static void set_up(struct fixture *f)
{
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	f->options = SAMPLER_OPTIONS_INIT;
	f->options.telemetry = f->telemetry;
	f->seen.pid = (uint32_t)getpid();
	f->seen.not_before_ns = clock_mono_ns();
}

static void tear_down(struct fixture *f)
{
	sampler_free(f->sampler);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

/* Loads and attaches with the fixture's options. A seccomp filter or an LSM says EPERM; the verifier, whose refusals are bugs, EACCES. */
static void start(struct fixture *f)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int r = sampler_new(&f->options, &why, &f->sampler);

	if (r == 0)
		r = sampler_start(f->sampler, &why);
	if (r == -EPERM) {
		printf("skip: %s\n", buf_str(&why));
		buf_fini(&why); /* skip() leaves by longjmp */
		skip();
	}
	if (r < 0)
		fail_msg("%s", buf_str(&why));
	assert_string_equal(buf_str(&why), "");
}

static void on_sample(const struct sample *sample, void *data)
{
	struct seen *seen = data;

	seen->n++;
	seen->n_mine += sample->head->pid == seen->pid;
	seen->n_other_cpu += sample->head->cpu != seen->cpu;
	seen->n_with_kernel += sample->head->n_kernel > 0;
	seen->n_with_user += sample->head->n_user > 0;
	seen->n_mine_with_user += sample->head->pid == seen->pid && sample->head->n_user > 0;
	seen->n_user_unwound += sample->user_unwound != NULL;
	seen->n_disordered += sample->head->time_ns < seen->not_before_ns ||
			      sample->head->time_ns > clock_mono_ns();
}

static void read_all(struct fixture *f)
{
	assert_int_equal(sampler_read(f->sampler, 0, on_sample, &f->seen, NULL), 0);
}

static struct wire_counters counters_of(struct sampler *s)
{
	struct wire_counters c[EVENT_MAX];

	assert_int_equal(sampler_counters(s, c), 0);
	return c[EVENT_CPU];
}

static void check_accounting(const struct wire_counters *c)
{
	assert_int_equal(c->ticks, c->emitted + c->idle + c->filtered + c->lost);
}

static void test_ticks_arrive(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	start(f);
	assert_int_equal(sampler_hz(f->sampler), SAMPLER_DEFAULT_HZ);
	spin_cpu_ms(300);
	read_all(f);
	/* 29 are due. */
	assert_true(f->seen.n_mine >= 10);
	assert_true(f->seen.n_with_user >= 10);
	assert_int_equal(f->seen.n_disordered, 0);
	/* Nobody has published tables: each of ours is unwound in user space until the ring fills. */
	assert_true(f->seen.n_user_unwound >= 10);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_samples_received), f->seen.n);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_samples_dropped_malformed), 0);
	struct wire_counters c = counters_of(f->sampler);
	/* Of a process that is not known the leaf alone is sent. */
	assert_true(c.raw_frames > 0);
	assert_int_equal(c.fp_frames + c.cfi_frames, 0);
}

static void test_every_tick_is_accounted_for(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	f->options.hz = 997;
	start(f);
	spin_cpu_ms(200);
	read_all(f);
	spin_cpu_ms(100);
	sampler_stop(f->sampler);
	struct wire_counters c = counters_of(f->sampler);
	read_all(f);
	check_accounting(&c);
	assert_true(c.emitted > 0);
	assert_int_equal(c.lost, 0);
	assert_int_equal(c.emitted, f->seen.n);
	/* It is stopped indeed. */
	spin_cpu_ms(50);
	struct wire_counters later = counters_of(f->sampler);
	assert_int_equal(later.ticks, c.ticks);
}

#define N_LOOKS 1000

static void no_counter_goes_back(const struct wire_counters *before,
				 const struct wire_counters *now)
{
#define CHECK(name, text) assert_true(now->name >= before->name);
	WIRE_COUNTERS(CHECK)
#undef CHECK
}

/* Every look balances, though most of the time a tick is under way somewhere: walks of unknown processes copy their stacks. */
static void test_looks_in_the_middle_of_ticks(void **state)
{
	struct fixture *f = *state;
	struct wire_counters before = { 0 };

	if (refused())
		skip();
	f->options.hz = 5000;
	start(f);
	pid_t child = spin_child_start();
	for (unsigned int i = 0; i < N_LOOKS; i++) {
		struct wire_counters c = counters_of(f->sampler);

		check_accounting(&c);
		no_counter_goes_back(&before, &c);
		before = c;
		spin_cpu_ms(1);
		if (i % 16 == 0)
			read_all(f);
	}
	spin_child_end(child);
	assert_true(before.ticks >= N_LOOKS);
}

/* The largest value of a hash map (KMALLOC_MAX_SIZE, less what the element takes): its copy takes the kernel longer than a tick, and no other BPF
 * program is run on the CPU meanwhile. */
#define BIG_BYTES ((size_t)3 << 20)

static void update_big_map(int map_fd, const void *value, uint64_t ms)
{
	uint64_t until = clock_mono_ns() + ms * NS_PER_MS;
	uint32_t zero = 0;

	while (clock_mono_ns() < until)
		assert_int_equal(bpf_map_update_elem(map_fd, &zero, value, BPF_ANY), 0);
}

/* ticks + missed is what was due, told by no more than a clock. */
static void test_missed_ticks_are_counted(void **state)
{
	struct fixture *f = *state;
	unsigned int cpu = first_cpu();
	struct cpus cpus = { .ids = &cpu, .n = 1 };
	cpu_set_t old, one;

	if (refused())
		skip();
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	_cleanup_free_ void *value = calloc(1, BIG_BYTES);
	_cleanup_close_ int map_fd =
		bpf_map_create(BPF_MAP_TYPE_HASH, "t_big", 4, (uint32_t)BIG_BYTES, 1, NULL);
	assert_non_null(value);
	assert_true(map_fd >= 0);
	f->options.hz = 997;
	f->options.cpus = &cpus;
	uint64_t before_ns = clock_mono_ns();
	start(f);
	uint64_t begun_ns = clock_mono_ns();
	/* A virtual CPU that was not run for a while counts. */
	uint64_t at_first = sampler_missed(f->sampler);
	update_big_map(map_fd, value, 1000);
	uint64_t missed = sampler_missed(f->sampler);
	uint64_t inner_ns = clock_mono_ns() - begun_ns;
	sampler_stop(f->sampler);
	uint64_t outer_ns = clock_mono_ns() - before_ns;
	assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
	uint64_t ticks = counters_of(f->sampler).ticks;
	uint64_t period_ns = NS_PER_S / 997;
	assert_true(missed >= at_first + 10);
	assert_true(sampler_missed(f->sampler) >= missed);
	missed = sampler_missed(f->sampler);
	assert_true(ticks + missed <= outer_ns / period_ns);
	assert_true(ticks + missed + 3 >= inner_ns / period_ns);
	/* It stands, as everything does. */
	spin_cpu_ms(20);
	assert_int_equal(sampler_missed(f->sampler), missed);
}

static void test_full_ring_is_counted(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	f->options.hz = 5000;
	f->options.ring_bytes = 1;
	start(f);
	for (unsigned int i = 0; i < 20 && counters_of(f->sampler).lost == 0; i++)
		spin_cpu_ms(500);
	sampler_stop(f->sampler);
	struct wire_counters c = counters_of(f->sampler);
	check_accounting(&c);
	assert_true(c.lost > 0);
	assert_true(c.cold_limited > 0);
	read_all(f);
	assert_int_equal(c.emitted, f->seen.n);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_samples_dropped_malformed), 0);
}

/* Samples of ours in so much CPU time. */
static uint64_t mine_in_ms(struct fixture *f, uint64_t ms)
{
	read_all(f);
	uint64_t before = f->seen.n_mine;
	spin_cpu_ms(ms);
	read_all(f);
	return f->seen.n_mine - before;
}

static void test_set_hz(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	f->options.hz = 50;
	start(f);
	uint64_t slow = mine_in_ms(f, 400);
	assert_int_equal(sampler_set_hz(f->sampler, 1000), 0);
	assert_int_equal(sampler_hz(f->sampler), 1000);
	assert_int_equal(sampler_limit_hz(f->sampler, EVENT_CPU), 1000);
	assert_int_equal(sampler_limit_hz(f->sampler, EVENT_TRACEPOINT), 0);
	uint64_t fast = mine_in_ms(f, 400);
	assert_in_range(slow, 5, 60);
	assert_true(fast > 4 * slow);
	sampler_stop(f->sampler);
	struct wire_counters c = counters_of(f->sampler);
	check_accounting(&c);
	/* Without ticks only the number changes. */
	assert_int_equal(sampler_set_hz(f->sampler, 10), 0);
	assert_int_equal(sampler_hz(f->sampler), 10);
}

static void test_subset_of_cpus(void **state)
{
	struct fixture *f = *state;
	unsigned int id = first_cpu();
	struct cpus cpus = { .ids = &id, .n = 1 };
	cpu_set_t before, only;

	if (refused())
		skip();
	f->options.cpus = &cpus;
	f->seen.cpu = id;
	CPU_ZERO(&only);
	CPU_SET(id, &only);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(only), &only), 0);
	start(f);
	spin_cpu_ms(200);
	/* The set is given, so it does not follow what comes online. */
	assert_int_equal(sampler_sync_cpus(f->sampler), 0);
	spin_cpu_ms(100);
	read_all(f);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_true(f->seen.n_mine >= 10);
	assert_int_equal(f->seen.n_other_cpu, 0);
}

static void test_pid_filter(void **state)
{
	struct fixture *f = *state;
	pid_t child;
	uint32_t pid;

	if (refused())
		skip();
	child = spin_child_start();
	assert_true(child > 0);
	pid = (uint32_t)child;
	f->options.pids = &pid;
	f->options.n_pids = 1;
	f->seen.pid = pid;
	start(f);
	for (unsigned int i = 0; i < 100 && f->seen.n_mine < 5; i++) {
		spin_cpu_ms(50);
		read_all(f);
	}
	spin_child_end(child);
	sampler_stop(f->sampler);
	read_all(f);
	struct wire_counters c = counters_of(f->sampler);
	check_accounting(&c);
	assert_true(f->seen.n_mine >= 5);
	assert_int_equal(f->seen.n, f->seen.n_mine);
	assert_true(c.filtered > 0);
}

static void test_tid_filter(void **state)
{
	struct fixture *f = *state;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	if (refused())
		skip();
	f->options.tids = &tid;
	f->options.n_tids = 1;
	start(f);
	spin_cpu_ms(200);
	read_all(f);
	assert_true(f->seen.n_mine >= 5);
	assert_int_equal(f->seen.n, f->seen.n_mine);
}

/* All filters must hold: this thread is not in that process. */
static void test_filters_that_contradict(void **state)
{
	struct fixture *f = *state;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint32_t pid = 1;

	if (refused())
		skip();
	f->options.tids = &tid;
	f->options.n_tids = 1;
	f->options.pids = &pid;
	f->options.n_pids = 1;
	start(f);
	spin_cpu_ms(100);
	read_all(f);
	assert_int_equal(f->seen.n_mine, 0);
	assert_true(counters_of(f->sampler).filtered > 0);
}

static void test_most_filters(void **state)
{
	static uint32_t pids[SAMPLER_MAX_FILTERS];
	struct fixture *f = *state;

	if (refused())
		skip();
	for (uint32_t i = 0; i < SAMPLER_MAX_FILTERS; i++)
		pids[i] = 5000000 + i;
	pids[SAMPLER_MAX_FILTERS - 1] = (uint32_t)getpid();
	f->options.pids = pids;
	f->options.n_pids = SAMPLER_MAX_FILTERS;
	start(f);
	spin_cpu_ms(100);
	read_all(f);
	assert_true(f->seen.n_mine > 0);
	assert_int_equal(f->seen.n, f->seen.n_mine);
}

static void test_too_many_filters(void **state)
{
	static uint32_t pids[SAMPLER_MAX_FILTERS + 1];
	struct fixture *f = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (refused())
		skip();
	for (uint32_t i = 0; i <= SAMPLER_MAX_FILTERS; i++)
		pids[i] = 5000000 + i;
	f->options.pids = pids;
	f->options.n_pids = SAMPLER_MAX_FILTERS + 1;
	assert_true(sampler_new(&f->options, &why, &f->sampler) < 0);
	assert_null(f->sampler);
	assert_true(why.len > 0);
}

static void test_without_user_half(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	f->options.hz = 997;
	f->options.no_user = true;
	start(f);
	/* System calls, so that there is something to see in the kernel. */
	for (uint64_t end = clock_mono_ns() + 300 * NS_PER_MS; clock_mono_ns() < end;)
		(void)syscall(SYS_getppid);
	sampler_stop(f->sampler);
	read_all(f);
	assert_int_equal(f->seen.n_with_user, 0);
	assert_int_equal(f->seen.n_user_unwound, 0);
	assert_int_equal(f->seen.n_with_kernel, f->seen.n);
	struct wire_counters c = counters_of(f->sampler);
	check_accounting(&c);
	assert_true(c.filtered > 0);
}

static void test_without_kernel_half(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	f->options.no_kernel = true;
	start(f);
	spin_cpu_ms(200);
	read_all(f);
	assert_true(f->seen.n_mine >= 5);
	assert_int_equal(f->seen.n_with_kernel, 0);
	/* Others may be in the middle of an exec, and have no stack at all. */
	assert_int_equal(f->seen.n_mine_with_user, f->seen.n_mine);
}

static void test_stop_and_free(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (refused())
		skip();
	sampler_free(NULL);
	assert_int_equal(sampler_new(&f->options, &why, &f->sampler), 0);
	sampler_stop(f->sampler);
	assert_int_equal(sampler_sync_cpus(f->sampler), 0);
	assert_int_equal(counters_of(f->sampler).ticks, 0);
	assert_int_equal(sampler_start(f->sampler, &why), 0);
	sampler_stop(f->sampler);
	sampler_stop(f->sampler);
	/* And again. */
	assert_int_equal(sampler_start(f->sampler, &why), 0);
	spin_cpu_ms(100);
	read_all(f);
	assert_true(f->seen.n_mine > 0);
	sampler_free(TAKE_PTR(f->sampler));
}

static void test_two_at_once(void **state)
{
	struct fixture *f = *state;
	struct fixture other = { .options = f->options, .seen = f->seen };

	if (refused())
		skip();
	assert_int_equal(telemetry_new(&other.telemetry), 0);
	other.options.telemetry = other.telemetry;
	other.options.hz = 499;
	start(f);
	start(&other);
	spin_cpu_ms(200);
	read_all(f);
	read_all(&other);
	assert_true(f->seen.n_mine >= 5);
	assert_true(other.seen.n_mine >= 2 * f->seen.n_mine);
	/* The one goes on when the other is gone. */
	sampler_free(other.sampler);
	telemetry_free(other.telemetry);
	assert_true(mine_in_ms(f, 200) >= 5);
}

static void count_instructions(const char *program, uint64_t instructions, void *data)
{
	assert_string_equal(program, "sample");
	*(uint64_t *)data = instructions;
}

static void test_cost(void **state)
{
	struct fixture *f = *state;
	struct sampler_cost cost;
	uint64_t instructions = 0;

	if (refused())
		skip();
	f->options.verifier_stats = true;
	start(f);
	assert_true(sampler_ring_fd(f->sampler) >= 0);
	assert_int_equal(sampler_cost(f->sampler, &cost), 0);
	/* The ring alone. */
	assert_true(cost.map_bytes > (1 << 19));
	assert_true(cost.prog_bytes > 0);
	sampler_verifier_stats(f->sampler, count_instructions, &instructions);
	/* The verifier's ceiling is a million; we want to stay far away from it. */
	assert_in_range(instructions, 100, 250000);
	printf("verifier: %u instructions processed\n", (unsigned int)instructions);
}

/* The buckets of a filter are there only where it is asked for. */
static void test_no_filter_takes_no_memory(void **state)
{
	struct fixture *f = *state;
	const uint32_t self = (uint32_t)getpid();
	struct sampler_cost without, with;

	if (refused())
		skip();
	start(f);
	assert_int_equal(sampler_cost(f->sampler, &without), 0);
	sampler_free(f->sampler);
	f->sampler = NULL;
	f->options.pids = f->options.tids = &self;
	f->options.n_pids = f->options.n_tids = 1;
	start(f);
	assert_int_equal(sampler_cost(f->sampler, &with), 0);
	assert_true(with.map_bytes >= without.map_bytes + 2 * SAMPLER_MAX_FILTERS * sizeof(void *));
}

static void test_tables(void **state)
{
	struct fixture *f = *state;
	struct sampler_tables maps;

	if (refused())
		skip();
	start(f);
	sampler_tables(f->sampler, &maps);
	assert_true(maps.processes_fd >= 0 && maps.segments_fd >= 0 && maps.objects_fd >= 0);
	assert_int_equal(maps.max_processes, 8192);
	assert_int_equal(maps.max_objects, 4096);
	/* Memory of the program itself. */
	assert_int_equal(*maps.reuse_count, 0);
	*maps.reuse_count = 1;
}

/* We are in the table, with mappings that hold no pc: the walk stops at the leaf, and the agent has to go on from there. */
static void publish_nothing_useful(const struct sampler_tables *maps, uint32_t exec_id)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	const struct wire_mapping mapping = { .begin = 4096, .n_pages = 1 };
	struct wire_process value = {
		.mappings_at = 1, .n_mappings = 1, .generation = 77, .exec_id = exec_id
	};
	uint32_t pid = (uint32_t)getpid();
	uint32_t zero = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(uint32_t), WIRE_SEGMENT_BYTES,
				1, &mmapable);

	assert_true(fd >= 0);
	char *memory = mmap(NULL, WIRE_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(memory != MAP_FAILED);
	memcpy(memory + WIRE_WORD_BYTES, &mapping, sizeof(mapping));
	assert_int_equal(munmap(memory, WIRE_SEGMENT_BYTES), 0);
	assert_int_equal(bpf_map_update_elem(maps->segments_fd, &zero, &fd, BPF_ANY), 0);
	assert_int_equal(bpf_map_update_elem(maps->processes_fd, &pid, &value, BPF_ANY), 0);
	assert_int_equal(close(fd), 0);
}

static void on_any_sample(const struct sample *sample, void *data)
{
	struct seen *seen = data;

	if (sample->head->pid != seen->pid)
		return;
	seen->exec_id = sample->head->exec_id;
	seen->n_mine++;
	/* While the ring is filling there is the leaf alone. */
	seen->n_user_unwound +=
		sample->head->generation == 0 &&
		(sample->user_unwound ||
		 (sample->head->end == STOP_REASON_NO_TABLE && sample->head->n_user == 1));
}

/* As the kernel half tells it of us. */
static uint32_t own_exec_id(struct fixture *f)
{
	for (unsigned int i = 0; i < 100 && f->seen.n_mine == 0; i++) {
		spin_cpu_ms(30);
		assert_int_equal(sampler_read(f->sampler, 0, on_any_sample, &f->seen, NULL), 0);
	}
	assert_true(f->seen.n_mine > 0);
	f->seen.n_mine = f->seen.n_user_unwound = 0;
	return f->seen.exec_id;
}

static void on_known_sample(const struct sample *sample, void *data)
{
	struct seen *seen = data;

	if (sample->head->pid != seen->pid || sample->head->generation == 0)
		return;
	seen->n_mine++;
	assert_int_equal(sample->head->generation, 77);
	assert_int_equal(sample->head->end, STOP_REASON_NO_MAPPING);
	assert_int_equal(sample->head->n_user, 1);
	assert_int_equal(sample->user_frames[0] >> 63, 1);
	seen->n_user_unwound +=
		sample->user_unwound && sample->user_unwound->n_right == 0 &&
		sample->user_unwound->flags & WIRE_USER_UNWOUND_EXACT &&
		(WIRE_FRAME_RAW | sample->user_unwound->regs.pc) == sample->user_frames[0];
}

/* Of samples of after the call each takes longer than the next one needs to come. */
static void on_slow_sample(const struct sample *sample, void *data)
{
	struct seen *seen = data;

	seen->n++;
	if (sample->head->time_ns <= seen->not_before_ns)
		return;
	seen->n_late++;
	assert_in_range(seen->n_late, 0, 50);
	spin_cpu_ms(10);
}

/* What comes while samples are handled is the next call's. */
static void test_reading_has_an_end(void **state)
{
	struct fixture *f = *state;
	uint64_t read_ns;

	if (refused())
		skip();
	start(f);
	assert_int_equal(sampler_set_hz(f->sampler, 997), 0);
	spin_cpu_ms(50);
	for (unsigned int i = 0; i < 20; i++) {
		f->seen.n_late = 0;
		f->seen.not_before_ns = clock_mono_ns();
		assert_int_equal(sampler_read(f->sampler, 0, on_slow_sample, &f->seen, &read_ns),
				 0);
		if (f->seen.n_late)
			assert_in_range(read_ns, f->seen.not_before_ns, clock_mono_ns());
		spin_cpu_ms(5);
	}
	f->seen.n = 0;
	f->seen.not_before_ns = UINT64_MAX;
	assert_int_equal(sampler_read(f->sampler, 1, on_slow_sample, &f->seen, &read_ns), 0);
	assert_int_equal(f->seen.n, 1);
	sampler_stop(f->sampler);
	assert_int_equal(sampler_read(f->sampler, 0, on_any_sample, &f->seen, &read_ns), 0);
	assert_true(read_ns == UINT64_MAX);
}

static void test_walk_of_a_known_process(void **state)
{
	struct fixture *f = *state;
	struct sampler_tables maps;

	if (refused())
		skip();
	start(f);
	sampler_tables(f->sampler, &maps);
	publish_nothing_useful(&maps, own_exec_id(f));
	/* While the ring is filling there are no stack copies. */
	for (unsigned int i = 0; i < 10; i++) {
		spin_cpu_ms(30);
		assert_int_equal(sampler_read(f->sampler, 0, on_known_sample, &f->seen, NULL), 0);
	}
	sampler_stop(f->sampler);
	assert_true(f->seen.n_mine >= 10);
	assert_true(f->seen.n_user_unwound >= 10);
	struct wire_counters c = counters_of(f->sampler);
	check_accounting(&c);
	assert_true(c.mapping_searches >= f->seen.n_mine);
	assert_true(c.raw_frames >= f->seen.n_mine);
	/* Unknown processes were followed by frame pointers, without tables. */
	assert_int_equal(c.cfi_frames, 0);
	assert_int_equal(c.signal_frames, 0);
	assert_int_equal(c.remapped, 0);
}

/* The table of the image before an exec, or after it, is none. */
static void test_table_of_another_image(void **state)
{
	struct fixture *f = *state;
	struct sampler_tables maps;

	if (refused())
		skip();
	start(f);
	sampler_tables(f->sampler, &maps);
	uint32_t exec_id = own_exec_id(f);
	publish_nothing_useful(&maps, exec_id + 1);
	for (unsigned int i = 0; i < 10; i++) {
		spin_cpu_ms(30);
		assert_int_equal(sampler_read(f->sampler, 0, on_any_sample, &f->seen, NULL), 0);
	}
	sampler_stop(f->sampler);
	assert_int_equal(f->seen.exec_id, exec_id);
	assert_true(f->seen.n_mine >= 10);
	assert_int_equal(f->seen.n_user_unwound, f->seen.n_mine);
}

/* Runs until it is told to end: memory of the arena is given out again all the time. */
struct reuser {
	volatile uint64_t *count;
	bool stop;
};

static void *reuse_all_the_time(void *data)
{
	struct reuser *r = data;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED))
		++*r->count;
	return NULL;
}

/* A walk during which that happened throws itself away: the leaf's pc and a stack copy are left. */
static void test_walk_over_replaced_tables(void **state)
{
	struct fixture *f = *state;
	struct sampler_tables maps;
	struct reuser reuser = { .stop = false };
	pthread_t thread;

	if (refused())
		skip();
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		printf("skip: one CPU only\n");
		skip();
	}
	f->options.hz = 997;
	start(f);
	sampler_tables(f->sampler, &maps);
	publish_nothing_useful(&maps, own_exec_id(f));
	reuser.count = maps.reuse_count;
	assert_int_equal(pthread_create(&thread, NULL, reuse_all_the_time, &reuser), 0);
	for (unsigned int i = 0; i < 100 && counters_of(f->sampler).remapped == 0; i++)
		spin_cpu_ms(50);
	__atomic_store_n(&reuser.stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	sampler_stop(f->sampler);
	struct wire_counters c = counters_of(f->sampler);
	check_accounting(&c);
	assert_true(c.remapped > 0);
	assert_true(c.cold >= c.remapped);
}

static void test_sizes(void **state)
{
	struct fixture *f = *state;
	struct sampler_tables maps;
	uint64_t instructions = 0;

	if (refused())
		skip();
	f->options.max_processes = 100;
	f->options.max_objects = 200;
	start(f);
	sampler_tables(f->sampler, &maps);
	assert_int_equal(maps.max_processes, 100);
	assert_int_equal(maps.max_objects, 200);
	/* Not asked for. */
	sampler_verifier_stats(f->sampler, count_instructions, &instructions);
	assert_int_equal(instructions, 0);
}

static void test_rate_the_kernel_refuses(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (refused())
		skip();
	f->options.hz = 2000000000;
	assert_int_equal(sampler_new(&f->options, &why, &f->sampler), 0);
	assert_int_equal(sampler_start(f->sampler, &why), -EINVAL);
	assert_non_null(strstr(buf_str(&why), "refused to attach the sampler"));
}

/* Where the kernel's types cannot be picked out libbpf looks for them: here there is no memory for what is picked. */
static void test_without_picked_types(void **state)
{
	struct fixture *f = *state;
	struct rlimit before;

	if (refused())
		skip();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 16, before.rlim_max }), 0);
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	f->options.verifier_stats = true;
	int r = sampler_new(&f->options, &why, &f->sampler);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, handler);
	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, 0);
	assert_int_equal(sampler_start(f->sampler, &why), 0);
	spin_cpu_ms(100);
	read_all(f);
	assert_true(f->seen.n_mine > 0);
}

/* Descriptors of this process that lead to so many of them. */
static size_t count_bpf(const char *kind)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;
	char to[64];

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		ssize_t length = readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1);

		to[length > 0 ? length : 0] = '\0';
		n += strcmp(to, kind) == 0;
	}
	closedir(dir);
	return n;
}

/* Of events that are off there is no program and no map. */
static void test_events_that_are_off(void **state)
{
	struct fixture *f = *state;

	if (refused())
		skip();
	start(f);
	size_t n_maps = count_bpf("anon_inode:bpf-map");
	assert_int_equal(count_bpf("anon_inode:bpf-prog"), 1);
	for (enum event e = 0; e < EVENT_MAX; e++) {
		if (!event_is_plain(e))
			continue;
		sampler_free(f->sampler);
		f->sampler = NULL;
		f->options.event_hz[e] = 10;
		start(f);
		/* With it there are some. */
		assert_true(count_bpf("anon_inode:bpf-prog") > 1);
		assert_int_equal(sampler_limit_hz(f->sampler, e), 10);
		f->options.event_hz[e] = 0;
	}
	sampler_free(f->sampler);
	f->sampler = NULL;
	start(f);
	assert_int_equal(count_bpf("anon_inode:bpf-prog"), 1);
	assert_int_equal(count_bpf("anon_inode:bpf-map"), n_maps);
	/* As many as the kernel half has, less those of events' own: of waits, of which wall-clock time is made too, there is one. */
	f->options.off_cpu_hz = 10;
	sampler_free(f->sampler);
	f->sampler = NULL;
	start(f);
	assert_int_equal(count_bpf("anon_inode:bpf-map"), n_maps + 1);
	f->options.off_cpu_hz = 0;
	f->options.event_hz[EVENT_LOCKS] = 10;
	sampler_free(f->sampler);
	f->sampler = NULL;
	start(f);
	assert_int_equal(count_bpf("anon_inode:bpf-map"), n_maps + 1);
}

/* The skeleton loader's words are not for the test's reader. */
static int quiet(void **state)
{
	(void)state;
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	return 0;
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_ticks_arrive),
	FIXTURE_TEST(test_every_tick_is_accounted_for),
	FIXTURE_TEST(test_looks_in_the_middle_of_ticks),
	FIXTURE_TEST(test_missed_ticks_are_counted),
	FIXTURE_TEST(test_full_ring_is_counted),
	FIXTURE_TEST(test_set_hz),
	FIXTURE_TEST(test_subset_of_cpus),
	FIXTURE_TEST(test_pid_filter),
	FIXTURE_TEST(test_tid_filter),
	FIXTURE_TEST(test_filters_that_contradict),
	FIXTURE_TEST(test_most_filters),
	FIXTURE_TEST(test_too_many_filters),
	FIXTURE_TEST(test_without_user_half),
	FIXTURE_TEST(test_without_kernel_half),
	FIXTURE_TEST(test_stop_and_free),
	FIXTURE_TEST(test_two_at_once),
	FIXTURE_TEST(test_cost),
	FIXTURE_TEST(test_no_filter_takes_no_memory),
	FIXTURE_TEST(test_tables),
	FIXTURE_TEST(test_reading_has_an_end),
	FIXTURE_TEST(test_walk_of_a_known_process),
	FIXTURE_TEST(test_table_of_another_image),
	FIXTURE_TEST(test_walk_over_replaced_tables),
	FIXTURE_TEST(test_sizes),
	FIXTURE_TEST(test_rate_the_kernel_refuses),
	FIXTURE_TEST(test_without_picked_types),
	FIXTURE_TEST(test_events_that_are_off),
};

TEST_MAIN_WITH(tests, quiet, NULL)
