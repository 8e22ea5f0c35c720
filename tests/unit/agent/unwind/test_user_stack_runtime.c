/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to a user stack, with frames of a runtime among the words. */
#include "bpf/anchor.h"
#include "tests/unit/agent/unwind/stack_fixture.h"

#define KIND 5 /* nobody has to have it */

/* Two words each. */
#define ANCHOR(at) (WIRE_FRAME_RUNTIME | ((at)&WIRE_RUNTIME_ADDRESS_MASK)), 0
#define CODE_OF(kind, address, print)                                                   \
	(WIRE_FRAME_RUNTIME | (uint64_t)(kind) << WIRE_RUNTIME_KIND_SHIFT | (address)), \
		((print) | 7ULL << 32)
#define CODE(address, print) CODE_OF(KIND, address, print)

#define RUNTIME_AT(i) frame_ref_of(FRAME_KIND_RUNTIME, (i))

#define GIVE(f, words) give_frames((f), (words), ARRAY_SIZE(words))

/* The i-th frame of the runtime has this print: frames are in order. */
static void check_prints(const struct fixture *f, uint32_t first, uint32_t n)
{
	assert_int_equal(f->stack.n_runtime, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(f->stack.runtime[i].print, first + i);
}

/* Whatever a record says. */
static void check_bounds(const struct fixture *f)
{
	uint32_t n = 0;

	assert_true(f->stack.n <= WIRE_MAX_USER_FRAMES + 1);
	assert_true(f->stack.n_runtime <= WIRE_MAX_USER_FRAMES);
	for (uint32_t i = 0; i < f->stack.n; i++)
		if (frame_ref_kind(f->stack.frames[i]) == FRAME_KIND_RUNTIME)
			assert_int_equal(frame_ref_value(f->stack.frames[i]), n++);
	assert_int_equal(n, f->stack.n_runtime);
}

static void test_kernel_unwound_run(void **state)
{
	const uint64_t words[] = { FRAME(2, 0x8010), ANCHOR(STACK + 8), CODE(0x1000, 1),
				   CODE(0x2000, 2),  FRAME(1, 0x1020),	ANCHOR(STACK + 80),
				   CODE(0x1000, 3),  FRAME(1, 0x1030) };
	struct fixture *f = *state;

	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), RUNTIME_AT(0), RUNTIME_AT(1),
	      FILE_AT(1, 0x1020), RUNTIME_AT(2), FILE_AT(1, 0x1030));
	check_prints(f, 1, 3);
	assert_int_equal(f->stack.runtime[1].function, words[5]);
	assert_int_equal(f->stack.runtime[1].position, 7);
	/* The next sample's begin anew. */
	make(f);
	check_prints(f, 1, 3);
}

/* A run of the leaf's activation, and one behind the other. */
static void test_kernel_unwound_leaf_is_a_run(void **state)
{
	const uint64_t words[] = { ANCHOR(STACK + 8), CODE(0x1000, 1),	  ANCHOR(STACK + 16),
				   CODE(0x2000, 2),   ANCHOR(STACK + 24), FRAME(1, 0x1020) };
	struct fixture *f = *state;

	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), RUNTIME_AT(1), FILE_AT(1, 0x1020));
	check_prints(f, 1, 2);
}

/* Only the leaf may be nowhere: behind a run there is a caller. */
static void test_kernel_unwound_caller_in_no_mapping(void **state)
{
	const uint64_t words[] = { ANCHOR(STACK + 8), CODE(0x1000, 1), RAW(NOWHERE),
				   FRAME(1, 0x1020) };
	struct fixture *f = *state;

	GIVE(f, words);
	CHECK(f, STOP_REASON_NO_MAPPING, RUNTIME_AT(0), REASON(NO_MAPPING));
}

/* A frame that could not be read, and kinds that nobody has, are frames all the same. */
static void test_kernel_unwound_strange_frames(void **state)
{
	const uint64_t words[] = { ANCHOR(0), CODE(0, 1),
				   CODE_OF(WIRE_RUNTIME_KIND_MASK, 0x1000, 2),
				   CODE(WIRE_RUNTIME_ADDRESS_MASK, 3) };
	struct fixture *f = *state;

	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), RUNTIME_AT(1), RUNTIME_AT(2));
	check_prints(f, 1, 3);
}

