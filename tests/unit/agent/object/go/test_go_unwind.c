/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rules of Go functions: hand-made prologues of each kind. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/object/go/go_unwind.h"
#include "agent/object/go/gopclntab.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/go/go_fixture.h"

#define MAX_ROWS 12

struct row {
	uint32_t off; /* from the function's begin */
	struct unwind_rule rule;
};

#define SP_X86(depth) \
	.cfa = RULE_CFA_REG, .cfa_reg = RULE_X86_RSP, .cfa_off = (depth) + 8, .ra_off = -8
#define FRAMELESS         \
	{                 \
		SP_X86(0) \
	}
#define UNSAVED(depth)        \
	{                     \
		SP_X86(depth) \
	}
#define FRAMED(depth)                                           \
	{                                                       \
		SP_X86(depth), .fp = RULE_FP_CFA, .fp_off = -16 \
	}
#define BY_RBP                                                                                  \
	{                                                                                       \
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_X86_RBP, .cfa_off = 16, .fp = RULE_FP_CFA, \
		.fp_off = -16, .ra_off = -8, .flags = RULE_SWITCH                               \
	}
#define ROOT_X86                                                            \
	{                                                                   \
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_X86_RSP, .cfa_off = 8, \
		.fp = RULE_FP_UNDEFINED, .ra = RULE_RA_UNDEFINED            \
	}
#define SIGNAL_X86                                                                               \
	{                                                                                        \
		.cfa = RULE_CFA_DEREF, .cfa_reg = RULE_X86_RSP, .cfa_off = 160,                  \
		.fp = RULE_FP_DEREF, .fp_reg = RULE_X86_RSP, .fp_off = 120, .ra = RULE_RA_SIGNAL \
	}
#define LINK                                                                      \
	{                                                                         \
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_ARM64_SP, .ra = RULE_RA_REG, \
		.ra_reg = RULE_ARM64_LR                                           \
	}
#define LINK_SAVED(depth)                                                          \
	{                                                                          \
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_ARM64_SP, .cfa_off = (depth), \
		.ra_off = -(depth)                                                 \
	}
#define PAIR_SAVED(depth)                                                                      \
	{                                                                                      \
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_ARM64_SP, .cfa_off = (depth),             \
		.ra_off = -(depth), .fp = RULE_FP_DEREF, .fp_reg = RULE_ARM64_SP, .fp_off = -8 \
	}
#define BY_X29(depth)                                                                             \
	{                                                                                         \
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_ARM64_FP, .cfa_off = (depth) + 8,            \
		.fp = RULE_FP_CFA, .fp_off = -(depth)-8, .ra_off = -(depth), .flags = RULE_SWITCH \
	}
#define ASIDE(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__, .fp = RULE_FP_CFA, .fp_off = -24, .ra_off = -16, .flags = RULE_SWITCH \
	}
#define BY_X2 ASIDE(.cfa = RULE_CFA_REG, .cfa_reg = 2, .cfa_off = 16)
#define NOTED ASIDE(.cfa = RULE_CFA_GO_NOTED, .cfa_reg = RULE_ARM64_SP, .cfa_add = 16)
#define LEFT ASIDE(.cfa = RULE_CFA_GO_LEFT, .cfa_off = 184, .cfa_add = 16)
#define SIZE 48
#define ASM GOPCLNTAB_ASSEMBLY
#define SWITCHES (GOPCLNTAB_ASSEMBLY | GOPCLNTAB_WRITES_SP)

struct function_row {
	const char *name;
	uint16_t machine;
	uint32_t magic;
	struct go_func func;
	struct row rows[MAX_ROWS];
	size_t n_rows;
};

