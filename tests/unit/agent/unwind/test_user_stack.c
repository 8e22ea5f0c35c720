/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to a user stack: warm, raw, stale, cold. */
#include "tests/unit/agent/unwind/make_mappings.h"

#include <string.h>

#include "agent/unwind/user_stack.h"
#include "agent/util/macro.h"

#define FRAME(id, file_off) (((uint64_t)(id) << WIRE_FRAME_OFFSET_BITS) | (file_off))
#define RAW(pc) (WIRE_FRAME_RAW | (pc))
#define REASON(end) (FRAME_END + (uint64_t)WIRE_END_##end)

#define EXE 0x401000ULL	      /* id 1, file offset 0x1000 */
#define LIB 0x7f0000000000ULL /* id 2, file offset 0x8000 */
#define JIT 0x7e0000000000ULL
#define NOWHERE 0x666000ULL
#define STACK 0x7ffd00001000ULL
#define CHANGED_NS 5000

struct fixture {
	struct file_table *files;
	struct telemetry *telemetry;
	struct process process;
	struct wire_sample head;
	struct wire_cold cold;
	struct user_stack_input in;
	struct user_stack stack;
};

static int setup(void **state)
{
	static const struct mapping_spec now[] = {
		{ EXE, EXE + 0x10000, 0x1000, 11 },
		{ JIT, JIT + 0x10000, 0, 0 },
		{ LIB, LIB + 0x10000, 0x8000, 22 },
	};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	f->process.mappings = make_mappings(f->files, now, ARRAY_SIZE(now));
	f->process.generation = 4;
	f->head = (struct wire_sample){ .generation = 4, .time_ns = 9000, .end = WIRE_END_ROOT };
	f->in.head = &f->head;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	mappings_unref(f->process.mappings);
	mappings_unref(f->process.previous_mappings);
	file_table_free(f->files);
	telemetry_free(f->telemetry);
	free(f);
	return 0;
}

static void give_frames(struct fixture *f, const uint64_t *frames, size_t n)
{
	f->in.frames = frames;
	f->head.n_user = (uint16_t)n;
}

static void check(struct fixture *f, enum wire_end end, const uint64_t *expected, size_t n)
{
	user_stack_make(&f->in, &f->process, f->telemetry, &f->stack);
	assert_int_equal(f->stack.end, end);
	assert_int_equal(f->stack.n, n);
	assert_memory_equal(f->stack.frames, expected, n * sizeof(*expected));
}

#define CHECK(f, end, ...)                                   \
	check((f), (end), (const uint64_t[]){ __VA_ARGS__ }, \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void test_warm(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(1, 0x1020) };
	struct fixture *f = *state;

	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(1, 0x1020));
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_samples_stale_mapping), 0);
}

static void test_warm_cut(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010) };
	struct fixture *f = *state;

	give_frames(f, frames, 1);
	f->head.end = WIRE_END_STACK_READ;
	CHECK(f, WIRE_END_STACK_READ, FRAME(2, 0x8010), REASON(STACK_READ));
}

static void test_raw_is_named_by_what_is_known_now(void **state)
{
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(JIT + 5), FRAME(1, 0x1020), RAW(EXE) };
	struct fixture *f = *state;

	give_frames(f, frames, 4);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME_JIT, FRAME(1, 0x1020), FRAME(1, 0x1000));
}

static void test_raw_leaf_in_no_mapping_is_shown(void **state)
{
	const uint64_t frames[] = { RAW(NOWHERE), RAW(EXE + 1) };
	struct fixture *f = *state;

	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME_UNKNOWN, FRAME(1, 0x1001));
}

static void test_raw_caller_in_no_mapping_cuts(void **state)
{
	const uint64_t frames[] = { FRAME(1, 0x1020), RAW(NOWHERE), RAW(EXE + 1) };
	struct fixture *f = *state;

	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_NO_MAPPING, FRAME(1, 0x1020), REASON(NO_MAPPING));
}

