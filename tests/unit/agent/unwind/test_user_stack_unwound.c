/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to a user stack, with registers and a copy: unwound from the leaf, from further up, in doubt. */
#include "tests/unit/agent/unwind/stack_fixture.h"

/* Registers and the top of the stack; the kernel half knew nothing. */
static void make_user_unwound(struct fixture *f, const uint64_t *words, size_t n_words)
{
	f->head.generation = 0;
	f->head.flags = WIRE_USER_UNWOUND;
	f->head.stack_words = (uint16_t)n_words;
	f->user_unwound.flags = WIRE_USER_UNWOUND_EXACT;
	f->user_unwound.regs.pc = EXE + 0x10;
	f->user_unwound.regs.reg[WIRE_ABI_SP] = STACK;
	/* What lies below sp is not there. */
	f->user_unwound.n_skipped = WIRE_BELOW_BYTES;
	f->in.user_unwound = &f->user_unwound;
	f->in.stack = (const uint8_t *)words;
}

/* By rules in the executable, by frame pointer in the library and in JIT code. */
static void test_user_unwound_from_the_leaf(void **state)
{
	const uint64_t words[] = { 0,	       LIB + 0x21, STACK + 32, JIT + 0x31, STACK + 48,
				   EXE + 0x41, 0,	   0,	       0,	   EXE + 0x5001 };
	const uint64_t frames[] = { RAW(EXE + 0x10), RAW(0x4141) };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 16;
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), FILE_AT(2, 0x8020), MEMORY_AT(JIT + 0x30),
	      FILE_AT(1, 0x1040));
	/* The stack's last record: nothing above it. */
	assert_int_equal(f->objects.n_wanted, f->objects.n_rules);
	assert_true(f->objects.n_wanted >= 3);
}

static void test_user_unwound_to_the_outermost(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020), FILE_AT(1, 0x5000));
}

static void test_user_unwound_on_an_edge_of_a_function(void **state)
{
	const uint64_t words[] = { EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.pc = LIB;
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 800;
#if WIRE_N_REGS == 16
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8000), FILE_AT(1, 0x5000));
#else
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(2, 0x8000), REASON(COPY_END));
#endif
}

/* The kernel half has put pc right already. */
static void test_user_unwound_after_syscall(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { RAW(EXE + 0x10) };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->head.flags |= WIRE_IN_SYSCALL;
	give_frames(f, frames, 1);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), FILE_AT(1, 0x5000));
}

static void test_user_unwound_leaf_in_no_mapping(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.pc = NOWHERE;
	CHECK(f, STOP_REASON_NO_MAPPING, UNKNOWN, REASON(NO_MAPPING));
}

static void test_user_unwound_caller_in_no_mapping(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21, 0, NOWHERE };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	CHECK(f, STOP_REASON_NO_MAPPING, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020),
	      REASON(NO_MAPPING));
}

/* Events were lost; this was read later: the library where the executable was, and some more. */
static void make_doubt(struct fixture *f)
{
	static const struct mapping_spec ahead[] = {
		{ EXE, EXE + 0x10000, 0x8000, 22 },
		{ NEW, NEW + 0x10000, 0x1000, 11 },
		{ LIB, LIB + 0x10000, 0x5000, 11 },
	};

	f->process.mappings_ahead = make_mappings(f->files, ahead, ARRAY_SIZE(ahead));
}

static void test_doubt_code_is_known_later(void **state)
{
	const uint64_t words[] = { 0, LIB + 1 };
	struct fixture *f = *state;

	make_doubt(f);
	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.pc = NEW + 0x10;
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), FILE_AT(1, 0x5000));
}

/* By the rule of the executable there is a zero where the return address would be. */
static void test_doubt_deeper_later(void **state)
{
	const uint64_t words[] = { 0, 0, 0, LIB + 0x21 };
	struct fixture *f = *state;

	make_doubt(f);
	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 16;
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(1, 0x5020));
}

static void test_doubt_deeper_before(void **state)
{
	const uint64_t words[] = { 0, 0, 0, LIB + 0x21 };
	struct fixture *f = *state;
	struct mappings *before = f->process.mappings;

	make_doubt(f);
	f->process.mappings = f->process.mappings_ahead;
	f->process.mappings_ahead = before;
	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 16;
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(1, 0x5020));
}