static struct function_row function_rows[] = {
	{ "without a frame",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "main.leaf", .code = "90 c3", .n_bytes = SIZE, .values = { 2, SIZE } },
	  { { 0, FRAMELESS } },
	  1 },
	{ "from 1.21: push rbp; mov rbp, rsp; sub rsp, 16; nop; add rsp, 16; pop rbp; ret",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "main.framed",
	    .code = "55 4889e5 4883ec10 90 4883c410 5d c3",
	    .n_bytes = SIZE,
	    .values = { 2, 1, 16, 7, 32, 5, 31, 1, 15, SIZE - 14 } },
	  { { 0, FRAMELESS },
	    { 1, FRAMED(8) },
	    { 4, FRAMED(8) },
	    { 8, FRAMED(24) },
	    { 13, FRAMED(8) },
	    { 14, FRAMELESS } },
	  6 },
	{ "before: sub rsp, 24; mov [rsp+16], rbp; lea rbp, [rsp+16]; nop; mov rbp, [rsp+16]; add; "
	  "ret",
	  EM_X86_64,
	  GO_1_18,
	  { .name = "main.framed",
	    .code = "4883ec18 48896c2410 488d6c2410 90 488b6c2410 4883c418 c3",
	    .n_bytes = SIZE,
	    .values = { 2, 4, 48, 20, 47, SIZE - 24 } },
	  { { 0, FRAMELESS },
	    { 4, UNSAVED(24) },
	    { 9, FRAMED(24) },
	    { 14, FRAMED(24) },
	    { 24, FRAMELESS } },
	  5 },
	{ "before, 1.16: a frame of 32 KiB",
	  EM_X86_64,
	  GO_1_16,
	  { .name = "main.framed",
	    .code = "4881ec00800000 4889ac24f87f0000 488dac24f87f0000 90",
	    .n_bytes = SIZE,
	    .values = { 2, 7, 0x80, 0x80, 0x04, SIZE - 7 } },
	  { { 0, FRAMELESS },
	    { 7, UNSAVED(0x8000) },
	    { 15, FRAMED(0x8000) },
	    { 23, FRAMED(0x8000) } },
	  4 },
	{ "assembly: push r13 is no push rbp",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "crypto.block",
	    .code = "4155 90 415d c3",
	    .n_bytes = SIZE,
	    .flags = ASM,
	    .values = { 2, 2, 16, 3, 15, SIZE - 5 } },
	  { { 0, FRAMELESS }, { 2, UNSAVED(8) }, { 5, FRAMELESS } },
	  3 },
	{ "assembly: a constant that ends before push rbp",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "crypto.block",
	    .code = "7641 55 4889e5 90 5d c3",
	    .n_bytes = SIZE,
	    .flags = ASM,
	    .values = { 2, 3, 16, 5, 15, SIZE - 8 } },
	  { { 0, FRAMELESS }, { 3, FRAMED(8) }, { 6, FRAMED(8) }, { 8, FRAMELESS } },
	  4 },
	{ "to another stack and back, with a frame",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "runtime.systemstack",
	    .code = "55 4889e5 488b6238 ffd7 488b6038 5d c3",
	    .n_bytes = SIZE,
	    .flags = SWITCHES,
	    .values = { 2, 1, 16, 14, 15, SIZE - 15 } },
	  { { 0, FRAMELESS },
	    { 1, FRAMED(8) },
	    { 4, BY_RBP },
	    { 8, BY_RBP },
	    { 14, BY_RBP },
	    { 15, FRAMELESS } },
	  6 },
	{ "to another stack and back, with an older frame",
	  EM_X86_64,
	  GO_1_18,
	  { .name = "runtime.nanotime1",
	    .code = "4883ec18 48896c2410 488d6c2410 4889dc ffd0 4c89e4 488b6c2410 4883c418 c3",
	    .n_bytes = SIZE,
	    .flags = SWITCHES,
	    .values = { 2, 4, 48, 27, 47, SIZE - 31 } },
	  { { 0, FRAMELESS },
	    { 4, UNSAVED(24) },
	    { 9, FRAMED(24) },
	    { 14, BY_RBP },
	    { 17, BY_RBP },
	    { 22, BY_RBP },
	    { 27, FRAMED(24) },
	    { 31, FRAMELESS } },
	  8 },
	{ "to another stack and back, without a frame, 1.16 by its name",
	  EM_X86_64,
	  GO_1_16,
	  { .name = "runtime.systemstack",
	    .code = "90 4889dc ffd7 488b6038 c3",
	    .n_bytes = SIZE,
	    .values = { 2, SIZE } },
	  { { 0, FRAMELESS }, { 4, BY_RBP }, { 10, FRAMELESS } },
	  3 },
	{ "the name alone is not enough where there are flags",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "runtime.systemstack",
	    .code = "90 4889dc ffd7 488b6038 c3",
	    .n_bytes = SIZE,
	    .values = { 2, SIZE } },
	  { { 0, FRAMELESS } },
	  1 },
	{ "to another stack, not back",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "runtime.morestack",
	    .code = "90 488b6338 e800000000",
	    .n_bytes = SIZE,
	    .flags = SWITCHES,
	    .values = { 2, SIZE } },
	  { { 0, FRAMELESS }, { 5, ROOT_X86 } },
	  2 },
	{ "outermost",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "runtime.goexit",
	    .code = "90 e800000000",
	    .n_bytes = SIZE,
	    .flags = 5,
	    .values = { 2, SIZE } },
	  { { 0, ROOT_X86 } },
	  1 },
	{ "depth below the caller's",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "syscall.rawVforkSyscall",
	    .code = "415c 0f05 4154",
	    .n_bytes = SIZE,
	    .flags = ASM,
	    .values = { 2, 2, 15, 4, 16, SIZE - 6 } },
	  { { 0, FRAMELESS }, { 2, { 0 } }, { 6, FRAMELESS } },
	  3 },
	{ "values that end early",
	  EM_X86_64,
	  GO_1_20,
	  { .name = "main.damaged", .n_bytes = 0x100, .values = { 2, 0x10, 0 } },
	  { { 0, FRAMELESS }, { 0x10, { 0 } } },
	  2 },
	{ "AArch64, small frame",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "main.small", /* str x30, [sp, #-32]!; stur x29, [sp, #-8]; sub x29, sp, #8 */
	    .code = "fe0f1ef8 fd831ff8 fd2300d1 1f2003d5 fd835ff8 fe0742f8 c0035fd6",
	    .n_bytes = SIZE,
	    .values = { 2, 1, 64, 5, 63, SIZE / 4 - 6 } },
	  { { 0, LINK },
	    { 4, LINK_SAVED(32) },
	    { 8, PAIR_SAVED(32) },
	    { 12, PAIR_SAVED(32) },
	    { 24, LINK } },
	  5 },
	{ "AArch64, large frame",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "main.large", /* sub x20, sp, #640; stp x29, x30, [x20, #-8]; mov sp, x20; sub */
	    .code = "f4030ad1 9dfa3fa9 9f020091 fd2300d1 1f2003d5",
	    .n_bytes = SIZE,
	    .values = { 2, 3, 0x80, 0x0a, SIZE / 4 - 3 } },
	  { { 0, LINK }, { 12, PAIR_SAVED(640) }, { 16, PAIR_SAVED(640) } },
	  3 },
	{ "AArch64, to another stack and back",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "runtime.systemstack",
	    .code = "fe0f1ff8 fd831ff8 fd2300d1 1f000091 60003fd6 1f000091 fd835ff8 fe0741f8 "
		    "c0035fd6",
	    .n_bytes = SIZE,
	    .flags = SWITCHES,
	    .values = { 2, 1, 32, 7, 31, SIZE / 4 - 8 } },
	  { { 0, LINK },
	    { 4, LINK_SAVED(16) },
	    { 8, PAIR_SAVED(16) },
	    { 12, BY_X29(16) },
	    { 16, BY_X29(16) },
	    { 28, PAIR_SAVED(16) },
	    { 32, LINK } },
	  7 },
	{ "AArch64, to another stack and back, before 1.25",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "runtime.systemstack", /* … mov sp, x3; ldr x29, [x28, #96]; blr x3; ldr x28, [x3, #184];
					      mov sp, x0; ldr x29, [x28, #96]; … */
	    .code = "fe0f1ff8 fd831ff8 fd2300d1 7f000091 9d3340f9 60003fd6 7c5c40f9 1f000091 "
		    "9d3340f9 fd835ff8 fe0741f8 c0035fd6",
	    .n_bytes = SIZE,
	    .flags = SWITCHES,
	    .values = { 2, 1, 32, 10, 31, SIZE / 4 - 11 } },
	  { { 0, LINK },
	    { 4, LINK_SAVED(16) },
	    { 8, PAIR_SAVED(16) },
	    { 12, PAIR_SAVED(16) },
	    { 16, BY_X29(16) },
	    { 20, LEFT },
	    { 32, PAIR_SAVED(16) },
	    { 40, PAIR_SAVED(16) },
	    { 44, LINK } },
	  9 },
	{ "AArch64, C called from Go",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "runtime.asmcgocall", /* … mov x2, sp; mov sp, x0; ldr x29, [x28, #96]; mov sp, x13;
					     str x4, [sp]; str x4, [sp, #8]; blr x1; mov sp, x5; … */
	    .code = "fe0f1ff8 fd831ff8 fd2300d1 e2030091 1f000091 9d3340f9 bf010091 e40300f9 "
		    "e40700f9 20003fd6 bf000091 fd835ff8 fe0741f8 c0035fd6",
	    .n_bytes = SIZE + 16,
	    .flags = SWITCHES,
	    .values = { 2, 1, 32, 12, 31, (SIZE + 16) / 4 - 13 } },
	  { { 0, LINK },
	    { 4, LINK_SAVED(16) },
	    { 8, PAIR_SAVED(16) },
	    { 12, PAIR_SAVED(16) },
	    { 20, BY_X2 },
	    { 36, NOTED },
	    { 44, PAIR_SAVED(16) },
	    { 48, PAIR_SAVED(16) },
	    { 52, LINK } },
	  9 },
	{ "AArch64, deeper where it calls C",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "runtime.asmcgocall_no_g", /* … sub sp, sp, #16; blr x1; add sp, sp, #16; … */
	    .code = "fe0f1ff8 fd831ff8 fd2300d1 ff4300d1 20003fd6 ff430091 fd835ff8 fe0741f8 "
		    "c0035fd6",
	    .n_bytes = SIZE,
	    .flags = ASM,
	    .values = { 2, 1, 32, 3, 32, 2, 31, 2, 31, SIZE / 4 - 8 } },
	  { { 0, LINK },
	    { 4, LINK_SAVED(16) },
	    { 8, PAIR_SAVED(16) },
	    { 12, BY_X29(16) },
	    { 16, BY_X29(16) },
	    { 24, BY_X29(16) },
	    { 28, PAIR_SAVED(16) },
	    { 32, LINK } },
	  8 },
	{ "AArch64, Go called from C",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "crosscall2", /* sub sp, sp, #192; nop; stp x29, x30, [sp, #176]; bl; ldp; add; ret */
	    .code = "ff0303d1 1f2003d5 fd7b0ba9 00000094 fd7b4ba9 ff030391 c0035fd6",
	    .n_bytes = SIZE,
	    .flags = ASM,
	    .values = { 2, 1, 0x80, 0x03, 5, 0xff, 0x02, SIZE / 4 - 6 } },
	  { { 0, LINK },
	    { 4,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = RULE_ARM64_SP,
		.cfa_off = 192,
		.ra = RULE_RA_REG,
		.ra_reg = RULE_ARM64_LR } },
	    { 12,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = RULE_ARM64_SP,
		.cfa_off = 192,
		.fp = RULE_FP_CFA,
		.fp_off = -16,
		.ra_off = -8 } },
	    { 24, LINK } },
	  4 },
	{ "AArch64, a pair saved behind a call",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "crypto.block",
	    .code = "ff0303d1 00000094 fd7b0ba9",
	    .n_bytes = SIZE,
	    .flags = ASM,
	    .values = { 2, 1, 0x80, 0x03, SIZE / 4 - 1 } },
	  { { 0, LINK },
	    { 4,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = RULE_ARM64_SP,
		.cfa_off = 192,
		.ra = RULE_RA_REG,
		.ra_reg = RULE_ARM64_LR } } },
	  2 },
	{ "AArch64, without a frame",
	  EM_AARCH64,
	  GO_1_20,
	  { .name = "main.leaf", .n_bytes = SIZE, .values = { 2, SIZE / 4 } },
	  { { 0, LINK } },
	  1 },
};