static void test_no_mappings_at_all(void **state)
{
	const uint64_t frames[] = { RAW(LIB), RAW(EXE) };
	struct fixture *f = *state;

	mappings_unref(TAKE_PTR(f->process.mappings));
	f->process.generation = 0;
	f->head.generation = 0;
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_NO_MAPPING, FRAME_UNKNOWN, REASON(NO_MAPPING));
}

/* Before its last change the process had file 3 where file 1 is now, and nothing else. */
static void make_stale(struct fixture *f)
{
	static const struct mapping_spec before[] = {
		{ EXE, EXE + 0x8000, 0x30000, 33 },
		{ NOWHERE, NOWHERE + 0x1000, 0x50000, 33 },
	};

	f->process.previous_mappings = make_mappings(f->files, before, ARRAY_SIZE(before));
	f->process.mappings_since_ns = CHANGED_NS;
	f->head.generation = 3;
}

static void test_stale_is_translated(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x30010), FRAME(3, 0x37fff), RAW(LIB) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_ROOT, FRAME(1, 0x1010), FRAME(1, 0x8fff), FRAME(2, 0x8000));
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_samples_stale_mapping), 1);
}

static void test_stale_leaf_that_is_gone(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x50010), FRAME(3, 0x30010) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME_UNKNOWN, FRAME(1, 0x1010));
}

static void test_stale_caller_that_is_gone(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x30010), FRAME(3, 0x50010), FRAME(3, 0x30010) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_NO_MAPPING, FRAME(1, 0x1010), REASON(NO_MAPPING));
}

/* The sample is older than the change: its frames were right when it was taken. */
static void test_older_than_the_change(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x30010) };
	struct fixture *f = *state;

	make_stale(f);
	f->head.time_ns = CHANGED_NS - 1;
	give_frames(f, frames, 1);
	CHECK(f, WIRE_END_ROOT, FRAME(3, 0x30010));
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_samples_stale_mapping), 0);
}

/* The kernel half knew nothing: n_user raw frames, registers and the top of the stack. */
static void make_cold(struct fixture *f, const uint64_t *words, size_t n_words)
{
	f->head.generation = 0;
	f->head.flags = WIRE_COLD;
	f->head.stack_bytes = (uint16_t)(n_words * sizeof(*words));
	f->cold.regs = (struct wire_regs){ .pc = LIB + 0x10, .sp = STACK, .fp = STACK };
	f->in.cold = &f->cold;
	f->in.stack = (const uint8_t *)words;
}

static void test_cold_walks_the_copy(void **state)
{
	const uint64_t words[] = { STACK + 16, JIT + 1, STACK + 32, EXE + 0x21, 0, EXE + 0x31 };
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(0x4141) };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME_JIT, FRAME(1, 0x1020), FRAME(1, 0x1030));
}

static void test_cold_after_syscall(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->head.flags |= WIRE_IN_SYSCALL;
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x800f), FRAME(1, 0x1020));
}

static void test_cold_leaf_in_no_mapping(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->cold.regs.pc = NOWHERE;
	CHECK(f, WIRE_END_ROOT, FRAME_UNKNOWN, FRAME(1, 0x1020));
}

static void test_cold_caller_in_no_mapping(void **state)
{
	const uint64_t words[] = { STACK + 16, EXE + 0x21, STACK + 32, NOWHERE, 0, EXE + 0x21 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	CHECK(f, WIRE_END_NO_MAPPING, FRAME(2, 0x8010), FRAME(1, 0x1020), REASON(NO_MAPPING));
}

/* What lies beyond the copy only the kernel half has seen. */
static void test_cold_copy_too_short(void **state)
{
	const uint64_t words[] = { STACK + 4096, EXE + 0x21 };
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(EXE + 0x20), RAW(EXE + 0x30) };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(1, 0x1020), FRAME(1, 0x1030));
}

