/* SPDX-License-Identifier: Apache-2.0 */
/* One step of bpf/unwind.h: each kind of rule, the signal frame, and the frame pointer where there is no rule. */
#include "tests/support/unit.h"
#include "tests/unit/bpf/unwind_context.h"

#define PC (TEXT + 0x230)
/* What most words of the stack say: another address of the text each. */
#define RA(i) (TEXT + 0x5000 + (i)*16)
#define SP (STACK + 16)
#define FP (STACK + 64)
#define OTHER (STACK + 32)
/* A register that is known in the leaf only. */
#define REG_OTHER 3
#define N_WORDS 24
/* Words with something else in them. */
#define W_PTR 12 /* STACK + 80 */
#define W_ZERO 14
#define W_KERNEL 15
#define W_ONE 16
#define W_PAGE 17
#define W_SECOND_PAGE 18
#define W_TOO_HIGH 19
#define W_HIGHEST 20
/* CFA by the stack pointer such that the return address is word i. */
#define CFA_RA(i) .cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .cfa_off = ((i) + 1) * 8 - 16
#define CFA_SP(off) .cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .cfa_off = (off)
#define RA_CFA .ra = RULE_RA_CFA, .ra_off = -8

static void fill_stack(uint64_t words[N_WORDS])
{
	for (uint64_t i = 0; i < N_WORDS; i++)
		words[i] = RA(i);
	words[W_PTR] = STACK + 80;
	words[W_ZERO] = 0;
	words[W_KERNEL] = 0xffffffff81000000ULL;
	words[W_ONE] = 1;
	words[W_PAGE] = 4096;
	words[W_SECOND_PAGE] = 4097;
	words[W_TOO_HIGH] = UNWIND_PC_MAX;
	words[W_HIGHEST] = UNWIND_PC_MAX - 1;
}

struct rule_case {
	const char *name;
	struct unwind_rule rule;
	uint64_t pc;	/* 0: PC */
	uint32_t flags; /* before */
	int end;	/* −1: it goes on, to: */
	uint64_t to_pc;
	uint64_t to_sp;
	uint64_t to_fp;
	uint32_t to_flags;
};

#define ON (-1)
#define LEAF UNWIND_EXACT
#define LOST UNWIND_FP_LOST

