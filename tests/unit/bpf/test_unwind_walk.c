/* SPDX-License-Identifier: Apache-2.0 */
/* Whole walks of bpf/unwind.h: rules and frame pointers by turns, through signal frames, to where they end. */
#include "tests/support/unit.h"
#include "tests/unit/bpf/unwind_context.h"

#include <stdlib.h>

#include "agent/util/cleanup.h"
#include "agent/util/hash.h"

#define CFI_RULE(off)                                                                             \
	{                                                                                         \
		.cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .cfa_off = (off), .ra = RULE_RA_CFA, \
		.ra_off = -8                                                                      \
	}

/* Functions by what is known of them, a page each. */
#define FN_CFI (TEXT + 0x1000)	  /* CFA = sp + 16 */
#define FN_FP (TEXT + 0x2000)	  /* no rule */
#define FN_START (TEXT + 0x3000)  /* outermost */
#define FN_SIGNAL (TEXT + 0x4000) /* rt_sigreturn */
#define FN_LEAF (TEXT + 0x5000)	  /* CFA by a register that only leaves know */

static const struct rule_row rules[] = {
	{ FN_CFI, 0x1000, CFI_RULE(16) },
	{ FN_START,
	  0x1000,
	  { .cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .ra = RULE_RA_UNDEFINED } },
	{ FN_SIGNAL,
	  0x1000,
	  { .cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .ra = RULE_RA_SIGNAL } },
	{ FN_LEAF,
	  0x1000,
	  { .cfa = RULE_CFA_REG, .cfa_reg = 3, .cfa_off = 8, .ra = RULE_RA_CFA, .ra_off = -8 } },
};

static struct context context_of(const uint64_t *words, size_t n_words)
{
	return (struct context){
		.rules = rules, .n_rules = ARRAY_SIZE(rules), .words = words, .n_words = n_words
	};
}

static struct wire_regs regs_at(uint64_t pc, uint64_t fp)
{
	return (struct wire_regs){ .pc = pc, .reg = { [WIRE_ABI_SP] = STACK, [WIRE_ABI_FP] = fp } };
}