/* Mappings that changed do not move what a runtime has. */
static void test_kernel_unwound_stale(void **state)
{
	const uint64_t words[] = { FRAME(2, 0x8010), ANCHOR(STACK), CODE(0x1000, 1),
				   FRAME(3, 0x30010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	GIVE(f, words);
	CHECK(f, STOP_REASON_REMAPPED, FILE_AT(2, 0x8010), RUNTIME_AT(0), FILE_AT(1, 0x1010),
	      REASON(REMAPPED));
}

/* No word is read behind the record, which the sanitizer would see. */
static void test_kernel_unwound_ends_in_half_a_frame(void **state)
{
	static const uint64_t first[] = { CODE(0x1000, 1), ANCHOR(STACK) };
	struct fixture *f = *state;

	f->head.end = STOP_REASON_STACK_READ;
	for (size_t i = 0; i < ARRAY_SIZE(first); i += 2) {
		_cleanup_free_ uint64_t *words = malloc(2 * sizeof(*words));

		assert_non_null(words);
		words[0] = FRAME(1, 0x1020);
		words[1] = first[i];
		give_frames(f, words, 2);
		make(f);
		assert_int_equal(f->stack.n, 2);
		assert_frame(f->stack.frames[0], FILE_AT(1, 0x1020));
		assert_int_equal(frame_ref_kind(f->stack.frames[1]), FRAME_KIND_END);
		assert_int_equal(f->stack.n_runtime, 0);
	}
}

static void fill_code(uint64_t *words, size_t n)
{
	const uint64_t code[] = { CODE(0x1000, 0) };

	for (size_t i = 0; i < n; i++) {
		words[2 * i] = code[0];
		words[2 * i + 1] = code[1] | i;
	}
}

static void test_kernel_unwound_most_frames(void **state)
{
	struct fixture *f = *state;
	uint64_t words[WIRE_MAX_USER_WORDS];

	fill_code(words, WIRE_MAX_USER_FRAMES);
	GIVE(f, words);
	make(f);
	assert_int_equal(f->stack.end, STOP_REASON_ROOT);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES);
	check_prints(f, 0, WIRE_MAX_USER_FRAMES);
	check_bounds(f);
}

/* Of both kinds together there is room for no more; what is beyond is said to be cut. */
static void make_too_many(uint64_t *words, uint32_t n_native)
{
	for (uint32_t i = 0; i < n_native; i++)
		words[i] = FRAME(1, 0x1000 + i);
	fill_code(&words[n_native], (WIRE_MAX_USER_WORDS - n_native) / 2);
}

static void test_kernel_unwound_too_deep(void **state)
{
	struct fixture *f = *state;
	uint64_t words[WIRE_MAX_USER_WORDS];

	make_too_many(words, 600);
	GIVE(f, words);
	make(f);
	check_bounds(f);
	assert_int_equal(f->stack.n_runtime, 400);
	assert_frame(f->stack.frames[WIRE_MAX_USER_FRAMES - 1], RUNTIME_AT(399));
	assert_int_equal(f->stack.end, STOP_REASON_DEPTH);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_frame(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

/* Runs of a process whose code is known by now. */
static void test_without_copy(void **state)
{
	const uint64_t words[] = { RAW(LIB + 0x10), ANCHOR(STACK), CODE(0x1000, 1) };
	struct fixture *f = *state;

	f->head.generation = 0;
	f->head.end = STOP_REASON_NO_TABLE;
	GIVE(f, words);
	CHECK(f, STOP_REASON_NO_TABLE, FILE_AT(2, 0x8010), RUNTIME_AT(0), REASON(NO_TABLE));
}

/* Why the walk has ended is told by its last frame, which is the one before the runs. */
static void test_no_mapping_without_copy(void **state)
{
	const uint64_t words[] = { RAW(NOWHERE), ANCHOR(STACK), CODE(0x1000, 1) };
	struct fixture *f = *state;

	f->head.end = STOP_REASON_NO_MAPPING;
	GIVE(f, words);
	CHECK(f, STOP_REASON_NO_MAPPING, UNKNOWN, RUNTIME_AT(0), REASON(NO_MAPPING));
}

static void make_user_unwound(struct fixture *f, const uint64_t *stack, size_t n_stack)
{
	f->head.generation = 0;
	f->head.flags = WIRE_USER_UNWOUND;
	f->head.end = STOP_REASON_NO_TABLE;
	f->head.stack_words = (uint16_t)n_stack;
	f->user_unwound.flags = WIRE_USER_UNWOUND_EXACT;
	f->user_unwound.regs.pc = EXE + 0x10;
	f->user_unwound.regs.reg[WIRE_ABI_SP] = STACK;
	f->user_unwound.n_skipped = WIRE_BELOW_BYTES;
	f->in.user_unwound = &f->user_unwound;
	f->in.stack = (const uint8_t *)stack;
}

/* Each frame has 16 bytes; the outermost is the fourth. */
static const uint64_t deep[] = { 0, EXE + 0x21, 0, EXE + 0x31, 0, EXE + 0x4001 };

static void test_user_unwound_run(void **state)
{
	const uint64_t words[] = { RAW(EXE + 0x10), ANCHOR(STACK + 24), CODE(0x1000, 1),
				   CODE(0x2000, 2) };
	struct fixture *f = *state;

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), RUNTIME_AT(0), RUNTIME_AT(1),
	      FILE_AT(1, 0x1030), FILE_AT(1, 0x5000));
	check_prints(f, 1, 2);
}

/* Which frame gives way to a run with its anchor there; 4: none does, it comes behind. */
static void test_user_unwound_anchors(void **state)
{
	static const struct {
		uint64_t anchor;
		uint32_t frame;
	} rows[] = {
		{ STACK, 0 },	   { STACK + 15, 0 },
		{ STACK + 16, 1 }, { STACK + 31, 1 },
		{ STACK + 32, 2 }, { STACK + 47, 2 },
		{ STACK + 48, 4 }, { STACK - 1, 4 },
		{ 0, 4 },	   { WIRE_RUNTIME_ADDRESS_MASK, 4 },
	};
	const struct frame_ref native[] = { FILE_AT(1, 0x1010), FILE_AT(1, 0x1020),
					    FILE_AT(1, 0x1030), FILE_AT(1, 0x5000) };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t words[] = { RAW(EXE + 0x10), ANCHOR(rows[i].anchor),
					   CODE(0x1000, 1) };
		struct frame_ref expected[5];

		memcpy(expected, native, sizeof(native));
		expected[rows[i].frame] = RUNTIME_AT(0);
		make_user_unwound(f, deep, ARRAY_SIZE(deep));
		GIVE(f, words);
		check(f, STOP_REASON_ROOT, expected, rows[i].frame == 4 ? 5 : 4);
	}
}