static void test_cold_without_copy(void **state)
{
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(EXE + 0x20) };
	struct fixture *f = *state;

	make_cold(f, NULL, 0);
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(1, 0x1020));
}

static void test_cold_without_mappings(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21 };
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(EXE + 0x20) };
	struct fixture *f = *state;

	mappings_unref(TAKE_PTR(f->process.mappings));
	make_cold(f, words, ARRAY_SIZE(words));
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_NO_MAPPING, FRAME_UNKNOWN, REASON(NO_MAPPING));
}

static void test_cold_too_deep(void **state)
{
	enum { N = WIRE_MAX_STACK_BYTES / 8 };
	struct fixture *f = *state;
	uint64_t words[N];

	for (size_t i = 0; i < N; i += 2) {
		words[i] = STACK + (i + 2) * sizeof(words[0]);
		words[i + 1] = EXE + 0x21;
	}
	make_cold(f, words, N);
	user_stack_make(&f->in, &f->process, f->telemetry, &f->stack);
	assert_int_equal(f->stack.end, WIRE_END_DEPTH);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES - 1], FRAME(1, 0x1020));
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

static void test_warm_too_deep(void **state)
{
	struct fixture *f = *state;
	uint64_t frames[WIRE_MAX_USER_FRAMES];

	for (size_t i = 0; i < WIRE_MAX_USER_FRAMES; i++)
		frames[i] = FRAME(1, 0x1000 + i);
	/* A head that promises more than a record can hold is not believed. */
	give_frames(f, frames, UINT16_MAX);
	f->head.end = WIRE_END_DEPTH;
	user_stack_make(&f->in, &f->process, f->telemetry, &f->stack);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_memory_equal(f->stack.frames, frames, sizeof(frames));
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

static void test_compat(void **state)
{
	struct fixture *f = *state;

	f->head.end = WIRE_END_COMPAT;
	CHECK(f, WIRE_END_COMPAT, REASON(COMPAT));
}

static void test_no_user_half(void **state)
{
	struct fixture *f = *state;

	f->head.end = WIRE_END_NO_USER;
	f->head.generation = 0;
	user_stack_make(&f->in, &f->process, f->telemetry, &f->stack);
	assert_int_equal(f->stack.n, 0);
	assert_int_equal(f->stack.end, WIRE_END_NO_USER);
}

static void test_unknown_end(void **state)
{
	struct fixture *f = *state;

	f->head.end = WIRE_END_MAX;
	CHECK(f, WIRE_END_BAD_PC, REASON(BAD_PC));
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_warm),
		FIXTURE_TEST(test_warm_cut),
		FIXTURE_TEST(test_raw_is_named_by_what_is_known_now),
		FIXTURE_TEST(test_raw_leaf_in_no_mapping_is_shown),
		FIXTURE_TEST(test_raw_caller_in_no_mapping_cuts),
		FIXTURE_TEST(test_no_mappings_at_all),
		FIXTURE_TEST(test_stale_is_translated),
		FIXTURE_TEST(test_stale_leaf_that_is_gone),
		FIXTURE_TEST(test_stale_caller_that_is_gone),
		FIXTURE_TEST(test_older_than_the_change),
		FIXTURE_TEST(test_cold_walks_the_copy),
		FIXTURE_TEST(test_cold_after_syscall),
		FIXTURE_TEST(test_cold_leaf_in_no_mapping),
		FIXTURE_TEST(test_cold_caller_in_no_mapping),
		FIXTURE_TEST(test_cold_copy_too_short),
		FIXTURE_TEST(test_cold_without_copy),
		FIXTURE_TEST(test_cold_without_mappings),
		FIXTURE_TEST(test_cold_too_deep),
		FIXTURE_TEST(test_warm_too_deep),
		FIXTURE_TEST(test_compat),
		FIXTURE_TEST(test_no_user_half),
		FIXTURE_TEST(test_unknown_end),
	};

	return cmocka_run_group_tests_name("agent/unwind/user_stack", tests, NULL, NULL);
}
