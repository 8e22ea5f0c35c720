/* SPDX-License-Identifier: Apache-2.0 */
/* What a source says against what the walk obeys, and who is asked first. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/rules/unwind_info_internal.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define RSP RULE_X86_RSP
#define RBP RULE_X86_RBP
#define NOTHING   \
	{         \
		0 \
	}
#define CFA(r, o) .cfa = RULE_CFA_REG, .cfa_reg = (r), .cfa_off = (o)
#define FP_AT(o) .fp = RULE_FP_CFA, .fp_off = (o)
#define RA_AT(o) .ra = RULE_RA_CFA, .ra_off = (o)
#define ROOT .ra = RULE_RA_UNDEFINED

struct normal_row {
	const char *name;
	uint16_t machine;
	struct unwind_rule in;
	struct unwind_rule out;
};

static struct normal_row normal_rows[] = {
	{ "plain", EM_X86_64, { CFA(RSP, 16), RA_AT(-8) }, { CFA(RSP, 16), RA_AT(-8) } },
	{ "saved",
	  EM_X86_64,
	  { CFA(RSP, 16), FP_AT(-16), RA_AT(-8) },
	  { CFA(RSP, 16), FP_AT(-16), RA_AT(-8) } },
	{ "popped", EM_X86_64, { CFA(RSP, 8), FP_AT(-16), RA_AT(-8) }, { CFA(RSP, 8), RA_AT(-8) } },
	{ "popped, one byte below",
	  EM_X86_64,
	  { CFA(RSP, 15), FP_AT(-16), RA_AT(-8) },
	  { CFA(RSP, 15), RA_AT(-8) } },
	{ "not popped: based on rbp",
	  EM_X86_64,
	  { CFA(RBP, 8), FP_AT(-16), RA_AT(-8) },
	  { CFA(RBP, 8), FP_AT(-16), RA_AT(-8) } },
	{ "popped return address", EM_X86_64, { CFA(RSP, 0), RA_AT(-8) }, { CFA(RSP, 0), ROOT } },
	{ "offsets at both ends",
	  EM_X86_64,
	  { CFA(RSP, INT32_MIN), FP_AT(INT32_MIN), RA_AT(INT32_MAX) },
	  { CFA(RSP, INT32_MIN), ROOT } },
	{ "return address at rsp",
	  EM_X86_64,
	  { CFA(RSP, 8), RA_AT(-8) },
	  { CFA(RSP, 8), RA_AT(-8) } },
	{ "link register popped",
	  EM_AARCH64,
	  { CFA(31, 0), FP_AT(-16), RA_AT(-8) },
	  { CFA(31, 0), .ra = RULE_RA_REG, .ra_reg = 30 } },
	{ "return address above the CFA",
	  EM_AARCH64,
	  { CFA(31, 208), RA_AT(8) },
	  { CFA(31, 224), RA_AT(-8) } },
	{ "return address above the CFA, saved fp",
	  EM_AARCH64,
	  { CFA(31, 208), FP_AT(-208), RA_AT(8) },
	  { CFA(31, 224), FP_AT(-224), RA_AT(-8) } },
	{ "return address above the highest CFA",
	  EM_AARCH64,
	  { CFA(31, INT32_MAX), RA_AT(8) },
	  { CFA(31, INT32_MAX), RA_AT(8) } },
	{ "return address above the CFA on x86-64",
	  EM_X86_64,
	  { CFA(RSP, 208), RA_AT(8) },
	  { CFA(RSP, 208), RA_AT(8) } },
	{ "root without a CFA", EM_X86_64, { ROOT }, { CFA(RSP, 0), ROOT } },
	{ "root with one", EM_X86_64, { CFA(RSP, 8), ROOT }, { CFA(RSP, 8), ROOT } },
	{ "root with a CFA that is not followed",
	  EM_X86_64,
	  { CFA(77, 8), ROOT },
	  { CFA(RSP, 0), ROOT } },
	{ "signal without a CFA",
	  EM_AARCH64,
	  { .ra = RULE_RA_SIGNAL },
	  { CFA(31, 0), .ra = RULE_RA_SIGNAL } },
	{ "none", EM_X86_64, NOTHING, NOTHING },
	{ "none, with leftovers", EM_X86_64, { .fp = RULE_FP_CFA, .ra_off = -8 }, NOTHING },
	{ "other register", EM_X86_64, { CFA(10, 0), RA_AT(-8) }, { CFA(10, 0), RA_AT(-8) } },
	{ "no register", EM_X86_64, { CFA(16, 0), RA_AT(-8) }, NOTHING },
	{ "no register on the other", EM_AARCH64, { CFA(32, 0), RA_AT(-8) }, NOTHING },
	{ "no kind of CFA", EM_X86_64, { .cfa = 9, RA_AT(-8) }, NOTHING },
	{ "no kind of FP", EM_X86_64, { CFA(RSP, 8), .fp = 9, RA_AT(-8) }, NOTHING },
	{ "no kind of RA", EM_X86_64, { CFA(RSP, 8), .ra = 9 }, NOTHING },
	{ "FP in no register",
	  EM_X86_64,
	  { CFA(RSP, 8), .fp = RULE_FP_REG, .fp_reg = 16, RA_AT(-8) },
	  NOTHING },
	{ "FP through no register",
	  EM_X86_64,
	  { CFA(RSP, 8), .fp = RULE_FP_DEREF, .fp_reg = 40, RA_AT(-8) },
	  NOTHING },
	{ "FP in itself",
	  EM_X86_64,
	  { CFA(RSP, 8), .fp = RULE_FP_REG, .fp_reg = RBP, RA_AT(-8) },
	  { CFA(RSP, 8), RA_AT(-8) } },
	{ "RA in no register",
	  EM_X86_64,
	  { CFA(RSP, 8), .ra = RULE_RA_REG, .ra_reg = 16 },
	  NOTHING },
	{ "vfork",
	  EM_X86_64,
	  { CFA(RSP, 0), .ra = RULE_RA_REG, .ra_reg = 5 },
	  { CFA(RSP, 0), .ra = RULE_RA_REG, .ra_reg = 5 } },
	{ "realigned",
	  EM_X86_64,
	  { .cfa = RULE_CFA_DEREF,
	    .cfa_reg = RBP,
	    .cfa_off = -8,
	    .fp = RULE_FP_DEREF,
	    .fp_reg = RBP,
	    RA_AT(-8) },
	  { .cfa = RULE_CFA_DEREF,
	    .cfa_reg = RBP,
	    .cfa_off = -8,
	    .fp = RULE_FP_DEREF,
	    .fp_reg = RBP,
	    RA_AT(-8) } },
	{ "plt",
	  EM_X86_64,
	  { .cfa = RULE_CFA_PLT, .cfa_reg = RSP, .cfa_off = 11, RA_AT(-8) },
	  { .cfa = RULE_CFA_PLT, .cfa_off = 11, RA_AT(-8) } },
	{ "plt of another length",
	  EM_X86_64,
	  { .cfa = RULE_CFA_PLT, .cfa_off = 17, RA_AT(-8) },
	  NOTHING },
	{ "plt elsewhere", EM_AARCH64, { .cfa = RULE_CFA_PLT, .cfa_off = 11, RA_AT(-8) }, NOTHING },
	{ "noted by Go",
	  EM_AARCH64,
	  { .cfa = RULE_CFA_GO_NOTED, .cfa_reg = 31, .cfa_off = 8, .cfa_add = 16, RA_AT(-8) },
	  { .cfa = RULE_CFA_GO_NOTED, .cfa_reg = 31, .cfa_off = 8, .cfa_add = 16, RA_AT(-8) } },
	{ "noted by Go elsewhere",
	  EM_X86_64,
	  { .cfa = RULE_CFA_GO_NOTED, .cfa_reg = RSP, .cfa_add = 16, RA_AT(-8) },
	  NOTHING },
	{ "left by Go",
	  EM_AARCH64,
	  { .cfa = RULE_CFA_GO_LEFT, .cfa_off = 184, .cfa_add = 16, RA_AT(-8) },
	  { .cfa = RULE_CFA_GO_LEFT, .cfa_off = 184, .cfa_add = 16, RA_AT(-8) } },
	{ "unused members",
	  EM_X86_64,
	  { CFA(RSP, 8), .fp_reg = 3, .fp_off = 5, .ra = RULE_RA_REG, .ra_reg = 5, .ra_off = 7,
	    .flags = 0xff, .zero = 1, .cfa_add = 2 },
	  { CFA(RSP, 8), .ra = RULE_RA_REG, .ra_reg = 5, .flags = RULE_SWITCH } },
};

static void normalizes(void **state)
{
	const struct normal_row *row = *state;
	struct unwind_rule rule = row->in;

	unwind_rule_normalize(dwarf_abi(row->machine), &rule);
	assert_memory_equal(&rule, &row->out, sizeof(rule));
	/* What is normal stays so. */
	unwind_rule_normalize(dwarf_abi(row->machine), &rule);
	assert_memory_equal(&rule, &row->out, sizeof(rule));
}