#define ANCHOR_WITH(at, flags, bytes) \
	(WIRE_FRAME_RUNTIME | ((at)&WIRE_RUNTIME_ADDRESS_MASK)), ((flags) | (uint64_t)(bytes) << 32)

#define LOOP (EXE + 0x1000)

/* Frames of 80 bytes: of the loop's code, that of the loop's caller, which is the outermost. */
static void make_loops(struct fixture *f, uint64_t leaf, uint64_t second, uint64_t third)
{
	static uint64_t stack[30];

	stack[9] = second;
	stack[19] = third;
	stack[29] = EXE + 0x4001;
	make_user_unwound(f, stack, ARRAY_SIZE(stack));
	f->user_unwound.regs.pc = leaf;
}

/* A runtime that has nothing on the C stack: each frame of its loop's code is an activation, and has one run. */
static void test_user_unwound_anchors_of_code(void **state)
{
	const uint64_t words[] = {
		RAW(LOOP + 0x10), ANCHOR_WITH(LOOP + 0x20, WIRE_ANCHOR_CODE, 0x20),
		CODE(0x1000, 1),  ANCHOR_WITH(LOOP + 0x20, WIRE_ANCHOR_CODE, 0x20),
		CODE(0x2000, 2),  ANCHOR_WITH(LOOP + 0x20, WIRE_ANCHOR_CODE, 0x20),
		CODE(0x3000, 3)
	};
	struct fixture *f = *state;

	make_loops(f, LOOP + 0x10, LOOP + 0x21, LOOP + 0x31);
	GIVE(f, words);
	/* The third has no activation. */
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x2010), RUNTIME_AT(0), RUNTIME_AT(1),
	      FILE_AT(1, 0x5000), RUNTIME_AT(2));
}