struct seen {
	struct row rows[MAX_ROWS];
	size_t n;
	uint64_t begin;
};

static int see(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct seen *seen = data;

	assert_true(seen->n < MAX_ROWS);
	seen->rows[seen->n].off = (uint32_t)(vaddr - seen->begin);
	seen->rows[seen->n++].rule = *rule;
	return 0;
}

static void open_source(const struct go_image *image, struct elf **ret_elf,
			struct unwind_source **ret_source)
{
	assert_int_equal(elf_new(bytes_from_memory(image->bytes, sizeof(image->bytes)), ret_elf),
			 0);
	assert_int_equal(go_unwind_new(*ret_elf, ret_source), 0);
}

static void check_rule(const struct unwind_rule *found, const struct unwind_rule *want,
		       uint32_t off)
{
	if (memcmp(found, want, sizeof(*want)) != 0)
		print_error("at %u: cfa %d r%d%+d fp %d r%d %+d ra %d r%d %+d flags %d\n", off,
			    found->cfa, found->cfa_reg, found->cfa_off, found->fp, found->fp_reg,
			    found->fp_off, found->ra, found->ra_reg, found->ra_off, found->flags);
	assert_memory_equal(found, want, sizeof(*want));
}

/* Rows and single look-ups. */
static void rules_of(void **state)
{
	const struct function_row *row = *state;
	struct unwind_spans spans = { .max_bytes = 4096 };
	struct unwind_source_stats stats = { 0 };
	struct seen seen = { .begin = GO_TEXT_VADDR };
	struct unwind_source *source = NULL;
	struct unwind_rule rule;
	struct go_image image;
	struct elf *elf = NULL;

	go_image_make(&image, row->machine, row->magic, GO_TEXT_VADDR, &row->func, 1);
	open_source(&image, &elf, &source);
	assert_int_equal(source->spans(source, &spans, &stats), 0);
	assert_int_equal(spans.n, 1);
	assert_int_equal(spans.items[0].begin, GO_TEXT_VADDR);
	assert_int_equal(spans.items[0].n_bytes, row->func.n_bytes);
	assert_int_equal(source->rows(source, &spans.items[0], see, &seen, &stats), 0);
	for (size_t i = 0; i < row->n_rows && i < seen.n; i++) {
		assert_int_equal(seen.rows[i].off, row->rows[i].off);
		check_rule(&seen.rows[i].rule, &row->rows[i].rule, row->rows[i].off);
	}
	assert_int_equal(seen.n, row->n_rows);
	for (size_t i = 0, off = 0; off < row->func.n_bytes; off++) {
		while (i + 1 < seen.n && off >= seen.rows[i + 1].off)
			i++;
		assert_int_equal(source->rule_at(source, GO_TEXT_VADDR + off, &rule), 0);
		check_rule(&rule, &seen.rows[i].rule, (uint32_t)off);
	}
	assert_int_equal(source->rule_at(source, GO_TEXT_VADDR - 1, &rule), UNWIND_SOURCE_NONE);
	assert_int_equal(source->rule_at(source, GO_TEXT_VADDR + row->func.n_bytes, &rule),
			 UNWIND_SOURCE_NONE);
	unwind_spans_fini(&spans);
	source->release(source);
	source->free(source);
	elf_free(elf);
}