static const struct rule_case rule_cases[] = {
	/* Where the CFA comes from. */
	{ "cfa_sp",
	  { CFA_SP(16), .fp = RULE_FP_CFA, .fp_off = -16, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  RA(2),
	  0 },
	{ "cfa_fp",
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = WIRE_ABI_FP,
	    .cfa_off = 16,
	    .fp = RULE_FP_CFA,
	    .fp_off = -16,
	    RA_CFA },
	  0,
	  0,
	  ON,
	  RA(9) - 1,
	  STACK + 80,
	  RA(8),
	  0 },
	{ "cfa_fp_that_is_lost",
	  { .cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_FP, .cfa_off = 16, RA_CFA },
	  0,
	  LOST,
	  STOP_REASON_REGISTER,
	  0,
	  0,
	  0,
	  0 },
	{ "cfa_sp_while_fp_is_lost",
	  { CFA_SP(16), RA_CFA },
	  0,
	  LOST,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  LOST },
	{ "cfa_other_in_leaf",
	  { .cfa = RULE_CFA_REG, .cfa_reg = REG_OTHER, .cfa_off = 16, RA_CFA },
	  0,
	  LEAF,
	  ON,
	  RA(5) - 1,
	  STACK + 48,
	  FP,
	  0 },
	{ "cfa_other_in_caller",
	  { .cfa = RULE_CFA_REG, .cfa_reg = REG_OTHER, .cfa_off = 16, RA_CFA },
	  0,
	  0,
	  STOP_REASON_REGISTER,
	  0,
	  0,
	  0,
	  0 },
	{ "cfa_beyond_16_bits",
	  { CFA_SP(1 << 20), RA_CFA },
	  0,
	  0,
	  STOP_REASON_STACK_READ,
	  0,
	  0,
	  0,
	  0 },
	{ "cfa_deref_fp",
	  { .cfa = RULE_CFA_DEREF, .cfa_reg = WIRE_ABI_FP, .cfa_off = 32, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(9) - 1,
	  STACK + 80,
	  FP,
	  0 },
	{ "cfa_deref_sp",
	  { .cfa = RULE_CFA_DEREF, .cfa_reg = WIRE_ABI_SP, .cfa_off = 80, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(9) - 1,
	  STACK + 80,
	  FP,
	  0 },
	{ "cfa_deref_other_in_caller",
	  { .cfa = RULE_CFA_DEREF, .cfa_reg = REG_OTHER, .cfa_off = 64, RA_CFA },
	  0,
	  0,
	  STOP_REASON_REGISTER,
	  0,
	  0,
	  0,
	  0 },
	{ "cfa_deref_other_in_leaf",
	  { .cfa = RULE_CFA_DEREF, .cfa_reg = REG_OTHER, .cfa_off = 64, RA_CFA },
	  0,
	  LEAF,
	  ON,
	  RA(9) - 1,
	  STACK + 80,
	  FP,
	  0 },
	{ "cfa_deref_unreadable",
	  { .cfa = RULE_CFA_DEREF, .cfa_reg = WIRE_ABI_SP, .cfa_off = 4096, RA_CFA },
	  0,
	  0,
	  STOP_REASON_STACK_READ,
	  0,
	  0,
	  0,
	  0 },
	{ "cfa_deref_of_no_stack_address",
	  { .cfa = RULE_CFA_DEREF, .cfa_reg = WIRE_ABI_SP, .cfa_off = 0, RA_CFA },
	  0,
	  0,
	  STOP_REASON_NO_PROGRESS,
	  0,
	  0,
	  0,
	  0 },
	{ "plt_before_its_push",
	  { .cfa = RULE_CFA_PLT, .cfa_off = 11, RA_CFA },
	  TEXT + 10,
	  LEAF,
	  ON,
	  RA(2) - 1,
	  STACK + 24,
	  FP,
	  0 },
	{ "plt_behind_its_push",
	  { .cfa = RULE_CFA_PLT, .cfa_off = 11, RA_CFA },
	  TEXT + 11,
	  LEAF,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  0 },
	{ "plt_9_before",
	  { .cfa = RULE_CFA_PLT, .cfa_off = 9, RA_CFA },
	  TEXT + 24,
	  LEAF,
	  ON,
	  RA(2) - 1,
	  STACK + 24,
	  FP,
	  0 },
	{ "plt_9_behind",
	  { .cfa = RULE_CFA_PLT, .cfa_off = 9, RA_CFA },
	  TEXT + 31,
	  LEAF,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  0 },
	/* Where the return address is. */
	{ "ra_not_next_to_the_cfa",
	  { CFA_SP(32), .ra = RULE_RA_CFA, .ra_off = -24 },
	  0,
	  0,
	  ON,
	  RA(3) - 1,
	  STACK + 48,
	  FP,
	  0 },
	{ "ra_in_register_in_leaf",
	  { CFA_SP(8), .ra = RULE_RA_REG, .ra_reg = REG_OTHER },
	  0,
	  LEAF,
	  ON,
	  OTHER - 1,
	  STACK + 24,
	  FP,
	  0 },
	{ "ra_in_register_without_frame",
	  { CFA_SP(0), .ra = RULE_RA_REG, .ra_reg = REG_OTHER },
	  0,
	  LEAF,
	  ON,
	  OTHER - 1,
	  STACK + 16,
	  FP,
	  0 },
	{ "ra_in_register_in_caller",
	  { CFA_SP(8), .ra = RULE_RA_REG, .ra_reg = REG_OTHER },
	  0,
	  0,
	  STOP_REASON_REGISTER,
	  0,
	  0,
	  0,
	  0 },
	{ "ra_deref_sp",
	  { CFA_SP(16), .ra = RULE_RA_DEREF, .ra_reg = WIRE_ABI_SP, .ra_off = 24 },
	  0,
	  0,
	  ON,
	  RA(5) - 1,
	  STACK + 32,
	  FP,
	  0 },
	{ "ra_deref_other_in_leaf",
	  { CFA_SP(16), .ra = RULE_RA_DEREF, .ra_reg = REG_OTHER, .ra_off = 8 },
	  0,
	  LEAF,
	  ON,
	  RA(5) - 1,
	  STACK + 32,
	  FP,
	  0 },
	{ "ra_deref_other_in_caller",
	  { CFA_SP(16), .ra = RULE_RA_DEREF, .ra_reg = REG_OTHER, .ra_off = 8 },
	  0,
	  0,
	  STOP_REASON_REGISTER,
	  0,
	  0,
	  0,
	  0 },
	{ "ra_unreadable",
	  { CFA_SP(16), .ra = RULE_RA_CFA, .ra_off = 4096 },
	  0,
	  0,
	  STOP_REASON_STACK_READ,
	  0,
	  0,
	  0,
	  0 },
	{ "ra_undefined_is_the_root",
	  { CFA_SP(16), .ra = RULE_RA_UNDEFINED },
	  0,
	  0,
	  STOP_REASON_ROOT,
	  0,
	  0,
	  0,
	  0 },
	{ "ra_zero_is_the_root", { CFA_RA(W_ZERO), RA_CFA }, 0, 0, STOP_REASON_ROOT, 0, 0, 0, 0 },
	{ "ra_in_the_kernel", { CFA_RA(W_KERNEL), RA_CFA }, 0, 0, STOP_REASON_BAD_PC, 0, 0, 0, 0 },
	{ "ra_one", { CFA_RA(W_ONE), RA_CFA }, 0, 0, STOP_REASON_BAD_PC, 0, 0, 0, 0 },
	{ "ra_behind_the_first_page",
	  { CFA_RA(W_PAGE), RA_CFA },
	  0,
	  0,
	  STOP_REASON_BAD_PC,
	  0,
	  0,
	  0,
	  0 },
	{ "ra_in_the_second_page",
	  { CFA_RA(W_SECOND_PAGE), RA_CFA },
	  0,
	  0,
	  ON,
	  4096,
	  STACK + 152,
	  FP,
	  0 },
	{ "ra_at_the_end", { CFA_RA(W_TOO_HIGH), RA_CFA }, 0, 0, STOP_REASON_BAD_PC, 0, 0, 0, 0 },
	{ "ra_below_the_end",
	  { CFA_RA(W_HIGHEST), RA_CFA },
	  0,
	  0,
	  ON,
	  UNWIND_PC_MAX - 2,
	  STACK + 168,
	  FP,
	  0 },
	/* Where the caller's frame pointer is. */
	{ "fp_same",
	  { CFA_SP(16), .fp = RULE_FP_SAME, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  0 },
	{ "fp_saved_while_lost",
	  { CFA_SP(16), .fp = RULE_FP_CFA, .fp_off = -16, RA_CFA },
	  0,
	  LOST,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  RA(2),
	  0 },
	{ "fp_slot_unreadable",
	  { CFA_SP(16), .fp = RULE_FP_CFA, .fp_off = 4096, RA_CFA },
	  0,
	  0,
	  STOP_REASON_STACK_READ,
	  0,
	  0,
	  0,
	  0 },
	{ "fp_deref_fp",
	  { CFA_SP(80), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_FP, .fp_off = 8, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(11) - 1,
	  STACK + 96,
	  RA(9),
	  0 },
	/* A slot outside of the frame: it has been popped. */
	{ "fp_deref_fp_above_the_frame",
	  { CFA_SP(16), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_FP, .fp_off = 8, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  0 },
	{ "fp_deref_fp_at_the_end_of_the_frame",
	  { CFA_SP(56), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_FP, .fp_off = 8, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(8) - 1,
	  STACK + 72,
	  FP,
	  0 },
	{ "fp_deref_fp_last_of_the_frame",
	  { CFA_SP(56), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_FP, .fp_off = 0, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(8) - 1,
	  STACK + 72,
	  RA(8),
	  0 },
	{ "fp_deref_fp_first_of_the_frame",
	  { CFA_SP(56), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_FP, .fp_off = -48, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(8) - 1,
	  STACK + 72,
	  RA(2),
	  0 },
	{ "fp_deref_fp_below_the_frame",
	  { CFA_SP(56), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_FP, .fp_off = -56, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(8) - 1,
	  STACK + 72,
	  FP,
	  0 },
	{ "fp_deref_fp_that_is_lost",
	  { CFA_SP(16), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_FP, .fp_off = 8, RA_CFA },
	  0,
	  LOST,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  LOST },
	{ "fp_deref_sp",
	  { CFA_SP(16), .fp = RULE_FP_DEREF, .fp_reg = WIRE_ABI_SP, .fp_off = 24, RA_CFA },
	  0,
	  LOST,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  RA(5),
	  0 },
	{ "fp_in_register_in_leaf",
	  { CFA_SP(16), .fp = RULE_FP_REG, .fp_reg = REG_OTHER, RA_CFA },
	  0,
	  LEAF,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  OTHER,
	  0 },
	{ "fp_in_register_in_caller",
	  { CFA_SP(16), .fp = RULE_FP_REG, .fp_reg = REG_OTHER, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  LOST },
	{ "fp_undefined",
	  { CFA_SP(16), .fp = RULE_FP_UNDEFINED, RA_CFA },
	  0,
	  LEAF,
	  ON,
	  RA(3) - 1,
	  STACK + 32,
	  FP,
	  LOST },
	/* Up the stack, or to another one. */
	{ "cfa_at_sp", { CFA_SP(0), RA_CFA }, 0, 0, STOP_REASON_NO_PROGRESS, 0, 0, 0, 0 },
	{ "cfa_below_sp", { CFA_SP(-8), RA_CFA }, 0, 0, STOP_REASON_NO_PROGRESS, 0, 0, 0, 0 },
	{ "cfa_below_sp_in_leaf_with_ra_in_register",
	  { CFA_SP(-8), .ra = RULE_RA_REG, .ra_reg = REG_OTHER },
	  0,
	  LEAF,
	  STOP_REASON_NO_PROGRESS,
	  0,
	  0,
	  0,
	  0 },
	{ "switch_may_go_down",
	  { CFA_SP(-8), .flags = RULE_SWITCH, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(0) - 1,
	  STACK + 8,
	  FP,
	  0 },
	{ "switch_may_stay",
	  { CFA_SP(0), .flags = RULE_SWITCH, RA_CFA },
	  0,
	  0,
	  ON,
	  RA(1) - 1,
	  STACK + 16,
	  FP,
	  0 },
};

static struct wire_regs case_regs(uint64_t pc)
{
	struct wire_regs regs = { .pc = pc };

	for (int i = 0; i < WIRE_N_REGS; i++)
		regs.reg[i] = 0xdead0000 + (uint64_t)i;
	regs.reg[REG_OTHER] = OTHER;
	regs.reg[WIRE_ABI_SP] = SP;
	regs.reg[WIRE_ABI_FP] = FP;
	return regs;
}

/* Who knows more can go on from where the step gave up. */
static void check_untouched(const struct unwind_walk *w, const struct wire_regs *regs,
			    uint32_t flags)
{
	assert_int_equal(w->pc, regs->pc);
	assert_memory_equal(w->reg, regs->reg, sizeof(w->reg));
	assert_int_equal(w->flags, flags);
	assert_int_equal(w->n_signal, 0);
}

static void test_rule(void **state)
{
	const struct rule_case *c = *state;
	const struct rule_row rule = { TEXT, TEXT_BYTES, c->rule };
	struct wire_regs regs = case_regs(c->pc ? c->pc : PC);
	uint64_t words[N_WORDS];
	struct context context = {
		.rules = &rule, .n_rules = 1, .words = words, .n_words = N_WORDS
	};
	struct unwind_walk *w = &context.walk;

	fill_stack(words);
	unwind_begin(w, &regs, &context_process, c->flags, 0);
	assert_int_equal(unwind_step(w), c->end == ON);
	assert_int_equal(w->n_fp, 0);
	if (c->end != ON) {
		assert_int_equal(w->end, c->end);
		check_untouched(w, &regs, c->flags);
		return;
	}
	assert_int_equal(w->pc, c->to_pc);
	assert_int_equal(w->reg[WIRE_ABI_SP], c->to_sp);
	assert_int_equal(w->reg[WIRE_ABI_FP], c->to_fp);
	assert_int_equal(w->flags, c->to_flags);
	assert_int_equal(w->n_cfi, 1);
}

/* A compact rule is followed as it is packed; laid out in full it leads to the same. */
static void check_compact(const struct rule_case *c)
{
	const struct rule_row rule = { TEXT, TEXT_BYTES, c->rule };
	struct wire_regs regs = case_regs(c->pc ? c->pc : PC);
	uint64_t words[N_WORDS];
	struct context compact = {
		.rules = &rule, .n_rules = 1, .words = words, .n_words = N_WORDS
	};
	struct context full = compact;

	fill_stack(words);
	unwind_begin(&compact.walk, &regs, &context_process, c->flags, 0);
	unwind_begin(&full.walk, &regs, &context_process, c->flags, 0);
	full.walk.rule = c->rule;
	int goes_on = unwind_by_compact(&compact.walk, row_rule_packed(&c->rule));
	assert_int_equal(goes_on, unwind_by_rule(&full.walk));
	assert_int_equal(compact.walk.end, full.walk.end);
	assert_int_equal(compact.walk.pc, full.walk.pc);
	assert_memory_equal(compact.walk.reg, full.walk.reg, sizeof(full.walk.reg));
	assert_int_equal(compact.walk.flags, full.walk.flags);
	assert_int_equal(compact.walk.known, full.walk.known);
	assert_int_equal(compact.walk.n_cfi, full.walk.n_cfi);
}

static void test_compact_as_laid_out(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rule_cases); i++) {
		if (!unwind_is_compact(row_rule_packed(&rule_cases[i].rule)))
			continue;
		check_compact(&rule_cases[i]);
		n++;
	}
	/* Else the rows above have none, and nothing is compared. */
	assert_true(n >= 8);
}

/* A register number that this machine does not have. */
static void test_no_such_register(void **state)
{
	const struct rule_row rule = {
		TEXT, TEXT_BYTES, { .cfa = RULE_CFA_REG, .cfa_reg = 40, .cfa_off = 16, RA_CFA }
	};
	struct wire_regs regs = case_regs(PC);
	uint64_t words[N_WORDS];
	struct context context = {
		.rules = &rule, .n_rules = 1, .words = words, .n_words = N_WORDS
	};

	(void)state;
	fill_stack(words);
	unwind_begin(&context.walk, &regs, &context_process, UNWIND_EXACT, 0);
	assert_false(unwind_step(&context.walk));
	assert_int_equal(context.walk.end, STOP_REASON_REGISTER);
	check_untouched(&context.walk, &regs, UNWIND_EXACT);
}

/* The signal frame as the kernel lays it down: the word of sp where each register is. */
#if WIRE_N_REGS == 16
#define SIGNAL_WORDS (5 + 17)
#define SIGNAL_PC 21
static const uint8_t signal_word_of[WIRE_N_REGS] = { 18, 17, 19, 16, 14, 13, 15, 20,
						     5,	 6,  7,	 8,  9,	 10, 11, 12 };
#else
#define SIGNAL_WORDS (39 + 33)
#define SIGNAL_PC 71
static const uint8_t signal_word_of[WIRE_N_REGS] = {
	39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54,
	55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70,
};
#endif
static const struct rule_row signal_rule = { TEXT,
					     TEXT_BYTES,
					     { CFA_SP(0), .ra = RULE_RA_SIGNAL } };

static void fill_signal_frame(uint64_t words[SIGNAL_WORDS], uint64_t pc)
{
	memset(words, 0x77, SIGNAL_WORDS * sizeof(*words));
	for (uint64_t i = 0; i < WIRE_N_REGS; i++)
		words[signal_word_of[i]] = 0x100 + i;
	words[SIGNAL_PC] = pc;
}

/* The step through a signal frame with that pc in it, of so many words, from sp = STACK. */
static int signal_step(struct context *context, uint64_t *words, size_t n_words, uint64_t pc)
{
	struct wire_regs regs = { .pc = PC, .reg = { [WIRE_ABI_SP] = STACK } };

	fill_signal_frame(words, pc);
	*context = (struct context){
		.rules = &signal_rule, .n_rules = 1, .words = words, .n_words = n_words
	};
	unwind_begin(&context->walk, &regs, &context_process, UNWIND_FP_LOST, 0);
	return unwind_step(&context->walk);
}

static void test_signal_restores_everything(void **state)
{
	uint64_t words[SIGNAL_WORDS];
	struct context context;
	struct unwind_walk *w = &context.walk;

	(void)state;
	assert_true(signal_step(&context, words, SIGNAL_WORDS, TEXT + 0x777));
	for (uint64_t i = 0; i < WIRE_N_REGS; i++)
		assert_int_equal(w->reg[i], 0x100 + i);
	/* Where the code was interrupted, not one before. The sp is lower than the signal frame: an alternate stack. */
	assert_int_equal(w->pc, TEXT + 0x777);
	assert_int_equal(w->flags, UNWIND_EXACT);
	assert_int_equal(w->n_signal, 1);
	assert_int_equal(w->n_cfi, 0);
}

static void test_signal_that_cannot_be_followed(void **state)
{
	uint64_t words[SIGNAL_WORDS];
	struct context context;

	(void)state;
	assert_false(signal_step(&context, words, SIGNAL_WORDS - 1, TEXT));
	assert_int_equal(context.walk.end, STOP_REASON_STACK_READ);
	assert_int_equal(context.walk.pc, PC);
	assert_false(signal_step(&context, words, SIGNAL_WORDS, 12));
	assert_int_equal(context.walk.end, STOP_REASON_BAD_PC);
	assert_false(signal_step(&context, words, SIGNAL_WORDS, 0xffffffff81000000ULL));
	assert_int_equal(context.walk.end, STOP_REASON_BAD_PC);
	assert_int_equal(context.walk.n_signal, 0);
}

/* No rule: sp = STACK, and a record at word 2. */
struct fp_case {
	const char *name;
	uint64_t fp;
	uint64_t saved_fp;
	uint64_t ra;
	uint32_t flags;
	bool no_mappings; /* an unknown process */
	int end;	  /* ON: to ra − 1 */
};

#define FP_GOOD (STACK + 16)
#define FP_LAST \
	(STACK + 48) /* the last record that lies in the stack as a whole; ra is RA(7) there */
#define CHAIN UNWIND_FP_CHAIN
#define HERE (TEXT + 0x4000)

static const struct fp_case fp_cases[] = {
	{ "fp_good", FP_GOOD, FP_LAST, HERE, 0, false, ON },
	{ "fp_good_of_unknown_process", FP_GOOD, FP_LAST, NOWHERE, 0, true, ON },
	{ "fp_zero_after_rules", 0, 0, HERE, 0, false, STOP_REASON_NO_RULE },
	{ "fp_zero_after_a_chain", 0, 0, HERE, CHAIN, false, STOP_REASON_ROOT },
	{ "fp_zero_in_leaf_of_unknown_process", 0, 0, HERE, LEAF, true, STOP_REASON_NO_RULE },
	{ "fp_lost", FP_GOOD, FP_LAST, HERE, LOST, false, STOP_REASON_NO_RULE },
	{ "fp_below_sp", STACK - 8, 0, HERE, 0, false, STOP_REASON_NO_RULE },
	{ "fp_odd", FP_GOOD + 1, 0, HERE, 0, false, STOP_REASON_NO_RULE },
	{ "fp_unaligned_by_four", FP_GOOD + 4, 0, HERE, 0, false, STOP_REASON_NO_RULE },
	{ "fp_unaligned_of_unknown_process", FP_GOOD + 4, 0, HERE, 0, true, STOP_REASON_NO_RULE },
	{ "fp_half_a_record_before_the_end", FP_LAST + 8, 0, HERE, 0, false, STOP_REASON_NO_RULE },
	{ "fp_unreadable", STACK + (1 << 20), 0, HERE, 0, false, STOP_REASON_NO_RULE },
	{ "fp_top_of_the_address_space", ~7ULL, 0, HERE, 0, false, STOP_REASON_NO_RULE },
	{ "record_of_zeros", FP_GOOD, 0, 0, 0, false, STOP_REASON_NO_RULE },
	{ "record_of_zeros_of_a_chain", FP_GOOD, 0, 0, UNWIND_FP_CHAIN, false, STOP_REASON_ROOT },
	{ "record_without_ra", FP_GOOD, FP_LAST, 0, 0, false, STOP_REASON_NO_RULE },
	{ "ra_in_no_mapping", FP_GOOD, FP_LAST, NOWHERE, 0, false, STOP_REASON_NO_RULE },
	{ "ra_one_of_unknown_process", FP_GOOD, 0, 1, 0, true, STOP_REASON_BAD_PC },
	{ "ra_first_page_of_unknown_process", FP_GOOD, 0, 4096, 0, true, STOP_REASON_BAD_PC },
	{ "ra_too_high_of_unknown_process", FP_GOOD, 0, UNWIND_PC_MAX, 0, true,
	  STOP_REASON_BAD_PC },
	{ "ra_is_the_end_of_the_mapping", FP_GOOD, 0, TEXT + TEXT_BYTES, 0, false, ON },
	{ "ra_is_the_begin_of_the_mapping", FP_GOOD, 0, TEXT, 0, false, STOP_REASON_NO_RULE },
};

static void test_fp(void **state)
{
	const struct fp_case *c = *state;
	uint64_t words[8] = { RA(0), RA(1), c->saved_fp, c->ra, RA(4), RA(5), RA(6), RA(7) };
	struct wire_regs regs = { .pc = PC,
				  .reg = { [WIRE_ABI_SP] = STACK, [WIRE_ABI_FP] = c->fp } };
	struct context context = { .words = words, .n_words = ARRAY_SIZE(words) };
	struct unwind_walk *w = &context.walk;

	unwind_begin(w, &regs, c->no_mappings ? NULL : &context_process, c->flags, 0);
	assert_int_equal(unwind_step(w), c->end == ON);
	assert_int_equal(w->n_cfi, 0);
	if (c->end != ON) {
		assert_int_equal(w->end, c->end);
		check_untouched(w, &regs, c->flags);
		return;
	}
	assert_int_equal(w->pc, c->ra - 1);
	assert_int_equal(w->reg[WIRE_ABI_SP], c->fp + 16);
	assert_int_equal(w->reg[WIRE_ABI_FP], c->saved_fp);
	assert_int_equal(w->flags, UNWIND_FP_CHAIN | UNWIND_SP_LOWEST);
	assert_int_equal(w->n_fp, 1);
}

/* The record directly at sp is one: a function that has just set up its frame. */
static void test_fp_at_sp(void **state)
{
	const uint64_t words[2] = { STACK + 64, HERE };
	struct wire_regs regs = { .pc = PC,
				  .reg = { [WIRE_ABI_SP] = STACK, [WIRE_ABI_FP] = STACK } };
	struct context context = { .words = words, .n_words = 2 };

	(void)state;
	unwind_begin(&context.walk, &regs, &context_process, 0, 0);
	assert_true(unwind_step(&context.walk));
	assert_int_equal(context.walk.pc, HERE - 1);
	assert_int_equal(context.walk.reg[WIRE_ABI_SP], STACK + 16);
}

#if WIRE_N_REGS == 16
/* Functions with frame pointers that are being entered or left. */
struct edge_case {
	const char *name;
	uint8_t code[8]; /* PC is its fifth byte */
	size_t n_code;	 /* 0: cannot be read */
	uint32_t flags;
	uint64_t top[2]; /* of the stack */
	int n_words;	 /* found above the return address: 0, 1; −1: the frame pointer it is */
};

#define E_PUSH                                                 \
	{                                                      \
		0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5 \
	}
#define E_RET                                                  \
	{                                                      \
		0x90, 0x90, 0x90, 0x5d, 0xc3, 0x90, 0x90, 0x90 \
	}
#define E_ENDBR                                                \
	{                                                      \
		0x90, 0x90, 0x90, 0x90, 0xf3, 0x0f, 0x1e, 0xfa \
	}
#define E_MOV                                                  \
	{                                                      \
		0x90, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x90 \
	}
#define E_MOV_OTHER_WAY                                        \
	{                                                      \
		0x90, 0x90, 0x90, 0x55, 0x48, 0x8b, 0xec, 0x90 \
	}
#define E_MOV_WITHOUT_PUSH                                     \
	{                                                      \
		0x90, 0x90, 0x90, 0x53, 0x48, 0x89, 0xe5, 0x90 \
	}
#define E_BODY                                                 \
	{                                                      \
		0x90, 0x90, 0x90, 0x90, 0x31, 0xc0, 0x90, 0x90 \
	}
#define E_ENDBR32                                              \
	{                                                      \
		0x90, 0x90, 0x90, 0x90, 0xf3, 0x0f, 0x1e, 0xfb \
	}

static const struct edge_case edge_cases[] = {
	{ "at_push", E_PUSH, 8, LEAF, { HERE, 0 }, 0 },
	{ "at_ret", E_RET, 8, LEAF, { HERE, 0 }, 0 },
	{ "at_endbr64", E_ENDBR, 8, LEAF, { HERE, 0 }, 0 },
	{ "behind_push", E_MOV, 8, LEAF, { STACK + 48, HERE }, 1 },
	{ "behind_push_other_encoding", E_MOV_OTHER_WAY, 8, LEAF, { STACK + 48, HERE }, 1 },
	{ "mov_without_push", E_MOV_WITHOUT_PUSH, 8, LEAF, { STACK + 48, HERE }, -1 },
	{ "in_the_body", E_BODY, 8, LEAF, { HERE, HERE }, -1 },
	{ "at_endbr32", E_ENDBR32, 8, LEAF, { HERE, HERE }, -1 },
	{ "caller_at_push", E_PUSH, 8, 0, { HERE, 0 }, -1 },
	{ "code_unreadable", E_PUSH, 0, LEAF, { HERE, 0 }, -1 },
	{ "code_ends", E_PUSH, 7, LEAF, { HERE, 0 }, -1 },
	{ "at_push_but_no_code_on_top", E_PUSH, 8, LEAF, { NOWHERE, 0 }, -1 },
	{ "at_push_but_zero_on_top", E_PUSH, 8, LEAF, { 0, 0 }, -1 },
	{ "behind_push_but_no_code", E_MOV, 8, LEAF, { STACK + 48, NOWHERE }, -1 },
};

static void check_edge(const struct edge_case *c, const struct unwind_walk *w, uint64_t fp)
{
	if (c->n_words < 0) {
		assert_int_equal(w->pc, TEXT + 0x9000 - 1);
		assert_int_equal(w->reg[WIRE_ABI_SP], fp + 16);
		return;
	}
	assert_int_equal(w->pc, HERE - 1);
	assert_int_equal(w->reg[WIRE_ABI_SP], STACK + 8 + 8 * (uint64_t)c->n_words);
	assert_int_equal(w->reg[WIRE_ABI_FP], c->n_words ? c->top[0] : fp);
}

static void test_edge(void **state)
{
	const struct edge_case *c = *state;
	const uint64_t fp = STACK + 32;
	const uint64_t words[6] = { c->top[0], c->top[1], 1, 2, 0, TEXT + 0x9000 };
	struct wire_regs regs = { .pc = PC, .reg = { [WIRE_ABI_SP] = STACK, [WIRE_ABI_FP] = fp } };
	struct context context = { .words = words,
				   .n_words = ARRAY_SIZE(words),
				   .code = c->n_code ? c->code : NULL,
				   .n_code = c->n_code,
				   .code_pc = PC - 4 };

	unwind_begin(&context.walk, &regs, &context_process, c->flags, 0);
	assert_true(unwind_step(&context.walk));
	assert_int_equal(context.walk.n_fp, 1);
	check_edge(c, &context.walk, fp);
}

/* Rules come first: they hold on the edges of functions, too. */
static void test_edge_with_a_rule(void **state)
{
	static const uint8_t code[8] = E_PUSH;
	const struct rule_row rule = { TEXT, TEXT_BYTES, { CFA_SP(24), RA_CFA } };
	const uint64_t words[3] = { HERE, HERE, TEXT + 0x9000 };
	struct wire_regs regs = { .pc = PC, .reg = { [WIRE_ABI_SP] = STACK } };
	struct context context = { .rules = &rule,
				   .n_rules = 1,
				   .words = words,
				   .n_words = 3,
				   .code = code,
				   .n_code = 8,
				   .code_pc = PC - 4 };

	(void)state;
	unwind_begin(&context.walk, &regs, &context_process, UNWIND_EXACT, 0);
	assert_true(unwind_step(&context.walk));
	assert_int_equal(context.walk.pc, TEXT + 0x9000 - 1);
}
#endif

static const struct unit_test tests[] = {
	TEST(test_compact_as_laid_out),
	TEST(test_no_such_register),
	TEST(test_signal_restores_everything),
	TEST(test_signal_that_cannot_be_followed),
	TEST(test_fp_at_sp),
	TEST_ROWS(test_rule, rule_cases, name),
	TEST_ROWS(test_fp, fp_cases, name),
#if WIRE_N_REGS == 16
	TEST_ROWS(test_edge, edge_cases, name),
	TEST(test_edge_with_a_rule),
#endif
};

TEST_MAIN(tests)