/* Where the frame of an activation is not in the list its caller's is the first one. */
static void test_user_unwound_anchor_of_code_that_is_not_listed(void **state)
{
	static const struct {
		uint64_t off;
		bool is_listed;
	} rows[] = { { 0x10, false }, { 0x11, true }, { 0x1f, true }, { 0x20, false },
		     { 0x25, false }, { 0x26, true }, { 0x3f, true }, { 0x40, false } };
	const uint32_t print = anchor_code_print(0x11, 0x20);
	const uint32_t bytes = anchor_code_position(0x40, 6);
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t words[] = { RAW(LOOP + rows[i].off), ANCHOR_WITH(LOOP, print, bytes),
					   CODE(0x1000, 1), ANCHOR_WITH(LOOP, print, bytes),
					   CODE(0x2000, 2) };

		make_loops(f, LOOP + rows[i].off, LOOP + 0x31, LOOP + 0x51);
		GIVE(f, words);
		if (rows[i].is_listed)
			CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), RUNTIME_AT(1), FILE_AT(1, 0x2050),
			      FILE_AT(1, 0x5000));
		else
			CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x2000 + rows[i].off), RUNTIME_AT(0),
			      FILE_AT(1, 0x2050), FILE_AT(1, 0x5000), RUNTIME_AT(1));
	}
}

/* In a prologue, and in an epilogue that is not known as one. */
static void test_user_unwound_anchor_of_code_with_a_small_frame(void **state)
{
	const uint64_t words[] = { RAW(EXE + 0x10), ANCHOR_WITH(EXE, WIRE_ANCHOR_CODE, 0x40),
				   CODE(0x1000, 1) };
	struct fixture *f = *state;

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020), FILE_AT(1, 0x1030),
	      FILE_AT(1, 0x5000), RUNTIME_AT(0));
}

/* What the activation calls is of the interpreter, if it is of the same file and native. */
static void test_user_unwound_anchor_and_its_callee(void **state)
{
	const uint64_t words[] = { RAW(EXE + 0x10), ANCHOR_WITH(STACK + 24, WIRE_ANCHOR_CALLEE, 0),
				   CODE(0x1000, 1), ANCHOR_WITH(STACK + 40, WIRE_ANCHOR_CALLEE, 0),
				   CODE(0x2000, 2) };
	struct fixture *f = *state;

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), RUNTIME_AT(1), FILE_AT(1, 0x5000));
}

/* Both are shown where that is wanted: the activation behind what it runs. */
static void test_user_unwound_anchor_that_keeps(void **state)
{
	const uint64_t words[] = {
		RAW(EXE + 0x10), ANCHOR_WITH(STACK + 24, WIRE_ANCHOR_KEEPS | WIRE_ANCHOR_CALLEE, 0),
		CODE(0x1000, 1), CODE(0x2000, 2)
	};
	struct fixture *f = *state;

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), RUNTIME_AT(0), RUNTIME_AT(1),
	      FILE_AT(1, 0x1020), FILE_AT(1, 0x1030), FILE_AT(1, 0x5000));
}

static void test_user_unwound_two_runs_of_one_activation(void **state)
{
	const uint64_t words[] = { RAW(EXE + 0x10), ANCHOR(STACK + 16), CODE(0x1000, 1),
				   ANCHOR(STACK + 24), CODE(0x2000, 2) };
	struct fixture *f = *state;

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), RUNTIME_AT(0), RUNTIME_AT(1),
	      FILE_AT(1, 0x1030), FILE_AT(1, 0x5000));
}

static void test_user_unwound_runs_of_several_activations(void **state)
{
	const uint64_t words[] = { RAW(EXE + 0x10),    ANCHOR(STACK + 8), CODE(0x1000, 1),
				   ANCHOR(STACK + 40), CODE(0x2000, 2),	  CODE(0x3000, 3) };
	struct fixture *f = *state;

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), FILE_AT(1, 0x1020), RUNTIME_AT(1), RUNTIME_AT(2),
	      FILE_AT(1, 0x5000));
	check_prints(f, 1, 3);
}