/* The caller of sigreturn's first byte is looked up one byte before; C code that Go linked has no rows. */
static void sigreturn_and_c(void **state)
{
	static const struct unwind_rule signal = SIGNAL_X86;
	static const struct unwind_rule frameless = FRAMELESS;
	static const struct go_func funcs[] = {
		{ .name = "main.before", .n_bytes = 32, .values = { 2, 32 } },
		{ .name = "runtime.sigreturn__sigaction",
		  .n_bytes = 32,
		  .flags = ASM,
		  .code = "48c7c00f000000 0f05",
		  .values = { 2, 9 } },
		{ .name = "c", .n_bytes = 32, .no_values = true },
		{ .name = "main.last", .n_bytes = 32, .values = { 2, 32 } },
	};
	struct unwind_spans spans = { .max_bytes = 4096 };
	struct unwind_source_stats stats = { 0 };
	struct seen seen = { .begin = GO_TEXT_VADDR };
	struct unwind_source *source = NULL;
	struct unwind_rule rule;
	struct go_image image;
	struct elf *elf = NULL;

	(void)state;
	go_image_make(&image, EM_X86_64, GO_1_20, GO_TEXT_VADDR, funcs, ARRAY_SIZE(funcs));
	open_source(&image, &elf, &source);
	assert_int_equal(source->spans(source, &spans, &stats), 0);
	assert_int_equal(spans.n, 3);
	assert_int_equal(spans.items[0].n_bytes, 31);
	assert_int_equal(spans.items[1].begin, GO_TEXT_VADDR + 31);
	assert_int_equal(spans.items[1].n_bytes, 33);
	assert_int_equal(spans.items[2].begin, GO_TEXT_VADDR + 96);
	for (size_t i = 0; i < spans.n; i++)
		assert_int_equal(source->rows(source, &spans.items[i], see, &seen, &stats), 0);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.rows[1].off, 31);
	check_rule(&seen.rows[1].rule, &signal, 31);
	assert_int_equal(source->rule_at(source, GO_TEXT_VADDR + 30, &rule), 0);
	check_rule(&rule, &frameless, 30);
	assert_int_equal(source->rule_at(source, GO_TEXT_VADDR + 31, &rule), 0);
	check_rule(&rule, &signal, 31);
	assert_int_equal(source->rule_at(source, GO_TEXT_VADDR + 70, &rule), UNWIND_SOURCE_NONE);
	assert_int_equal(stats.n_spans, 3);
	unwind_spans_fini(&spans);
	source->free(source);
	elf_free(elf);
}

