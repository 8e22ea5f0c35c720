/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as text. */
#include <elf.h>

#include "agent/unwind/rule_text.h"
#include "tests/support/unit.h"

struct text_row {
	const char *expected; /* also the name */
	uint16_t machine;
	struct unwind_rule rule;
};

static struct text_row rows[] = {
	{ "none", EM_X86_64, { 0 } },
	{ "rsp+16 c-16 c-8",
	  EM_X86_64,
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = 7,
	    .cfa_off = 16,
	    .fp = RULE_FP_CFA,
	    .fp_off = -16,
	    .ra_off = -8 } },
	{ "rbp+16 u undef",
	  EM_X86_64,
	  { .cfa = RULE_CFA_REG, .cfa_reg = 6, .cfa_off = 16, .ra = RULE_RA_UNDEFINED } },
	{ "r10+0 undef rdi",
	  EM_X86_64,
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = 10,
	    .fp = RULE_FP_UNDEFINED,
	    .ra = RULE_RA_REG,
	    .ra_reg = 5 } },
	{ "plt u c-8", EM_X86_64, { .cfa = RULE_CFA_PLT, .cfa_off = 11, .ra_off = -8 } },
	{ "deref(rbp-8) deref(rbp+0) c-8",
	  EM_X86_64,
	  { .cfa = RULE_CFA_DEREF,
	    .cfa_reg = 6,
	    .cfa_off = -8,
	    .fp = RULE_FP_DEREF,
	    .fp_reg = 6,
	    .ra_off = -8 } },
	{ "rsp+0 rbx deref(rsp+8)",
	  EM_X86_64,
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = 7,
	    .fp = RULE_FP_REG,
	    .fp_reg = 3,
	    .ra = RULE_RA_DEREF,
	    .ra_reg = 7,
	    .ra_off = 8 } },
	{ "noted(sp+0)+16 c-24 c-16",
	  EM_AARCH64,
	  { .cfa = RULE_CFA_GO_NOTED,
	    .cfa_reg = 31,
	    .cfa_add = 16,
	    .fp = RULE_FP_CFA,
	    .fp_off = -24,
	    .ra_off = -16 } },
	{ "left+16 u x30",
	  EM_AARCH64,
	  { .cfa = RULE_CFA_GO_LEFT,
	    .cfa_off = 184,
	    .cfa_add = 16,
	    .ra = RULE_RA_REG,
	    .ra_reg = 30 } },
	{ "sp+0 u signal",
	  EM_AARCH64,
	  { .cfa = RULE_CFA_REG, .cfa_reg = 31, .ra = RULE_RA_SIGNAL } },
	{ "x29+16 c-16 x30",
	  EM_AARCH64,
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = 29,
	    .cfa_off = 16,
	    .fp = RULE_FP_CFA,
	    .fp_off = -16,
	    .ra = RULE_RA_REG,
	    .ra_reg = 30 } },
	{ "sp-2147483648 c+2147483647 c+0",
	  EM_AARCH64,
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = 31,
	    .cfa_off = INT32_MIN,
	    .fp = RULE_FP_CFA,
	    .fp_off = INT32_MAX } },
	{ "rbp+16 c-16 c-8",
	  EM_X86_64,
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = 6,
	    .cfa_off = 16,
	    .fp = RULE_FP_CFA,
	    .fp_off = -16,
	    .ra_off = -8,
	    .flags = RULE_SWITCH } },
};

static void reads(void **state)
{
	const struct text_row *row = *state;
	struct buf out = BUF_INIT(256);

	assert_int_equal(rule_text(dwarf_abi(row->machine), &row->rule, &out), 0);
	assert_string_equal(buf_str(&out), row->expected);
	buf_fini(&out);
}

static void ceiling(void **state)
{
	struct buf out = BUF_INIT(8);

	(void)state;
	assert_int_equal(rule_text(dwarf_abi(EM_X86_64), &rows[1].rule, &out), -ENOBUFS);
	buf_fini(&out);
}

static const struct unit_test tests[] = {
	TEST_ROWS(reads, rows, expected),
	TEST(ceiling),
};

TEST_MAIN(tests)