static void test_doubt_without_a_whole_one(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21, 0, NOWHERE };
	struct fixture *f = *state;

	make_doubt(f);
	make_user_unwound(f, words, ARRAY_SIZE(words));
	CHECK(f, STOP_REASON_NO_MAPPING, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020),
	      REASON(NO_MAPPING));
}

static void test_user_unwound_copy_too_short(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21, 0 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020), REASON(COPY_END));
}

/* A function that makes its frame faults on its stack: the copy begins with the caller's page. */
static void test_user_unwound_first_page_is_not_there(void **state)
{
	const uint64_t words[] = { EXE + 0x21, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.n_skipped = WIRE_BELOW_BYTES + 8;
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020), FILE_AT(1, 0x5000));
	/* What lies before the copy is not known, and is not read from anywhere else. */
	f->user_unwound.n_skipped = WIRE_BELOW_BYTES + 16;
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(1, 0x1010), REASON(COPY_END));
}

/* The frame pointer leads to another stack, of which a piece lies behind the first in the copy. */
static void test_user_unwound_second_stack(void **state)
{
	const uint64_t words[] = { 0, 0, STACK + 0x10010, LIB + 0x31, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.pc = LIB + 0x10;
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 0x10000;
	f->user_unwound.pieces[0] = (struct wire_piece){ STACK + 0x10000, 4 * WIRE_WORD_BYTES };
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(2, 0x8030), FILE_AT(1, 0x5000));
	/* The first is not longer for it, nor the second where it was not copied. */
	f->user_unwound.pieces[0].from = STACK + 0x20000;
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(2, 0x8010), REASON(COPY_END));
	f->user_unwound.pieces[0] = (struct wire_piece){ STACK + 0x10000, 0 };
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(2, 0x8010), REASON(COPY_END));
}

/* … and from there to a third. */
static void test_user_unwound_third_stack(void **state)
{
	const uint64_t words[] = { 0, 0, STACK + 0x20000, LIB + 0x31, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.pc = LIB + 0x10;
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 0x10000;
	f->user_unwound.pieces[0] = (struct wire_piece){ STACK + 0x10000, 2 * WIRE_WORD_BYTES };
	f->user_unwound.pieces[1] = (struct wire_piece){ STACK + 0x20000, 2 * WIRE_WORD_BYTES };
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(2, 0x8030), FILE_AT(1, 0x5000));
	f->user_unwound.pieces[1].from += 8;
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(2, 0x8010), FILE_AT(2, 0x8030), REASON(COPY_END));
}

/* What the kernel half has read elsewhere: single words, and nothing beside them. */
static void test_user_unwound_words(void **state)
{
	const uint64_t words[] = { 0, 0 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.pc = LIB + 0x10;
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 0x20000;
	f->user_unwound.words[1] = (struct wire_word){ STACK + 0x20000, 0 };
	f->user_unwound.words[WIRE_USER_UNWOUND_WORDS - 1] =
		(struct wire_word){ STACK + 0x20008, EXE + 0x4001 };
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(1, 0x5000));
	f->user_unwound.words[1].at--;
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(2, 0x8010), REASON(COPY_END));
}

/* By frame pointer, beyond what was copied. */
static void test_user_unwound_record_beyond_the_copy(void **state)
{
	const uint64_t words[] = { 0, 0 };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->user_unwound.regs.pc = LIB + 0x10;
	f->user_unwound.regs.reg[WIRE_ABI_FP] = STACK + 4096;
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(2, 0x8010), REASON(COPY_END));
	f->user_unwound.regs.reg[WIRE_ABI_FP] = 0;
	f->user_unwound.regs.pc = JIT;
	CHECK(f, STOP_REASON_NO_RULE, MEMORY_AT(JIT), REASON(NO_RULE));
}

/* The kernel half came this far by its tables; the frame it could not leave is looked at again, those before it are right. */
static void make_resumed(struct fixture *f, const uint64_t *words, size_t n_words, uint64_t pc)
{
	make_user_unwound(f, words, n_words);
	f->head.generation = NOW;
	f->head.end = STOP_REASON_NO_TABLE;
	f->user_unwound.flags = 0;
	f->user_unwound.n_right = 2;
	f->user_unwound.regs.pc = pc;
}

