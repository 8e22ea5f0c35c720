/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer tick in the middle of another event's program: both have their own record, or the tick is counted as lost.
 *
 * The program that is interrupted walks a deep stack of ours by the tables that we have published, and so does the tick; both are compared
 * with the stack that we know, frame by frame. It is another one in each round, and the frames that the kernel half remembers are outdated all
 * the time, so they are written all the time.
 *
 * On this kernel; skips without privilege. Compiled with frame pointers, by which the stack is known.
 */
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
#include "agent/util/user_space.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/nesting.skel.h"
#include "tests/unit/agent/sample/own_text.h"

#define HZ 4999
#define LEVELS 3 /* SCRATCH_MAX_LEVELS */
#define CALLS_A_ROUND 500
#define ENOUGH_NESTED 20
#define CEILING_NS (20 * NS_PER_S)

#define LEAST_DEEP 100
#define DEPTHS 64
#define MAX_FRAMES (LEAST_DEEP + DEPTHS + 64)

#if __has_attribute(noipa)
#define FRAME static __attribute__((noipa))
#else
#define FRAME static __attribute__((noinline))
#endif

struct fixture {
	struct nesting_bpf *bpf;
	struct bpf_link *link;
	struct ticks *ticks;
	struct cpu_counters *counters;
	struct ring_buffer *ring;
	uint32_t pid; /* asked for once: a system call for each record would be a record for each */
	uint64_t n_records[EVENT_MAX];
	uint64_t n_wrong;
	struct own_text text;
	uint32_t exec_id; /* ours, as records tell it */
	bool is_published;
	uint64_t n_rounds;
	uint64_t user_mask;
	/* The stack of this round's calls, as records are to have it. */
	uint64_t frames[MAX_FRAMES];
	uint32_t n_frames;
	uint64_t n_compared[EVENT_MAX];
	uint64_t n_torn;
};

/* ---- a stack that is known ---- */

static uint64_t frame_of(const struct fixture *f, uint64_t pc)
{
	uint64_t off = pc - f->text.begin;

	return off < f->text.n_bytes ? f->text.frame_base + off : WIRE_FRAME_RAW_OF(pc);
}

/* From the frame record of the leaf on, to what called our code. */
static void note_stack(struct fixture *f, const uint64_t *record)
{
	uint64_t frame = 0;

	for (f->n_frames = 1; !(frame & WIRE_FRAME_RAW) && f->n_frames < MAX_FRAMES;
	     f->n_frames++) {
		frame = frame_of(f, (record[1] & f->user_mask) - 1);
		f->frames[f->n_frames] = frame;
		record = (const uint64_t *)record[0];
	}
	assert_true(frame & WIRE_FRAME_RAW);
}

/* getppid(2), and where that was: the address behind the instruction. */
static inline __attribute__((always_inline)) uint64_t call_kernel(void)
{
	uint64_t pc;
#ifdef __x86_64__
	long result;

	__asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
			 : "=a"(result), "=&r"(pc)
			 : "0"(SYS_getppid)
			 : "rcx", "r11", "memory");
#else
	register long call __asm__("x8") = SYS_getppid;
	register long result __asm__("x0");

	__asm__ volatile("adr %1, 1f\n\tsvc #0\n1:"
			 : "=r"(result), "=&r"(pc)
			 : "r"(call)
			 : "memory");
#endif
	(void)result;
	return pc;
}

FRAME void make_calls(struct fixture *f)
{
	note_stack(f, (const uint64_t *)__builtin_frame_address(0));
	for (int i = 0; i < CALLS_A_ROUND; i++) {
		f->frames[0] = frame_of(f, call_kernel() - 1);
		/* In every other round frames are remembered for longer than a call. */
		f->bpf->bss->table_epoch += f->n_rounds & 1;
	}
}

static void descend(struct fixture *f, uint64_t path, uint32_t depth);

