/* SPDX-License-Identifier: Apache-2.0 */
/* What bpf/unwind.h does on AArch64 only: signed return addresses, frame records that do not tell sp, the edges of functions. */
#if !defined(__aarch64__)
#define __TARGET_ARCH_arm64
#endif
#include "tests/support/unit.h"
#include "tests/unit/bpf/unwind_context.h"

#define PC (TEXT + 0x230)
#define RA (TEXT + 0x5010)
#define MASK(bits) ((1ULL << (bits)) - 1)
#define FP RULE_ARM64_FP
#define LR RULE_ARM64_LR
#define SP RULE_ARM64_SP

/* A return address in a word of the stack, and in x30. */
struct sign_case {
	const char *name;
	unsigned int bits; /* of a user address */
	uint64_t ra;
	uint64_t to_pc; /* 0: the address is bad */
};

#define BIT(n) (1ULL << (n))

static const struct sign_case sign_cases[] = {
	{ "not signed", 48, RA, RA },
	{ "not signed, 52 bits", 52, RA, RA },
	/* Codes lie in bits 54 to 48, or 54 to 52; and in 63 to 56 where the processor's tags are off. */
	{ "48 bits: one bit of code", 48, RA | BIT(48), RA },
	{ "48 bits: all bits of code", 48, RA | 0x7fULL << 48, RA },
	{ "48 bits: code and tag", 48, RA | 0xa52aULL << 48, RA },
	{ "48 bits: tag", 48, RA | 0xffULL << 56, RA },
	{ "52 bits: all bits of code", 52, RA | 0x7ULL << 52, RA },
	{ "52 bits: code and tag", 52, RA | 0xa55ULL << 52, RA },
	{ "47 bits: all bits of code", 47, RA | 0xffULL << 47, RA },
	{ "39 bits: all bits of code", 39, RA | 0xffffULL << 39, RA },
	{ "36 bits: all bits of code", 36, RA | 0x7ffffULL << 36, RA },
	/* Bit 55 is no part of a code: it says that the address is the kernel's. */
	{ "48 bits: of the kernel", 48, 0xffff800000001000, 0 },
	{ "48 bits: of the kernel, signed", 48, 0x12a5800000001000, 0 },
	{ "48 bits: of the kernel, no other bit set", 48, BIT(55) | RA, 0 },
	{ "52 bits: of the kernel", 52, 0xfff0800000001000, 0 },
	{ "nothing but code", 48, 0x7fULL << 48, 0 },
};

/* Saved beside the frame pointer, as compact rules have it; saved elsewhere; in x30. */
static const struct unwind_rule sign_rules[] = {
	{ .cfa = RULE_CFA_REG,
	  .cfa_reg = SP,
	  .cfa_off = 32,
	  .fp = RULE_FP_CFA,
	  .fp_off = -32,
	  .ra = RULE_RA_CFA,
	  .ra_off = -24 },
	{ .cfa = RULE_CFA_REG, .cfa_reg = SP, .cfa_off = 24, .ra = RULE_RA_CFA, .ra_off = -16 },
	{ .cfa = RULE_CFA_REG, .cfa_reg = SP, .cfa_off = 16, .ra = RULE_RA_REG, .ra_reg = LR },
};

static void test_signed(void **state)
{
	const struct sign_case *c = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sign_rules); i++) {
		const uint64_t words[] = { STACK + 64, c->ra, 0, 0 };
		const struct rule_row rows[] = { { TEXT, TEXT_BYTES, sign_rules[i] } };
		struct context context = {
			.rules = rows, .n_rules = 1, .words = words, .n_words = ARRAY_SIZE(words)
		};
		struct wire_regs regs = { .pc = PC };

		context.user_mask = MASK(c->bits);
		regs.reg[SP] = STACK;
		regs.reg[LR] = c->ra;
		unwind_begin(&context.walk, &regs, &context_process, UNWIND_EXACT, 0);
		assert_int_equal(unwind_step(&context.walk), c->to_pc != 0);
		if (c->to_pc)
			assert_int_equal(context.walk.pc, c->to_pc - 1);
		else
			assert_int_equal(context.walk.end, STOP_REASON_BAD_PC);
	}
}

