/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to a user stack, without a copy of it: kernel-unwound, raw, stale. */
#include "tests/unit/agent/unwind/stack_fixture.h"

static uint64_t n_stale(const struct fixture *f)
{
	return telemetry_get(f->telemetry, TELEMETRY_samples_stale_mapping);
}

static void test_kernel_unwound(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(1, 0x1020) };
	struct fixture *f = *state;

	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(1, 0x1020));
	assert_int_equal(n_stale(f), 0);
	assert_int_equal(f->objects.n_rules, 0);
}

static void test_kernel_unwound_cut(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010) };
	struct fixture *f = *state;

	give_frames(f, frames, 1);
	f->head.end = STOP_REASON_STACK_READ;
	CHECK(f, STOP_REASON_STACK_READ, FILE_AT(2, 0x8010), REASON(STACK_READ));
}

static void test_raw_is_named_by_what_is_known_now(void **state)
{
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(JIT + 5), FRAME(1, 0x1020), RAW(EXE) };
	struct fixture *f = *state;

	give_frames(f, frames, 4);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), MEMORY_AT(JIT + 5), FILE_AT(1, 0x1020),
	      FILE_AT(1, 0x1000));
}

static void test_raw_leaf_in_no_mapping_is_shown(void **state)
{
	const uint64_t frames[] = { RAW(NOWHERE), RAW(EXE + 1) };
	struct fixture *f = *state;

	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_ROOT, UNKNOWN, FILE_AT(1, 0x1001));
}

/* A jump into nowhere: the upper bits of its pc are not to be lost, or the rest could be a place that is mapped. */
static void test_raw_leaf_above_all_addresses(void **state)
{
	static const uint64_t above[] = { 1ULL << 59, 1ULL << 60, 1ULL << 61,
					  1ULL << 62, 1ULL << 63, 15ULL << 59 };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(above); i++) {
		const uint64_t frames[] = { WIRE_FRAME_RAW_OF(above[i] | (EXE + 1)), RAW(EXE + 1) };

		give_frames(f, frames, 2);
		CHECK(f, STOP_REASON_ROOT, UNKNOWN, FILE_AT(1, 0x1001));
	}
}

static void test_raw_caller_in_no_mapping_cuts(void **state)
{
	const uint64_t frames[] = { FRAME(1, 0x1020), RAW(NOWHERE), RAW(EXE + 1) };
	struct fixture *f = *state;

	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_NO_MAPPING, FILE_AT(1, 0x1020), REASON(NO_MAPPING));
}

/* Followed by frame pointers for want of tables: nobody says that it is complete. */
static void test_unknown_process_without_copy(void **state)
{
	const uint64_t frames[] = { RAW(LIB + 0x10) };
	struct fixture *f = *state;

	f->head.generation = 0;
	f->head.end = STOP_REASON_NO_TABLE;
	give_frames(f, frames, 1);
	CHECK(f, STOP_REASON_NO_TABLE, FILE_AT(2, 0x8010), REASON(NO_TABLE));
	assert_int_equal(n_stale(f), 0);
}

static void test_no_mappings_at_all(void **state)
{
	const uint64_t frames[] = { RAW(LIB), RAW(EXE) };
	struct fixture *f = *state;

	mappings_unref(TAKE_PTR(f->process.mappings));
	f->head.generation = 0;
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_NO_MAPPING, UNKNOWN, REASON(NO_MAPPING));
}

/* What the walk came by is what is there now, though other mappings changed. */
static void test_stale_but_untouched(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(1, 0x9010), RAW(JIT + 1) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(1, 0x9010), MEMORY_AT(JIT + 1));
	assert_int_equal(n_stale(f), 1);
}

/* The pc of a frame is right, its caller was found by another file's rule. */
static void test_stale_and_replaced(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(3, 0x30010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_REMAPPED, FILE_AT(2, 0x8010), FILE_AT(1, 0x1010), REASON(REMAPPED));
}

static void test_stale_leaf_is_replaced(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x30010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_REMAPPED, FILE_AT(1, 0x1010), REASON(REMAPPED));
}

static void test_stale_leaf_that_is_gone(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x50010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_REMAPPED, UNKNOWN, REASON(REMAPPED));
}

static void test_stale_caller_that_is_gone(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(3, 0x50010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_REMAPPED, FILE_AT(2, 0x8010), REASON(REMAPPED));
}

static void test_forgotten_generation(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	f->head.generation = 2;
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_REMAPPED, UNKNOWN, REASON(REMAPPED));
	assert_int_equal(n_stale(f), 1);
}

static void test_kernel_unwound_too_deep(void **state)
{
	struct fixture *f = *state;
	uint64_t frames[WIRE_MAX_USER_WORDS];

	for (size_t i = 0; i < WIRE_MAX_USER_WORDS; i++)
		frames[i] = FRAME(1, 0x1000 + i);
	/* A head that promises more than a record can hold is not believed. */
	give_frames(f, frames, UINT16_MAX);
	f->head.end = STOP_REASON_DEPTH;
	make(f);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	for (size_t i = 0; i < WIRE_MAX_USER_FRAMES; i++)
		assert_frame(f->stack.frames[i], FILE_AT(1, 0x1000 + i));
	assert_frame(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

static void test_compat(void **state)
{
	struct fixture *f = *state;

	f->head.end = STOP_REASON_COMPAT;
	CHECK(f, STOP_REASON_COMPAT, REASON(COMPAT));
	f->head.generation = 0;
	CHECK(f, STOP_REASON_COMPAT, REASON(COMPAT));
}

static void test_no_user_half(void **state)
{
	struct fixture *f = *state;

	f->head.end = STOP_REASON_NO_USER;
	f->head.generation = 0;
	make(f);
	assert_int_equal(f->stack.n, 0);
	assert_int_equal(f->stack.end, STOP_REASON_NO_USER);
}

static void test_unknown_end(void **state)
{
	struct fixture *f = *state;

	f->head.end = STOP_REASON_MAX;
	CHECK(f, STOP_REASON_BAD_PC, REASON(BAD_PC));
}

static void test_complete_ends(void **state)
{
	(void)state;
	for (int end = 0; end <= STOP_REASON_MAX; end++)
		assert_int_equal(stop_reason_is_complete(end),
				 end == STOP_REASON_ROOT || end == STOP_REASON_NO_USER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_kernel_unwound),
		FIXTURE_TEST(test_kernel_unwound_cut),
		FIXTURE_TEST(test_raw_is_named_by_what_is_known_now),
		FIXTURE_TEST(test_raw_leaf_in_no_mapping_is_shown),
		FIXTURE_TEST(test_raw_leaf_above_all_addresses),
		FIXTURE_TEST(test_raw_caller_in_no_mapping_cuts),
		FIXTURE_TEST(test_unknown_process_without_copy),
		FIXTURE_TEST(test_no_mappings_at_all),
		FIXTURE_TEST(test_stale_but_untouched),
		FIXTURE_TEST(test_stale_and_replaced),
		FIXTURE_TEST(test_stale_leaf_is_replaced),
		FIXTURE_TEST(test_stale_leaf_that_is_gone),
		FIXTURE_TEST(test_stale_caller_that_is_gone),
		FIXTURE_TEST(test_forgotten_generation),
		FIXTURE_TEST(test_kernel_unwound_too_deep),
		FIXTURE_TEST(test_compat),
		FIXTURE_TEST(test_no_user_half),
		FIXTURE_TEST(test_unknown_end),
		FIXTURE_TEST(test_complete_ends),
	};

	return cmocka_run_group_tests_name("agent/unwind/user_stack", tests, NULL, NULL);
}