/* Behind what the walk has reached, in their own order, and before the reason. */
static void test_user_unwound_runs_out_of_reach(void **state)
{
	const uint64_t words[] = { RAW(EXE + 0x10), ANCHOR(STACK + 0x100), CODE(0x1000, 1),
				   ANCHOR(STACK + 0x200), CODE(0x2000, 2) };
	struct fixture *f = *state;

	make_user_unwound(f, deep, 3);
	GIVE(f, words);
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020), RUNTIME_AT(0),
	      RUNTIME_AT(1), REASON(COPY_END));
}

/* The kernel half came so far, runs among it; the walk goes on, and so do they. */
static void test_user_unwound_resumed(void **state)
{
	const uint64_t words[] = { FRAME(2, 0x8010), ANCHOR(STACK - 64), CODE(0x1000, 1),
				   FRAME(2, 0x8020), FRAME(1, 0x1070),	 ANCHOR(STACK + 8),
				   CODE(0x2000, 2) };
	const uint64_t stack[] = { 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, stack, ARRAY_SIZE(stack));
	f->head.generation = NOW;
	f->user_unwound.flags = 0;
	f->user_unwound.regs.pc = EXE + 0x70;
	f->user_unwound.n_right = 6;
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(2, 0x8010), RUNTIME_AT(0), FILE_AT(2, 0x8020),
	      RUNTIME_AT(1), FILE_AT(1, 0x5000));
	check_prints(f, 1, 2);
}

/* As user_unwound_with_all_registers: the walk begins anew, and with it the runs. */
static void test_user_unwound_walked_twice(void **state)
{
	const uint64_t words[] = { FRAME(1, 0x1010), FRAME(1, 0x4010),	 ANCHOR(STACK + 8),
				   CODE(0x1000, 1),  ANCHOR(STACK + 40), CODE(0x2000, 2) };
	const uint64_t stack[] = { STACK + 32, EXE + 0x3011, 0, 0, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, stack, ARRAY_SIZE(stack));
	f->head.generation = NOW;
	f->head.end = STOP_REASON_REGISTER;
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), RUNTIME_AT(1), FILE_AT(1, 0x5000));
	check_prints(f, 1, 2);
	/* Once only: the second run is out of reach. */
	f->user_unwound.flags = 0;
	CHECK(f, STOP_REASON_REGISTER, RUNTIME_AT(0), FILE_AT(1, 0x4010), RUNTIME_AT(1),
	      REASON(REGISTER));
	check_prints(f, 1, 2);
}

/* What the kernel half had put between runs is not of the run before it: generated code that it had named is found again. */
static void test_user_unwound_walked_twice_past_named_code(void **state)
{
	const uint64_t words[] = { FRAME(1, 0x1010), ANCHOR(STACK + 8), CODE(0x1000, 1),
				   FRAME(1, 0x4010), CODE(0x3000, 3),	ANCHOR(STACK + 40),
				   CODE(0x2000, 2) };
	const uint64_t stack[] = { STACK + 32, EXE + 0x3011, 0, 0, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, stack, ARRAY_SIZE(stack));
	f->head.generation = NOW;
	f->head.end = STOP_REASON_REGISTER;
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), RUNTIME_AT(1), FILE_AT(1, 0x5000));
	check_prints(f, 1, 2);
}

/* With right frames of the runtime before them, which stay. */
static void test_user_unwound_resumed_and_walked_twice(void **state)
{
	const uint64_t words[] = { ANCHOR(STACK - 64), CODE(0x1000, 1), FRAME(2, 0x8020),
				   ANCHOR(STACK + 8), CODE(0x2000, 2) };
	const uint64_t stack[] = { STACK + 32, EXE + 0x3011, 0, 0, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, stack, ARRAY_SIZE(stack));
	f->head.generation = NOW;
	f->user_unwound.n_right = 5;
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, RUNTIME_AT(0), FILE_AT(2, 0x8020), RUNTIME_AT(1),
	      FILE_AT(1, 0x4010), FILE_AT(1, 0x5000));
	check_prints(f, 1, 2);
}