/* By frame pointer as well, where nothing is known of the mappings. */
static void test_signed_in_record(void **state)
{
	const struct sign_case *c = *state;
	const uint64_t words[] = { STACK + 64, c->ra };
	struct context context = { .words = words, .n_words = ARRAY_SIZE(words) };
	struct wire_regs regs = { .pc = PC };

	context.user_mask = MASK(c->bits);
	regs.reg[SP] = regs.reg[FP] = STACK;
	unwind_begin(&context.walk, &regs, NULL, 0, 0);
	assert_int_equal(unwind_step(&context.walk), c->to_pc != 0);
	if (c->to_pc)
		assert_int_equal(context.walk.pc, c->to_pc - 1);
}

/*
 * main's frame lies above one of code without rules, whose frame record is at the bottom of 96 bytes: what main's sp was nobody tells.
 *
 *	words	0 JIT's record	2 … 11 the rest of its frame	12 main's frame …
 */
#define MAIN (TEXT + 0x7000)
#define MAIN_AT (STACK + 12 * 8)
#define START (TEXT + 0x9000)
#define N_WORDS 24

static const struct wire_mapping record_mappings[] = {
	{ .begin = TEXT,
	  .frame_base = TEXT_FRAME,
	  .n_pages = TEXT_BYTES / WIRE_PAGE_BYTES,
	  .object = WIRE_OBJECT_FIRST },
	{ .begin = 0x800000, .n_pages = 16, .object = WIRE_OBJECT_FP },
};

struct record_case {
	const char *name;
	struct unwind_rule rule;
	uint64_t fp; /* main's, as the record below it has it */
	int end;     /* −1: it goes on to START, with */
	uint64_t to_sp;
	uint64_t to_fp;
};

#define ON (-1)
#define BY_SP(off) .cfa = RULE_CFA_REG, .cfa_reg = SP, .cfa_off = (off)
#define BY_FP(off) .cfa = RULE_CFA_REG, .cfa_reg = FP, .cfa_off = (off)
#define RECORD(off) .fp = RULE_FP_CFA, .fp_off = (off), .ra = RULE_RA_CFA, .ra_off = (off) + 8
#define REG(n) .cfa = RULE_CFA_REG, .cfa_reg = (n), .cfa_off = 16