static void ceiling_of_spans(void **state)
{
	struct unwind_spans spans = { .max_bytes = 8 };
	struct unwind_source_stats stats = { 0 };
	struct unwind_source *source = NULL;
	struct go_image image;
	struct elf *elf = NULL;

	(void)state;
	go_image_make(&image, EM_X86_64, GO_1_20, GO_TEXT_VADDR, &function_rows[0].func, 1);
	open_source(&image, &elf, &source);
	assert_int_equal(source->spans(source, &spans, &stats), UNWIND_SOURCE_TOO_LARGE);
	unwind_spans_fini(&spans);
	source->free(source);
	elf_free(elf);
}

static int stop_at_once(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	(void)vaddr;
	(void)rule;
	(void)data;
	return -ENOSPC;
}

static void forwards_the_end(void **state)
{
	const struct unwind_span span = { GO_TEXT_VADDR, SIZE, 0 };
	struct unwind_source_stats stats = { 0 };
	struct unwind_source *source = NULL;
	struct go_image image;
	struct elf *elf = NULL;

	(void)state;
	go_image_make(&image, EM_X86_64, GO_1_20, GO_TEXT_VADDR, &function_rows[1].func, 1);
	open_source(&image, &elf, &source);
	assert_int_equal(source->rows(source, &span, stop_at_once, NULL, &stats), -ENOSPC);
	source->free(source);
	elf_free(elf);
}

static const struct unit_test tests[] = {
	TEST_ROWS(rules_of, function_rows, name),
	TEST(sigreturn_and_c),
	TEST(ceiling_of_spans),
	TEST(forwards_the_end),
};

TEST_MAIN(tests)