/* Two tries are two stacks, of which one is taken. */
static void test_user_unwound_in_doubt(void **state)
{
	static const struct mapping_spec ahead[] = { { EXE, EXE + 0x10000, 0x1000, 11 } };
	const uint64_t words[] = { RAW(EXE + 0x10), ANCHOR(STACK + 24), CODE(0x1000, 1) };
	struct fixture *f = *state;

	f->process.mappings_ahead = make_mappings(f->files, ahead, ARRAY_SIZE(ahead));
	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x1010), RUNTIME_AT(0), FILE_AT(1, 0x1030),
	      FILE_AT(1, 0x5000));
	check_prints(f, 1, 1);
	make_user_unwound(f, deep, 3);
	CHECK(f, STOP_REASON_COPY_END, FILE_AT(1, 0x1010), FILE_AT(1, 0x1020), RUNTIME_AT(0),
	      REASON(COPY_END));
	check_prints(f, 1, 1);
}

/* From one stack to another that lies below it: between the two there is no stretch of the frame's, and no anchor above is in it. */
static void test_user_unwound_other_stack_below(void **state)
{
	const uint64_t words[] = { RAW(EXE + 0x8010), ANCHOR(STACK + 0x1000), CODE(0x1000, 1) };
	const uint64_t stack[] = { 0, 0, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_user_unwound(f, stack, ARRAY_SIZE(stack));
	f->user_unwound.regs.pc = EXE + 0x8010;
	f->user_unwound.regs.reg[3] = STACK - 0x10000;
	f->user_unwound.pieces[0] = (struct wire_piece){ STACK - 0x10000, 2 * WIRE_WORD_BYTES };
	GIVE(f, words);
	CHECK(f, STOP_REASON_ROOT, FILE_AT(1, 0x9010), FILE_AT(1, 0x5000), RUNTIME_AT(0));
}

static void test_user_unwound_ends_in_half_a_frame(void **state)
{
	struct fixture *f = *state;

	for (size_t n = 2; n <= 4; n += 2) {
		const uint64_t all[] = { RAW(EXE + 0x10), ANCHOR(STACK + 8), CODE(0x1000, 1) };
		_cleanup_free_ uint64_t *words = malloc(n * sizeof(*words));

		assert_non_null(words);
		memcpy(words, all, n * sizeof(*words));
		make_user_unwound(f, deep, ARRAY_SIZE(deep));
		give_frames(f, words, n);
		make(f);
		check_bounds(f);
		assert_int_equal(f->stack.n_runtime, 0);
	}
}

/* The right frames end in half of one: nobody has said why the stack ends there, least of all the sample before. */
static void test_user_unwound_right_ends_in_half_a_frame(void **state)
{
	const uint64_t words[] = { FRAME(1, 0x1020), CODE(0x1000, 1) };
	struct fixture *f = *state;

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	f->user_unwound.n_right = 2;
	give_frames(f, words, 2);
	f->stack.end = STOP_REASON_ROOT;
	make(f);
	check_bounds(f);
	assert_frame(f->stack.frames[0], FILE_AT(1, 0x1020));
	assert_int_equal(f->stack.n, 2);
	assert_int_equal(frame_ref_kind(f->stack.frames[1]), FRAME_KIND_END);
	assert_false(stop_reason_is_complete(f->stack.end));
}

static void test_user_unwound_right_too_deep(void **state)
{
	struct fixture *f = *state;
	uint64_t words[WIRE_MAX_USER_WORDS];

	make_too_many(words, 600);
	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	f->user_unwound.n_right = WIRE_MAX_USER_WORDS;
	GIVE(f, words);
	f->stack.end = STOP_REASON_ROOT;
	make(f);
	check_bounds(f);
	assert_int_equal(f->stack.end, STOP_REASON_DEPTH);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
}

/* More than there is room for in the middle of the walk, and behind it. */
static void test_user_unwound_run_too_deep(void **state)
{
	static const uint64_t anchors[] = { STACK + 24, STACK + 0x1000 };
	struct fixture *f = *state;
	uint64_t words[WIRE_MAX_USER_WORDS];

	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++) {
		const uint64_t begin[] = { RAW(EXE + 0x10), ANCHOR(anchors[i]) };

		memcpy(words, begin, sizeof(begin));
		fill_code(&words[3], (WIRE_MAX_USER_WORDS - 3) / 2);
		make_user_unwound(f, deep, ARRAY_SIZE(deep));
		give_frames(f, words, WIRE_MAX_USER_WORDS - 1);
		make(f);
		check_bounds(f);
		/* 998 of the runtime's, one before them, and behind them what there is still room for. */
		assert_int_equal(f->stack.n_runtime, i == 0 ? 998 : 996);
		assert_frame(f->stack.frames[0], FILE_AT(1, 0x1010));
	}
}