/* Each calls the next one itself, and is no copy of another one to the compiler. */
#define STEP(name)                                                        \
	FRAME void name(struct fixture *f, uint64_t path, uint32_t depth) \
	{                                                                 \
		descend(f, path, depth);                                  \
		__asm__ volatile("# " #name);                             \
	}
STEP(step_a)
STEP(step_b)
STEP(step_c)
STEP(step_d)

/* The steps that `path` says, two bits each. */
static inline __attribute__((always_inline)) void descend(struct fixture *f, uint64_t path,
							  uint32_t depth)
{
	static void (*const steps[])(struct fixture *, uint64_t, uint32_t) = { step_a, step_b,
									       step_c, step_d };

	if (depth == 0)
		make_calls(f);
	else
		steps[path & 3](f, path >> 2 | path << 62, depth - 1);
}

FRAME void make_round(struct fixture *f)
{
	f->n_rounds++;
	descend(f, f->n_rounds * 0x9e3779b97f4a7c15ULL,
		LEAST_DEEP + (uint32_t)(f->n_rounds % DEPTHS));
	(void)ring_buffer__consume(f->ring);
}

/* ---- what comes of it ---- */

static bool is_right(const struct fixture *f, const struct wire_sample *head)
{
	bool is_cpu = head->record.event == EVENT_CPU;

	return head->pid == f->pid && head->record.source == (is_cpu ? 0 : 1) &&
	       head->values[0] == (is_cpu ? 1 : 7) &&
	       (is_cpu || (head->n_kernel > 0 && !(head->flags & WIRE_USER_MODE)));
}

/* Ticks come to other code, too: to user code, and to calls of the C library, of which nothing is published. */
static bool is_elsewhere(const struct sample *s)
{
	return s->head->record.event == EVENT_CPU &&
	       (!(s->head->flags & WIRE_IN_SYSCALL) ||
		(s->head->n_user == 1 && s->user_frames[0] & WIRE_FRAME_RAW));
}

static bool has_known_stack(const struct fixture *f, const struct sample *s)
{
	return s->head->generation == 1 && s->head->end == STOP_REASON_NO_MAPPING &&
	       s->head->n_user == f->n_frames &&
	       memcmp(s->user_frames, f->frames, f->n_frames * sizeof(f->frames[0])) == 0;
}

static void compare(struct fixture *f, const struct sample *s)
{
	f->exec_id = s->head->exec_id;
	if (!f->is_published || is_elsewhere(s))
		return;
	f->n_compared[s->head->record.event]++;
	f->n_torn += !has_known_stack(f, s);
}

static int on_record(void *ctx, void *data, size_t n)
{
	struct fixture *f = ctx;
	struct sample s;

	if (sample_parse(data, n, &s) < 0 || !is_right(f, s.head)) {
		f->n_wrong++;
	} else {
		f->n_records[s.head->record.event]++;
		compare(f, &s);
	}
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
	f->bpf->rodata->watched_call = SYS_getppid;
	f->user_mask = user_space_mask();
	f->bpf->rodata->user_mask = f->user_mask;
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

/* By the frame pointer, from all of our code. */
static void publish(struct fixture *f)
{
	const struct wire_rule by_fp = {
		.cfa = WIRE_RULE_OF(RULE_CFA_REG, WIRE_ABI_FP),
		.fp_ra = RULE_FP_CFA | WIRE_RA_CFA_8 << 4,
		.fp_off = -16,
		.cfa_off = 16,
	};
	int objects_fd = bpf_map__fd(f->bpf->maps.objects);
	size_t bytes = bpf_map__max_entries(f->bpf->maps.objects) * sizeof(struct wire_object);

	own_text_init(&f->text, bpf_map__fd(f->bpf->maps.segments));
	struct wire_object *objects =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, objects_fd, 0);
	assert_true(objects != MAP_FAILED);
	own_text_publish_object(&f->text, objects, &by_fp);
	(void)munmap(objects, bytes);
	make_round(f);
	own_text_publish_process(&f->text, bpf_map__fd(f->bpf->maps.processes), 1, f->exec_id);
	(void)ring_buffer__consume(f->ring);
	f->is_published = true;
}

static void close_all(struct fixture *f)
{
	own_text_fini(&f->text);
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

/* Ticks enough have come to the CPU while it was in the other program, as those tell that were refused, and one at least at another time. */
static bool has_refused_enough(struct fixture *f)
{
	return f->n_records[EVENT_CPU] > 0 &&
	       counters_of(f, EVENT_CPU).lost_nested >= ENOUGH_NESTED;
}

FRAME void make_rounds(struct fixture *f, bool until_refused)
{
	uint64_t until_ns = clock_mono_ns() + (until_refused ? CEILING_NS : NS_PER_S);

	do
		make_round(f);
	while (clock_mono_ns() < until_ns && !(until_refused && has_refused_enough(f)));
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
	publish(f);
	make_rounds(f, until_refused);
	(void)bpf_link__destroy(f->link);
	f->link = NULL;
	ticks_stop(f->ticks);
	(void)ring_buffer__consume(f->ring);
}

static void check_accounting(struct fixture *f)
{
	assert_int_equal(f->n_wrong, 0);
	assert_int_equal(f->n_torn, 0);
	for (enum event e = EVENT_CPU; e <= EVENT_TRACEPOINT; e++) {
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

/* With more, each has a record of its own, and a whole stack: what one walks with is not written by the other. */
static void test_with_room(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	run(&f, LEVELS, false);
	check_accounting(&f);
	assert_true(f.n_compared[EVENT_CPU] >= ENOUGH_NESTED);
	assert_true(f.n_compared[EVENT_TRACEPOINT] >= CALLS_A_ROUND);
	assert_int_equal(counters_of(&f, EVENT_CPU).lost_nested, 0);
	assert_int_equal(counters_of(&f, EVENT_TRACEPOINT).lost_nested, 0);
	close_all(&f);
}

static const struct unit_test tests[] = {
	TEST(test_without_room),
	TEST(test_with_room),
};

TEST_MAIN(tests)