static void check_frames(const struct walked *out, enum stop_reason end, const uint64_t *pcs,
			 uint32_t n)
{
	assert_int_equal(out->end, end);
	assert_int_equal(out->n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(out->frames[i], FRAME_OF(pcs[i]));
}

#define CHECK_FRAMES(out, end, ...)                                   \
	check_frames((out), (end), (const uint64_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void test_rules_to_the_root(void **state)
{
	const uint64_t words[] = { 1, FN_CFI + 0x20, 2, FN_CFI + 0x30, 3, FN_START + 0x40 };
	struct wire_regs regs = regs_at(FN_CFI + 0x10, 0);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	walk_all(&context, &regs, &context_process, &out);
	CHECK_FRAMES(&out, STOP_REASON_ROOT, FN_CFI + 0x10, FN_CFI + 0x1f, FN_CFI + 0x2f,
		     FN_START + 0x3f);
	assert_int_equal(context.walk.n_cfi, 3);
	assert_int_equal(context.walk.n_fp, 0);
	assert_int_equal(context.walk.n_raw, 0);
	/* All in the mapping that was found first. */
	assert_int_equal(context.n_finds, 1);
}

/* A function without rules in the middle costs one step by frame pointer, and rules go on above it. */
static void test_frame_pointer_for_one_frame_only(void **state)
{
	const uint64_t words[] = {
		1, FN_FP + 0x20, 2, STACK + 64, FN_CFI + 0x30, 5, FN_START + 0x40
	};
	struct wire_regs regs = regs_at(FN_CFI + 0x10, STACK + 24);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	walk_all(&context, &regs, &context_process, &out);
	CHECK_FRAMES(&out, STOP_REASON_ROOT, FN_CFI + 0x10, FN_FP + 0x1f, FN_CFI + 0x2f,
		     FN_START + 0x3f);
	assert_int_equal(context.walk.n_cfi, 2);
	assert_int_equal(context.walk.n_fp, 1);
}

/* The leaf's registers are not the caller's. */
static void test_register_of_the_leaf_in_a_caller(void **state)
{
	const uint64_t words[] = { 1, FN_LEAF + 0x20 };
	struct wire_regs regs = regs_at(FN_CFI + 0x10, 0);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	regs.reg[3] = STACK;
	walk_all(&context, &regs, &context_process, &out);
	CHECK_FRAMES(&out, STOP_REASON_REGISTER, FN_CFI + 0x10, FN_LEAF + 0x1f);
	regs.pc = FN_LEAF + 0x20;
	walk_all(&context, &regs, &context_process, &out);
	assert_int_equal(out.frames[0], FRAME_OF(FN_LEAF + 0x20));
	assert_true(out.n > 1 || out.end != STOP_REASON_REGISTER);
}

/* Unless somebody kept track of it; no function without rules lies between. */
static void test_register_that_was_saved(void **state)
{
	const uint64_t words[] = { 1,	  FN_LEAF + 0x20, STACK + 48, FN_LEAF + 0x30,
				   STACK, FN_START + 1 };
	struct wire_regs regs = regs_at(FN_CFI + 0x10, STACK + 16);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	context.saved = 1u << 3;
	context.saved_value = STACK + 40;
	walk_all(&context, &regs, &context_process, &out);
	CHECK_FRAMES(&out, STOP_REASON_ROOT, FN_CFI + 0x10, FN_LEAF + 0x1f, FN_START);
	context.saved = 1u << 2;
	walk_all(&context, &regs, &context_process, &out);
	assert_int_equal(out.end, STOP_REASON_REGISTER);
	/* The leaf has no rule: nobody knows what it did to the register. */
	context.saved = 1u << 3;
	regs.pc = FN_FP + 0x10;
	walk_all(&context, &regs, &context_process, &out);
	CHECK_FRAMES(&out, STOP_REASON_REGISTER, FN_FP + 0x10, FN_LEAF + 0x2f);
}

#if WIRE_N_REGS == 16
/* handler → rt_sigreturn → what was interrupted, which is a leaf again: its pc is exact and its registers are known. */
static void test_through_a_signal(void **state)
{
	uint64_t words[64] = { 1, FN_SIGNAL + 1 };
	uint64_t *frame = words + 2;
	struct wire_regs regs = regs_at(FN_CFI + 0x10, 0);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	frame[5 + 11] = STACK + 400; /* rbx */
	frame[5 + 15] = STACK + 392; /* rsp */
	frame[5 + 16] = FN_LEAF;     /* rip: the first byte, one before is another function's */
	words[50] = FN_START + 0x40;
	walk_all(&context, &regs, &context_process, &out);
	CHECK_FRAMES(&out, STOP_REASON_ROOT, FN_CFI + 0x10, FN_SIGNAL, FN_LEAF, FN_START + 0x3f);
	assert_int_equal(context.walk.n_signal, 1);
	assert_int_equal(context.walk.n_cfi, 2);
}
#endif

/* A signal frame that leads to itself does not make an endless walk. */
static void test_signal_loop_ends(void **state)
{
	uint64_t words[128];
	struct wire_regs regs = regs_at(FN_SIGNAL, 0);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = STACK;
	words[WIRE_N_REGS == 16 ? 21 : 71] = FN_SIGNAL;
	walk_all(&context, &regs, &context_process, &out);
	assert_int_equal(out.end, STOP_REASON_DEPTH);
	assert_int_equal(out.n, WIRE_MAX_USER_FRAMES);
}

static void test_after_a_system_call(void **state)
{
	const uint64_t words[] = { 1, FN_START + 0x40 };
	struct wire_regs regs = regs_at(FN_CFI, 0);
	struct context context = context_of(words, ARRAY_SIZE(words));

	(void)state;
	/* The instruction that calls may be the last one of its function. */
	unwind_begin(&context.walk, &regs, &context_process, UNWIND_EXACT, 1);
	assert_int_equal(unwind_frame(&context.walk), FRAME_OF(FN_CFI - 1));
	unwind_begin(&context.walk, &regs, &context_process, UNWIND_EXACT, 0);
	assert_int_equal(unwind_frame(&context.walk), FRAME_OF(FN_CFI));
}

/* The state stays that of the frame that could not be left, for whoever goes on. */
static void test_caller_in_no_mapping(void **state)
{
	const uint64_t words[] = { 1, NOWHERE + 1 };
	struct wire_regs regs = regs_at(FN_CFI + 0x10, 77);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	walk_all(&context, &regs, &context_process, &out);
	assert_int_equal(out.end, STOP_REASON_NO_MAPPING);
	assert_int_equal(out.n, 2);
	assert_int_equal(out.frames[1], WIRE_FRAME_RAW | NOWHERE);
	assert_int_equal(context.walk.n_raw, 1);
	assert_int_equal(context.walk.pc, NOWHERE);
	assert_int_equal(context.walk.reg[WIRE_ABI_SP], STACK + 16);
	assert_int_equal(context.walk.reg[WIRE_ABI_FP], 77);
	assert_int_equal(context.walk.flags, 0);
}

static void test_leaf_in_no_mapping(void **state)
{
	const uint64_t words[] = { 1, FN_CFI };
	struct wire_regs regs = regs_at(NOWHERE, STACK);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	walk_all(&context, &regs, &context_process, &out);
	assert_int_equal(out.end, STOP_REASON_NO_MAPPING);
	assert_int_equal(out.n, 1);
	assert_int_equal(out.frames[0], WIRE_FRAME_RAW | NOWHERE);
	assert_int_equal(context.walk.flags, UNWIND_EXACT);
}

/* Another file's text, whose table is not loaded: the walk stops there, its state is that file's frame. */
static void test_absent_table(void **state)
{
	const struct wire_mapping mappings[] = {
		context_text,
		{ .begin = NOWHERE,
		  .frame_base = (9ULL << WIRE_FRAME_OFFSET_BITS) + 0x8000,
		  .n_pages = 1,
		  .object = WIRE_OBJECT_ABSENT },
	};
	const struct wire_process process = { .mappings_at = 1, .n_mappings = 2, .generation = 1 };
	const uint64_t words[] = { 1, NOWHERE + 0x11, STACK + 32, FN_CFI + 1 };
	struct wire_regs regs = regs_at(FN_CFI + 0x10, STACK + 16);
	struct context context = context_of(words, ARRAY_SIZE(words));
	struct walked out;

	(void)state;
	context.mappings = mappings;
	context.n_mappings = 2;
	walk_all(&context, &regs, &process, &out);
	assert_int_equal(out.end, STOP_REASON_NO_TABLE);
	assert_int_equal(out.n, 2);
	assert_int_equal(out.frames[1], mappings[1].frame_base + 0x10);
	assert_int_equal(unwind_file_off(&context.walk), 0x8010);
	assert_int_equal(context.walk.pc, NOWHERE + 0x10);
	assert_int_equal(context.walk.reg[WIRE_ABI_SP], STACK + 16);
	assert_int_equal(context.walk.n_raw, 0);
}

/* A pc outside leaves the cached mapping where it was. */
static void test_mapping_is_cached(void **state)
{
	struct wire_regs regs = regs_at(TEXT, 0);
	struct context context = context_of(NULL, 0);
	struct unwind_walk *w = &context.walk;

	(void)state;
	unwind_begin(w, &regs, &context_process, UNWIND_EXACT, 0);
	assert_int_equal(unwind_frame(w), FRAME_OF(TEXT));
	w->pc = TEXT + TEXT_BYTES - 1;
	assert_int_equal(unwind_frame(w), FRAME_OF(TEXT + TEXT_BYTES - 1));
	assert_int_equal(context.n_finds, 1);
	w->pc = TEXT + TEXT_BYTES;
	assert_int_equal(unwind_frame(w), WIRE_FRAME_RAW | (TEXT + TEXT_BYTES));
	w->pc = TEXT - 1;
	assert_int_equal(unwind_frame(w), WIRE_FRAME_RAW | (TEXT - 1));
	assert_int_equal(context.n_finds, 3);
	w->pc = TEXT;
	assert_int_equal(unwind_frame(w), FRAME_OF(TEXT));
	assert_int_equal(context.n_finds, 3);
	assert_int_equal(w->n_raw, 2);
}

/* Frame records of an unknown process, one above the other; the last one says that there is no more. */
static uint64_t *make_chain(size_t n)
{
	uint64_t *words = calloc(n * 2, sizeof(*words));

	assert_non_null(words);
	for (size_t i = 0; i + 1 < n; i++) {
		words[2 * i] = i + 2 < n ? STACK + (i + 1) * 16 : 0;
		words[2 * i + 1] = 0x500000 + i * 16;
	}
	return words;
}

static void check_chain(size_t n, enum stop_reason end, size_t n_frames)
{
	_cleanup_free_ uint64_t *words = make_chain(n);
	struct context context = context_of(words, n * 2);
	struct wire_regs regs = regs_at(0x401234, STACK);
	struct walked out;

	walk_all(&context, &regs, NULL, &out);
	assert_int_equal(out.end, end);
	assert_int_equal(out.n, n_frames);
	assert_int_equal(out.frames[0], WIRE_FRAME_RAW | 0x401234);
	for (size_t i = 1; i < n_frames; i++)
		assert_int_equal(out.frames[i], WIRE_FRAME_RAW | (0x500000 + (i - 1) * 16 - 1));
	assert_int_equal(context.walk.n_raw, n_frames);
	assert_int_equal(context.n_finds, 0);
}

static void test_chain_of_an_unknown_process(void **state)
{
	(void)state;
	check_chain(2, STOP_REASON_ROOT, 2);
	check_chain(3, STOP_REASON_ROOT, 3);
	check_chain(30, STOP_REASON_ROOT, 30);
	check_chain(WIRE_MAX_USER_FRAMES, STOP_REASON_ROOT, WIRE_MAX_USER_FRAMES);
	/* One more than fits: it has not ended by itself. */
	check_chain(WIRE_MAX_USER_FRAMES + 1, STOP_REASON_DEPTH, WIRE_MAX_USER_FRAMES);
}

/* A record that points to itself, or down, does not make an endless walk. */
static void test_record_loop_ends(void **state)
{
	const uint64_t to_itself[2] = { STACK, 0x500000 };
	const uint64_t downwards[4] = { STACK, 0x500000, STACK, 0x500010 };
	struct context context = context_of(to_itself, 2);
	struct wire_regs regs = regs_at(0x401234, STACK);
	struct walked out;

	(void)state;
	walk_all(&context, &regs, NULL, &out);
	assert_int_equal(out.end, STOP_REASON_NO_RULE);
	assert_int_equal(out.n, 2);
	context = context_of(downwards, 4);
	regs.reg[WIRE_ABI_FP] = STACK + 16;
	walk_all(&context, &regs, NULL, &out);
	assert_int_equal(out.end, STOP_REASON_NO_RULE);
	assert_int_equal(out.n, 2);
}

#define N_WORDS 256

/* Mostly pointers into the stack or near it, some return addresses, some noise. */
static void fill_at_random(uint64_t *words, uint64_t *seed)
{
	for (unsigned int i = 0; i < N_WORDS; i++) {
		uint64_t r = hash_u64((*seed)++);

		words[i] = r % 8 < 4   ? STACK + hash_u64(r) % (N_WORDS * 9) / 8 * 8
			   : r % 8 < 7 ? TEXT + hash_u64(r) % 0x8000
				       : hash_u64(r);
	}
}

/* Without a switch of stacks, which a rule must allow. */
static struct unwind_rule random_rule(uint64_t *seed)
{
	uint64_t r = hash_u64((*seed)++);

	return (struct unwind_rule){
		.cfa = (uint8_t)(r % 8 < 5 ? RULE_CFA_REG : r % 4),
		.cfa_reg = (uint8_t)((r >> 4) % 4 ? WIRE_ABI_SP : (r >> 6) % 40),
		.fp = (uint8_t)((r >> 12) % 5),
		.fp_reg = (uint8_t)((r >> 16) % 40),
		.ra = (uint8_t)((r >> 24) % 8 ? RULE_RA_CFA : (r >> 27) % 4),
		.ra_reg = (uint8_t)((r >> 32) % 40),
		.cfa_off = ((int32_t)((r >> 40) % 12) - 1) * 8,
		.fp_off = ((int32_t)((r >> 48) % 8) - 6) * 8,
		.ra_off = -8,
	};
}

/* Whatever rules and stacks say, each step goes up and every caller is a user address. */
static uint64_t walk_at_random(uint64_t *seed)
{
	struct rule_row random[8];
	uint64_t words[N_WORDS];
	struct context context = {
		.rules = random, .n_rules = ARRAY_SIZE(random), .words = words, .n_words = N_WORDS
	};
	struct unwind_walk *w = &context.walk;
	struct wire_regs regs = regs_at(TEXT + *seed % 0x8000, STACK + *seed % 32 * 8);
	uint64_t n_steps = 0;
	uint64_t sp = STACK;

	fill_at_random(words, seed);
	for (uint64_t i = 0; i < ARRAY_SIZE(random); i++)
		random[i] = (struct rule_row){ TEXT + i * 0x1000, 0x1000, random_rule(seed) };
	unwind_begin(w, &regs, &context_process, UNWIND_EXACT, 0);
	for (; unwind_step(w); n_steps++) {
		assert_true(w->reg[WIRE_ABI_SP] > sp ||
			    (n_steps == 0 && w->rule.ra == RULE_RA_REG));
		assert_in_range(w->pc, UNWIND_PC_MIN, UNWIND_PC_MAX - 2);
		assert_int_equal(w->flags & UNWIND_EXACT, 0);
		sp = w->reg[WIRE_ABI_SP];
	}
	assert_true(w->end < STOP_REASON_MAX && w->end != STOP_REASON_DEPTH);
	assert_int_equal(w->n_cfi + w->n_fp, n_steps);
	return n_steps;
}

static void test_random_walks(void **state)
{
	uint64_t seed = 7;
	uint64_t n_steps = 0;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++)
		n_steps += walk_at_random(&seed);
	assert_true(n_steps > 10000);
}

#define BEGIN (TEXT + 0x200)
#define SIMPLE_RULE                                                                     \
	{                                                                               \
		.cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .cfa_off = 8, .ra_off = -8 \
	}
#define ROOT_RULE                                                                    \
	{                                                                            \
		.cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .ra = RULE_RA_UNDEFINED \
	}

static const struct begin_case {
	const char *name;
	uint64_t ra;
	uint32_t flags;
	struct rule_row rules[2];
	uint32_t object;
	uint8_t stale_ra; /* of the rule before */
	uint32_t end;	  /* STOP_REASON_MAX: goes on */
	uint32_t at_begin;
} begin_cases[] = {
	{ "root_behind_another_function",
	  BEGIN,
	  0,
	  { { BEGIN - 64, 64, SIMPLE_RULE }, { BEGIN, 16, ROOT_RULE } },
	  WIRE_OBJECT_FIRST,
	  0,
	  STOP_REASON_ROOT,
	  1 },
	{ "not_where_no_function_begins",
	  BEGIN + 8,
	  0,
	  { { BEGIN - 56, 64, SIMPLE_RULE }, { BEGIN + 8, 16, ROOT_RULE } },
	  WIRE_OBJECT_FIRST,
	  0,
	  STOP_REASON_MAX,
	  0 },
	{ "not_at_the_leaf",
	  BEGIN,
	  UNWIND_EXACT,
	  { { BEGIN - 64, 64, SIMPLE_RULE }, { BEGIN, 16, ROOT_RULE } },
	  WIRE_OBJECT_FIRST,
	  0,
	  STOP_REASON_MAX,
	  0 },
	{ "any_function_behind_padding",
	  BEGIN,
	  0,
	  { { BEGIN, 16, SIMPLE_RULE } },
	  WIRE_OBJECT_FIRST,
	  0,
	  STOP_REASON_MAX,
	  1 },
	{ "a_function_that_calls_at_its_end",
	  BEGIN,
	  0,
	  { { BEGIN - 64, 64, SIMPLE_RULE }, { BEGIN, 16, SIMPLE_RULE } },
	  WIRE_OBJECT_FIRST,
	  0,
	  STOP_REASON_MAX,
	  0 },
	{ "a_signal_before_memory_without_rules",
	  BEGIN + 8,
	  0,
	  { { 0 } },
	  WIRE_OBJECT_FP,
	  RULE_RA_SIGNAL,
	  STOP_REASON_NO_RULE,
	  0 },
	{ "behind_the_mapping_is_nothing",
	  TEXT + TEXT_BYTES,
	  0,
	  { { TEXT + TEXT_BYTES - 64, 64, SIMPLE_RULE } },
	  WIRE_OBJECT_FIRST,
	  0,
	  STOP_REASON_MAX,
	  0 },
};

/* Code that is returned to at its first byte without having called. */
static void test_begin(void **state)
{
	const struct begin_case *c = *state;
	const struct wire_mapping text = { TEXT, TEXT_FRAME, TEXT_BYTES / WIRE_PAGE_BYTES,
					   c->object };
	uint64_t words[4] = { TEXT + 0x9001, 0, 0, 0 };
	struct wire_regs regs = regs_at(c->ra - 1, 0);
	struct context context = { .mappings = &text,
				   .n_mappings = 1,
				   .rules = c->rules,
				   .n_rules = 2,
				   .words = words,
				   .n_words = 4 };
	struct unwind_walk *w = &context.walk;

	unwind_begin(w, &regs, &context_process, c->flags, 0);
	w->rule.ra = c->stale_ra;
	assert_int_equal(unwind_step(w), c->end == STOP_REASON_MAX);
	if (c->end != STOP_REASON_MAX)
		assert_int_equal(w->end, c->end);
	assert_int_equal(w->at_begin, c->at_begin);
}

static const struct unit_test tests[] = {
	TEST(test_rules_to_the_root),
	TEST(test_frame_pointer_for_one_frame_only),
	TEST(test_register_of_the_leaf_in_a_caller),
	TEST(test_register_that_was_saved),
#if WIRE_N_REGS == 16
	TEST(test_through_a_signal),
#endif
	TEST(test_signal_loop_ends),
	TEST(test_after_a_system_call),
	TEST(test_caller_in_no_mapping),
	TEST(test_leaf_in_no_mapping),
	TEST(test_absent_table),
	TEST(test_mapping_is_cached),
	TEST(test_chain_of_an_unknown_process),
	TEST(test_record_loop_ends),
	TEST(test_random_walks),
	TEST_ROWS(test_begin, begin_cases, name),
};

TEST_MAIN(tests)