/* As many words as a record can have, all of them one thing. */
static void test_words_without_end(void **state)
{
	static const uint64_t all[] = { WIRE_FRAME_RUNTIME, WIRE_FRAME_RUNTIME | (STACK + 8),
					UINT64_MAX,
					WIRE_FRAME_RUNTIME | 5ULL << WIRE_RUNTIME_KIND_SHIFT, 0 };
	struct fixture *f = *state;
	uint64_t words[WIRE_MAX_USER_WORDS];

	make_user_unwound(f, deep, ARRAY_SIZE(deep));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (uint32_t n_right = 0; n_right <= WIRE_MAX_USER_WORDS; n_right += 500)
			for (uint16_t odd = 0; odd < 2; odd++) {
				for (size_t k = 0; k < WIRE_MAX_USER_WORDS; k++)
					words[k] = all[i];
				f->user_unwound.n_right = n_right - (n_right && odd);
				give_frames(f, words, WIRE_MAX_USER_WORDS - odd);
				make(f);
				check_bounds(f);
				f->in.user_unwound = f->in.user_unwound ? NULL : &f->user_unwound;
			}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_kernel_unwound_run),
		FIXTURE_TEST(test_kernel_unwound_leaf_is_a_run),
		FIXTURE_TEST(test_kernel_unwound_caller_in_no_mapping),
		FIXTURE_TEST(test_kernel_unwound_strange_frames),
		FIXTURE_TEST(test_kernel_unwound_stale),
		FIXTURE_TEST(test_kernel_unwound_ends_in_half_a_frame),
		FIXTURE_TEST(test_kernel_unwound_most_frames),
		FIXTURE_TEST(test_kernel_unwound_too_deep),
		FIXTURE_TEST(test_without_copy),
		FIXTURE_TEST(test_no_mapping_without_copy),
		FIXTURE_TEST(test_user_unwound_run),
		FIXTURE_TEST(test_user_unwound_anchors),
		FIXTURE_TEST(test_user_unwound_anchors_of_code),
		FIXTURE_TEST(test_user_unwound_anchor_of_code_that_is_not_listed),
		FIXTURE_TEST(test_user_unwound_anchor_of_code_with_a_small_frame),
		FIXTURE_TEST(test_user_unwound_anchor_and_its_callee),
		FIXTURE_TEST(test_user_unwound_anchor_that_keeps),
		FIXTURE_TEST(test_user_unwound_two_runs_of_one_activation),
		FIXTURE_TEST(test_user_unwound_runs_of_several_activations),
		FIXTURE_TEST(test_user_unwound_runs_out_of_reach),
		FIXTURE_TEST(test_user_unwound_resumed),
		FIXTURE_TEST(test_user_unwound_walked_twice),
		FIXTURE_TEST(test_user_unwound_walked_twice_past_named_code),
		FIXTURE_TEST(test_user_unwound_resumed_and_walked_twice),
		FIXTURE_TEST(test_user_unwound_in_doubt),
		FIXTURE_TEST(test_user_unwound_other_stack_below),
		FIXTURE_TEST(test_user_unwound_ends_in_half_a_frame),
		FIXTURE_TEST(test_user_unwound_right_ends_in_half_a_frame),
		FIXTURE_TEST(test_user_unwound_right_too_deep),
		FIXTURE_TEST(test_user_unwound_run_too_deep),
		FIXTURE_TEST(test_words_without_end),
	};

	return cmocka_run_group_tests_name("agent/unwind/user_stack_runtime", tests, NULL, NULL);
}