/* Answers for [begin, end) with its rule, or fails. */
struct answering {
	struct unwind_source source;
	uint64_t begin;
	uint64_t end;
	struct unwind_rule rule;
	int result;
	unsigned int *n_freed;
};

static int answer(struct unwind_source *s, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	const struct answering *a = (const struct answering *)s;

	if (a->result < 0)
		return a->result;
	if (vaddr < a->begin || vaddr >= a->end)
		return UNWIND_SOURCE_NONE;
	*ret_rule = a->rule;
	return 0;
}

static void answering_free(struct unwind_source *s)
{
	if (s)
		++*((struct answering *)s)->n_freed;
	free(s);
}

static void add(struct unwind_info *info, struct answering like)
{
	struct answering *a = malloc(sizeof(*a));

	assert_non_null(a);
	*a = like;
	a->source =
		(struct unwind_source){ .name = "fake", .rule_at = answer, .free = answering_free };
	unwind_info_add_take(info, &a->source);
}

static void first_that_knows_answers(void **state)
{
	struct unwind_info *info = NULL;
	struct unwind_rule rule = { .cfa = 77 };
	unsigned int n_freed = 0;

	(void)state;
	assert_int_equal(unwind_info_new_empty(dwarf_abi(EM_X86_64), &info), 0);
	assert_int_equal(unwind_info_rule_at(info, 0x1000, &rule), 0);
	assert_int_equal(rule.cfa, RULE_CFA_NONE);
	add(info, (struct answering){ .begin = 0x1000,
				      .end = 0x2000,
				      .n_freed = &n_freed,
				      .rule = { CFA(RSP, 8), FP_AT(-16), RA_AT(-8) } });
	/* A span that tells nothing is an answer too. */
	add(info, (struct answering){ .begin = 0x1800, .end = 0x3000, .n_freed = &n_freed });
	add(info, (struct answering){ .begin = 0,
				      .end = 0x4000,
				      .n_freed = &n_freed,
				      .rule = { CFA(RSP, 24), RA_AT(-8) } });
	assert_int_equal(unwind_info_n_sources(info), 3);
	assert_int_equal(unwind_info_rule_at(info, 0x1fff, &rule), 0);
	assert_int_equal(rule.cfa_off, 8);
	assert_int_equal(rule.fp, RULE_FP_SAME); /* normalized */
	assert_int_equal(unwind_info_rule_at(info, 0x2000, &rule), 0);
	assert_int_equal(rule.cfa, RULE_CFA_NONE);
	assert_int_equal(unwind_info_rule_at(info, 0x3000, &rule), 0);
	assert_int_equal(rule.cfa_off, 24);
	assert_int_equal(unwind_info_rule_at(info, 0x4000, &rule), 0);
	assert_int_equal(rule.cfa, RULE_CFA_NONE);
	add(info, (struct answering){ .result = -EIO, .n_freed = &n_freed });
	rule.cfa = 77;
	assert_int_equal(unwind_info_rule_at(info, 0x4000, &rule), -EIO);
	assert_int_equal(rule.cfa, 77);
	assert_null(unwind_info_source(info, 4));
	unwind_info_free(info);
	assert_int_equal(n_freed, 4);
	unwind_info_free(NULL);
}

/* A file of a machine that is not unwound, and one of 32 bits. */
static void other_machines(void **state)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_RISCV };
	Elf32_Ehdr small = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
					  ELFDATA2LSB, EV_CURRENT },
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64 };
	struct bytes files[] = { bytes_from_memory(&header, sizeof(header)),
				 bytes_from_memory(&small, sizeof(small)) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct elf *elf = NULL;
		struct unwind_info *info = NULL;
		struct unwind_rule rule;

		assert_int_equal(elf_new(files[i], &elf), 0);
		assert_int_equal(unwind_info_new(elf, NULL, &info), 0);
		assert_null(unwind_info_abi(info));
		assert_int_equal(unwind_info_n_sources(info), 0);
		assert_int_equal(unwind_info_rule_at(info, 0x1000, &rule), 0);
		assert_int_equal(rule.cfa, RULE_CFA_NONE);
		unwind_info_free(info);
		elf_free(elf);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(normalizes, normal_rows, name),
	TEST(first_that_knows_answers),
	TEST(other_machines),
};

TEST_MAIN(tests)