static const struct record_case record_cases[] = {
	{ "record at the bottom",
	  { BY_SP(48), RECORD(-48) },
	  MAIN_AT,
	  ON,
	  MAIN_AT + 48,
	  STACK + 160 },
	{ "record at the top",
	  { BY_SP(48), RECORD(-16) },
	  MAIN_AT + 32,
	  ON,
	  MAIN_AT + 48,
	  STACK + 160 },
	{ "record in a large frame",
	  { BY_SP(80000), RECORD(-70000) },
	  MAIN_AT,
	  ON,
	  MAIN_AT + 70000,
	  STACK + 160 },
	{ "CFA by the frame pointer",
	  { BY_FP(48), RECORD(-48) },
	  MAIN_AT,
	  ON,
	  MAIN_AT + 48,
	  STACK + 160 },
	{ "only the return address is saved",
	  { BY_SP(16), .ra = RULE_RA_CFA, .ra_off = -8 },
	  MAIN_AT,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
	{ "saved apart",
	  { BY_SP(48), .fp = RULE_FP_CFA, .fp_off = -48, .ra = RULE_RA_CFA, .ra_off = -8 },
	  MAIN_AT,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
	{ "return address in x30",
	  { BY_SP(0), .ra = RULE_RA_REG, .ra_reg = LR },
	  MAIN_AT,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
	{ "frame pointer not aligned",
	  { BY_SP(48), RECORD(-48) },
	  MAIN_AT + 4,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
	{ "frame pointer below the record",
	  { BY_SP(48), RECORD(-48) },
	  STACK + 8,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
	{ "CFA saved at sp",
	  { .cfa = RULE_CFA_DEREF, .cfa_reg = SP, .cfa_off = 8, RECORD(-48) },
	  MAIN_AT,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
	{ "CFA by another register",
	  { REG(19), RECORD(-48) },
	  MAIN_AT,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
	{ "frame pointer saved at sp",
	  { BY_FP(48), .fp = RULE_FP_DEREF, .fp_reg = SP, .fp_off = 8, .ra = RULE_RA_CFA,
	    .ra_off = -40 },
	  MAIN_AT,
	  ON,
	  MAIN_AT + 48,
	  MAIN_AT },
	{ "behind a signal",
	  { BY_SP(0), .ra = RULE_RA_SIGNAL },
	  MAIN_AT,
	  STOP_REASON_REGISTER,
	  0,
	  0 },
};

static void test_record(void **state)
{
	const struct record_case *c = *state;
	const struct rule_row rows[] = { { MAIN & ~0xfffULL, 0x1000, c->rule } };
	uint64_t words[N_WORDS] = { c->fp, MAIN };
	struct context context = { .mappings = record_mappings,
				   .n_mappings = 2,
				   .rules = rows,
				   .n_rules = 1,
				   .words = words,
				   .n_words = N_WORDS };
	struct wire_regs regs = { .pc = 0x800100 };
	uint64_t at = (c->fp & ~7ULL) - STACK;

	words[at / 8 > 1 ? at / 8 : 12] = STACK + 160;
	words[at / 8 > 1 ? at / 8 + 1 : 13] = START;
	context.user_mask = MASK(48);
	regs.reg[SP] = regs.reg[FP] = STACK;
	unwind_begin(&context.walk, &regs, &context_process, 0, 0);
	assert_int_equal(unwind_step(&context.walk), 1);
	assert_int_equal(context.walk.pc, MAIN - 1);
	assert_true(context.walk.flags & UNWIND_SP_LOWEST);
	assert_int_equal(unwind_step(&context.walk), c->end == ON);
	if (c->end != ON) {
		assert_int_equal(context.walk.end, c->end);
		return;
	}
	assert_int_equal(context.walk.pc, START - 1);
	assert_int_equal(context.walk.reg[SP], c->to_sp);
	assert_int_equal(context.walk.reg[FP], c->to_fp);
	assert_false(context.walk.flags & UNWIND_SP_LOWEST);
}

/* A leaf without a rule, at its second instruction: x30 leads to one place, the record that x29 leads to elsewhere. */
struct edge_case {
	const char *name;
	uint32_t before;
	uint32_t code;
	uint64_t to_pc;
	uint64_t to_sp; /* 0: not known */
	uint64_t to_fp;
};

#define BY_LINK 0x806000ULL /* within the leaf's mapping */
#define BY_RECORD (TEXT + 0x6100)
#define ON_TOP (TEXT + 0x6200)
#define NOP 0xd503201f
#define RECORD_AT (STACK + 64)
#define EDGE_LINK BY_LINK, STACK, RECORD_AT
#define EDGE_NONE BY_RECORD, 0, STACK + 160

static const struct edge_case edge_cases[] = {
	{ "no edge", NOP, NOP, EDGE_NONE },
	{ "bti c", NOP, 0xd503245f, EDGE_LINK },
	{ "bti jc", NOP, 0xd50324df, EDGE_LINK },
	{ "bti j is a jump's target", NOP, 0xd503249f, EDGE_NONE },
	{ "paciasp", NOP, 0xd503233f, EDGE_LINK },
	{ "pacibsp", NOP, 0xd503237f, EDGE_LINK },
	{ "autiasp", NOP, 0xd50323bf, EDGE_LINK },
	{ "autibsp", NOP, 0xd50323ff, EDGE_LINK },
	{ "stp x29, x30, [sp, #-16]!", NOP, 0xa9bf7bfd, EDGE_LINK },
	{ "stp x29, x30, [sp, #-512]!", NOP, 0xa9a07bfd, EDGE_LINK },
	{ "stp x29, x30, [sp, #16]!", NOP, 0xa9817bfd, EDGE_NONE },
	{ "stp x28, x30, [sp, #-16]!", NOP, 0xa9bf7bfc, EDGE_NONE },
	{ "ldp x29, x30, [sp], #16", NOP, 0xa8c17bfd, EDGE_NONE },
	{ "ret", NOP, 0xd65f03c0, EDGE_LINK },
	{ "retaa", NOP, 0xd65f0bff, EDGE_LINK },
	{ "retab", NOP, 0xd65f0fff, EDGE_LINK },
	{ "ret x1", NOP, 0xd65f0020, EDGE_NONE },
	{ "mov x29, sp", 0xa9bf7bfd, 0x910003fd, ON_TOP, STACK + 16, STACK + 96 },
	{ "mov x29, sp in a frame of 96", 0xa9ba7bfd, 0x910003fd, ON_TOP, STACK + 96, STACK + 96 },
	{ "mov x29, sp in a frame of 512", 0xa9a07bfd, 0x910003fd, ON_TOP, STACK + 512,
	  STACK + 96 },
	{ "mov x29, sp without a push", NOP, 0x910003fd, EDGE_NONE },
};

static void test_edge(void **state)
{
	const struct edge_case *c = *state;
	const uint32_t code[] = { c->before, c->code };
	uint64_t words[N_WORDS] = { STACK + 96, ON_TOP };
	struct context context = {
		.mappings = record_mappings, .n_mappings = 2, .words = words, .n_words = N_WORDS
	};
	struct wire_regs regs = { .pc = 0x800104 };

	words[8] = STACK + 160;
	words[9] = BY_RECORD;
	context.code = (const uint8_t *)code;
	context.n_code = sizeof(code);
	context.code_pc = 0x800100;
	context.user_mask = MASK(48);
	regs.reg[SP] = STACK;
	regs.reg[FP] = RECORD_AT;
	regs.reg[LR] = BY_LINK | 0x7fULL << 48;
	unwind_begin(&context.walk, &regs, &context_process, UNWIND_EXACT, 0);
	assert_int_equal(unwind_step(&context.walk), 1);
	assert_int_equal(context.walk.pc, c->to_pc - 1);
	assert_int_equal(context.walk.reg[FP], c->to_fp);
	assert_int_equal(!(context.walk.flags & UNWIND_SP_LOWEST), c->to_sp != 0);
	if (c->to_sp)
		assert_int_equal(context.walk.reg[SP], c->to_sp);
}

/* A leaf without a rule, in a frame of its own or not: x30 leads to main, the record that x29 leads to elsewhere. */
static void check_link(uint64_t link, uint64_t in_record, uint64_t to_pc, uint64_t to_sp)
{
	const uint64_t words[] = { 0, 0, STACK + 64, in_record };
	struct context context = { .mappings = record_mappings,
				   .n_mappings = 2,
				   .words = words,
				   .n_words = ARRAY_SIZE(words),
				   .user_mask = MASK(48) };
	struct wire_regs regs = { .pc = 0x800100 };

	regs.reg[SP] = STACK;
	regs.reg[FP] = STACK + 16;
	regs.reg[LR] = link;
	unwind_begin(&context.walk, &regs, &context_process, UNWIND_EXACT, 0);
	assert_int_equal(unwind_step(&context.walk), 1);
	assert_int_equal(context.walk.pc, to_pc - 1);
	assert_int_equal(context.walk.reg[SP], to_sp);
	assert_true(context.walk.flags & UNWIND_SP_LOWEST);
}

static void test_link(void **state)
{
	const uint64_t code = 0x2aULL << 48;

	(void)state;
	/* Out of its mapping: whoever called the leaf. */
	check_link(MAIN, START, MAIN, STACK);
	check_link(MAIN | code, START, MAIN, STACK);
	/* Its own frame's; within its mapping, where it may have called; nowhere. */
	check_link(MAIN, MAIN, MAIN, STACK + 32);
	check_link(MAIN | code, MAIN | code, MAIN, STACK + 32);
	check_link(0x800200, START, START, STACK + 32);
	check_link(NOWHERE, START, START, STACK + 32);
	check_link(0, START, START, STACK + 32);
}

/* A caller whose return address is in x30, by the instruction before its pc. */
static void check_uncalled(uint32_t before, enum stop_reason end)
{
	const struct rule_row rows[] = {
		{ TEXT, TEXT_BYTES, { BY_SP(0), .ra = RULE_RA_REG, .ra_reg = LR } }
	};
	struct context context = { .rules = rows, .n_rules = 1, .user_mask = MASK(48) };
	struct wire_regs regs = { .pc = MAIN + 3 };

	context.code = (const uint8_t *)&before;
	context.n_code = sizeof(before);
	context.code_pc = MAIN;
	regs.reg[SP] = STACK;
	unwind_begin(&context.walk, &regs, &context_process, 0, 0);
	context.walk.ra = MAIN; /* of a step before */
	assert_int_equal(unwind_step(&context.walk), 0);
	assert_int_equal(context.walk.end, end);
}

static void test_uncalled(void **state)
{
	(void)state;
	check_uncalled(NOP, STOP_REASON_ROOT);
	check_uncalled(0xd65f03c0, STOP_REASON_ROOT);	  /* ret */
	check_uncalled(0x14000010, STOP_REASON_ROOT);	  /* b */
	check_uncalled(0x94000010, STOP_REASON_REGISTER); /* bl */
	check_uncalled(0x97fffff0, STOP_REASON_REGISTER); /* bl, backwards */
	check_uncalled(0xd63f0200, STOP_REASON_REGISTER); /* blr x16 */
	check_uncalled(0xd63f0a1f, STOP_REASON_REGISTER); /* blraaz x16 */
	check_uncalled(0xd73f0a11, STOP_REASON_REGISTER); /* blraa x16, x17 */
}

/*
 * A caller on a thread's stack that a goroutine has left: what leads back is noted at its sp, or is in g0, m and g.
 *
 *	words	0 … 1 noted	2 … 9 g0	10 … 17 g	20 … m: g0, the goroutine	30 … the goroutine's stack
 */
#define AT(i) (STACK + (i)*8)
#define G0 2
#define G 10
#define M 20
#define M_CURG_OFF 8
#define FRAME_AT 30
#define N_GO_WORDS 40
#define GO_FRAME \
	.cfa_add = 16, .fp = RULE_FP_CFA, .fp_off = -24, .ra_off = -16, .flags = RULE_SWITCH
#define END_OF(g) ((g) + GO_G_END / 8)
#define M_OF(g) ((g) + GO_G_M / 8)
#define SP_OF(g) ((g) + GO_G_SP / 8)

static const struct unwind_rule go_noted = { .cfa = RULE_CFA_GO_NOTED, .cfa_reg = SP, GO_FRAME };
static const struct unwind_rule go_left = { .cfa = RULE_CFA_GO_LEFT,
					    .cfa_off = M_CURG_OFF,
					    GO_FRAME };

static void go_words(uint64_t words[N_GO_WORDS])
{
	memset(words, 0, N_GO_WORDS * sizeof(*words));
	words[M_OF(G0)] = words[M_OF(G)] = AT(M);
	words[M] = AT(G0);
	words[M + 1] = AT(G);
	words[SP_OF(G)] = AT(FRAME_AT);
	words[END_OF(G)] = AT(FRAME_AT + 5);
	words[FRAME_AT - 1] = STACK + 160;
	words[FRAME_AT] = START;
}

static void go_step(const struct unwind_rule *rule, const uint64_t *words, uint64_t x28, int end)
{
	const struct rule_row rows[] = { { TEXT, TEXT_BYTES, *rule } };
	struct context context = { .rules = rows,
				   .n_rules = 1,
				   .words = words,
				   .n_words = N_GO_WORDS,
				   .user_mask = MASK(48) };
	struct wire_regs regs = { .pc = MAIN };

	regs.reg[SP] = STACK;
	regs.reg[GO_ARM64_G] = x28;
	unwind_begin(&context.walk, &regs, &context_process, 0, 0);
	assert_int_equal(unwind_step(&context.walk), end == ON);
	if (end != ON) {
		assert_int_equal(context.walk.end, end);
		return;
	}
	assert_int_equal(context.walk.pc, START - 1);
	assert_int_equal(context.walk.reg[SP], AT(FRAME_AT) + 16);
	assert_int_equal(context.walk.reg[FP], STACK + 160);
}

static void test_go_noted(void **state)
{
	uint64_t words[N_GO_WORDS];
	struct unwind_rule deeper = go_noted;

	(void)state;
	go_words(words);
	/* A g and the depth of its stack, which was moved. */
	words[0] = AT(G);
	words[1] = 5 * 8;
	go_step(&go_noted, words, 0, ON);
	/* No g: sp. */
	words[0] = 0;
	words[1] = AT(FRAME_AT);
	go_step(&go_noted, words, 0, ON);
	/* Neither the g nor the note can be read. */
	words[0] = NOWHERE;
	go_step(&go_noted, words, 0, STOP_REASON_STACK_READ);
	deeper.cfa_off = N_GO_WORDS * 8;
	go_step(&deeper, words, 0, STOP_REASON_STACK_READ);
}

/* Each of them leads to the next and back, or nothing is believed. */
static void test_go_left(void **state)
{
	uint64_t words[N_GO_WORDS];

	(void)state;
	go_words(words);
	go_step(&go_left, words, AT(G0), ON);
	go_step(&go_left, words, AT(G), STOP_REASON_STACK_READ);
	go_step(&go_left, words, NOWHERE, STOP_REASON_STACK_READ);
	go_step(&go_left, words, 0, STOP_REASON_STACK_READ);
	words[M_OF(G)] = AT(M + 1);
	go_step(&go_left, words, AT(G0), STOP_REASON_STACK_READ);
	words[M + 1] = 0;
	go_step(&go_left, words, AT(G0), STOP_REASON_STACK_READ);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_signed, sign_cases, name),
	TEST_ROWS(test_signed_in_record, sign_cases, name),
	TEST_ROWS(test_record, record_cases, name),
	TEST_ROWS(test_edge, edge_cases, name),
	TEST(test_link),
	TEST(test_uncalled),
	TEST(test_go_noted),
	TEST(test_go_left),
};

TEST_MAIN(tests)