static void test_user_unwound_resumed(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x1070) };
	struct fixture *f = *state;

	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x70);
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(2, 0x8020), FILE_AT(1, 0x1070),
	      FILE_AT(1, 0x5000));
}

/* Registers of the leaf are known where the walk goes on from it, or behind a signal frame, and nowhere else. */
static void test_user_unwound_resumed_without_registers(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x4010) };
	struct fixture *f = *state;

	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x3010);
	f->user_unwound.regs.reg[3] = STACK;
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_REGISTER, FILE_AT(2, 0x8010), FILE_AT(2, 0x8020), FILE_AT(1, 0x4010),
	      REASON(REGISTER));
	f->user_unwound.flags = WIRE_USER_UNWOUND_EXACT;
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(2, 0x8020), FILE_AT(1, 0x4010),
	      FILE_AT(1, 0x5000));
}

/* A caller's rule needs a register: the walk begins anew at the leaf, and keeps all of them this time. */
static void test_user_unwound_with_all_registers(void **state)
{
	const uint64_t words[] = { STACK + 32, EXE + 0x3011, 0, 0, 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(1, 0x1010), FRAME(1, 0x4010) };
	struct fixture *f = *state;

	make_user_unwound(f, words, ARRAY_SIZE(words));
	f->head.generation = NOW;
	f->head.end = STOP_REASON_REGISTER;
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), FILE_AT(1, 0x4010), FILE_AT(1, 0x5000));
	/* From further up the leaf's registers are not known. */
	f->user_unwound.flags = 0;
	CHECK(f, STOP_REASON_REGISTER, FILE_AT(1, 0x1010), FILE_AT(1, 0x4010), REASON(REGISTER));
}

/* Where the kernel half saw no mapping there is one by now, or there still is none. */
static void test_user_unwound_resumed_in_no_mapping(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), RAW(EXE + 0x70) };
	struct fixture *f = *state;

	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x70);
	f->head.end = STOP_REASON_NO_MAPPING;
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), FILE_AT(2, 0x8020), FILE_AT(1, 0x1070),
	      FILE_AT(1, 0x5000));
	f->user_unwound.regs.pc = NOWHERE;
	CHECK(f, STOP_REASON_NO_MAPPING, FILE_AT(2, 0x8010), FILE_AT(2, 0x8020),
	      REASON(NO_MAPPING));
}

/* A frame that was taken for right went through memory that is another file's now. */
static void test_user_unwound_resumed_over_replaced_memory(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(3, 0x30010), FRAME(1, 0x1070) };
	struct fixture *f = *state;

	make_stale(f);
	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x70);
	f->head.generation = 3;
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_REMAPPED, FILE_AT(2, 0x8010), FILE_AT(1, 0x1010), REASON(REMAPPED));
	assert_int_equal(f->objects.n_rules, 0);
}

/* The ring was filling: what the kernel half has is all there is. */
static void test_user_unwound_without_copy(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x1070) };
	struct fixture *f = *state;

	make_resumed(f, NULL, 0, EXE + 0x70);
	give_frames(f, frames, 3);
	CHECK(f, STOP_REASON_NO_TABLE, FILE_AT(2, 0x8010), FILE_AT(2, 0x8020), FILE_AT(1, 0x1070),
	      REASON(NO_TABLE));
}

/* Mapped since the table was made: the walk could not go on, which does not say that its pc is astray. */
static void test_new_mapping_without_copy(void **state)
{
	const uint64_t frames[] = { FRAME(1, 0x1020), RAW(LIB + 0x10) };
	struct fixture *f = *state;

	f->head.end = STOP_REASON_NO_MAPPING;
	give_frames(f, &frames[1], 1);
	CHECK(f, STOP_REASON_NO_TABLE, FILE_AT(2, 0x8010), REASON(NO_TABLE));
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_NO_TABLE, FILE_AT(1, 0x1020), FILE_AT(2, 0x8010), REASON(NO_TABLE));
}

static void test_no_mapping_without_copy(void **state)
{
	const uint64_t frames[] = { RAW(NOWHERE) };
	struct fixture *f = *state;

	f->head.end = STOP_REASON_NO_MAPPING;
	give_frames(f, frames, 1);
	CHECK(f, STOP_REASON_NO_MAPPING, UNKNOWN, REASON(NO_MAPPING));
}

static void test_user_unwound_without_mappings(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21 };
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(EXE + 0x20) };
	struct fixture *f = *state;

	mappings_unref(TAKE_PTR(f->process.mappings));
	make_user_unwound(f, words, ARRAY_SIZE(words));
	give_frames(f, frames, 2);
	CHECK(f, STOP_REASON_NO_MAPPING, UNKNOWN, REASON(NO_MAPPING));
}

static void test_user_unwound_too_deep(void **state)
{
	enum { N = WIRE_MAX_STACK_BYTES / 8 };
	struct fixture *f = *state;
	uint64_t words[N];

	for (size_t i = 0; i < N; i++)
		words[i] = EXE + 0x21;
	make_user_unwound(f, words, N);
	make(f);
	assert_int_equal(f->stack.end, STOP_REASON_DEPTH);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_frame(f->stack.frames[WIRE_MAX_USER_FRAMES - 1], FILE_AT(1, 0x1020));
	assert_frame(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

/* Right frames and walked ones together are not more than there is room for. */
static void test_user_unwound_resumed_too_deep(void **state)
{
	enum { N = WIRE_MAX_STACK_BYTES / 8 };
	struct fixture *f = *state;
	uint64_t frames[WIRE_MAX_USER_FRAMES];
	uint64_t words[N];

	for (size_t i = 0; i < WIRE_MAX_USER_FRAMES; i++)
		frames[i] = FRAME(2, 0x8000 + i);
	for (size_t i = 0; i < N; i++)
		words[i] = EXE + 0x21;
	make_resumed(f, words, N, EXE + 0x70);
	give_frames(f, frames, WIRE_MAX_USER_FRAMES);
	f->user_unwound.n_right = WIRE_MAX_USER_FRAMES - 1;
	make(f);
	assert_int_equal(f->stack.end, STOP_REASON_DEPTH);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_frame(f->stack.frames[WIRE_MAX_USER_FRAMES - 1], FILE_AT(1, 0x1070));
	assert_frame(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_user_unwound_from_the_leaf),
		FIXTURE_TEST(test_user_unwound_to_the_outermost),
		FIXTURE_TEST(test_user_unwound_on_an_edge_of_a_function),
		FIXTURE_TEST(test_user_unwound_after_syscall),
		FIXTURE_TEST(test_user_unwound_leaf_in_no_mapping),
		FIXTURE_TEST(test_user_unwound_caller_in_no_mapping),
		FIXTURE_TEST(test_doubt_code_is_known_later),
		FIXTURE_TEST(test_doubt_deeper_later),
		FIXTURE_TEST(test_doubt_deeper_before),
		FIXTURE_TEST(test_doubt_without_a_whole_one),
		FIXTURE_TEST(test_user_unwound_copy_too_short),
		FIXTURE_TEST(test_user_unwound_first_page_is_not_there),
		FIXTURE_TEST(test_user_unwound_second_stack),
		FIXTURE_TEST(test_user_unwound_third_stack),
		FIXTURE_TEST(test_user_unwound_words),
		FIXTURE_TEST(test_user_unwound_record_beyond_the_copy),
		FIXTURE_TEST(test_user_unwound_resumed),
		FIXTURE_TEST(test_user_unwound_resumed_without_registers),
		FIXTURE_TEST(test_user_unwound_with_all_registers),
		FIXTURE_TEST(test_user_unwound_resumed_in_no_mapping),
		FIXTURE_TEST(test_user_unwound_resumed_over_replaced_memory),
		FIXTURE_TEST(test_user_unwound_without_copy),
		FIXTURE_TEST(test_new_mapping_without_copy),
		FIXTURE_TEST(test_no_mapping_without_copy),
		FIXTURE_TEST(test_user_unwound_without_mappings),
		FIXTURE_TEST(test_user_unwound_too_deep),
		FIXTURE_TEST(test_user_unwound_resumed_too_deep),
	};

	return cmocka_run_group_tests_name("agent/unwind/user_stack_unwound", tests, NULL, NULL);
}
