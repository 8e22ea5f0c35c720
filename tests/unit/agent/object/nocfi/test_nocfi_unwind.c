/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for text without call frame information: code bytes to rows, linkage tables, signal stubs,
 * and whole programs, where every address must get the same answer from the rows and by itself.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "agent/object/nocfi/nocfi_flow.h"
#include "agent/object/nocfi/nocfi_gaps.h"
#include "agent/object/nocfi/nocfi_plt.h"
#include "agent/object/nocfi/nocfi_signal.h"
#include "agent/object/nocfi/nocfi_unwind.h"
#include "agent/object/vdso.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define VADDR 0x1000u
#define OTHER_FUNCTION 0x9000u
#define TABLE 0x2000u

struct flow_row {
	const char *name;
	const char *code;
	size_t n;
	const char *rows;     /* "offset rule, …"; "": not trusted */
	const int32_t *table; /* at TABLE */
	size_t n_table;
	bool is_unsized;
	bool is_entry;
	uint64_t taken; /* the address that somebody takes; 0: none */
};

#define FLOW(name, code, rows)                                               \
	{                                                                    \
		name, code, sizeof(code) - 1, rows, NULL, 0, false, false, 0 \
	}
#define UNSIZED(name, code, rows)                                           \
	{                                                                   \
		name, code, sizeof(code) - 1, rows, NULL, 0, true, false, 0 \
	}
#define TAKEN(name, code, taken, rows)                                          \
	{                                                                       \
		name, code, sizeof(code) - 1, rows, NULL, 0, true, false, taken \
	}

/* Both cases of a switch, and the first entry of another table behind them. */
static const int32_t two_cases[] = { (int32_t)(VADDR + 23 - TABLE), (int32_t)(VADDR + 28 - TABLE),
				     (int32_t)(VADDR - TABLE) };

static struct flow_row flow_rows[] = {
	FLOW("leaf", "\x31\xc0\xc3", "0 rsp+8"),
	FLOW("push and pop", "\x53\x5b\xc3", "0 rsp+8, 1 rsp+16, 2 rsp+8"),
	FLOW("rbp saved", "\x55\x31\xed\x5d\xc3", "0 rsp+8, 1 rsp+16 fp-16, 4 rsp+8"),
	FLOW("frame pointer, leave", "\x55\x48\x89\xe5\x48\x83\xec\x20\xc9\xc3",
	     "0 rsp+8, 1 rsp+16 fp-16, 4 rbp+16 fp-16, 9 rsp+8"),
	FLOW("add and sub", "\x48\x83\xec\x18\x48\x81\xc4\x18\x00\x00\x00\xc3",
	     "0 rsp+8, 4 rsp+32, 11 rsp+8"),
	FLOW("lea of rsp", "\x48\x8d\x64\x24\xf0\x48\x8d\x64\x24\x10\xc3",
	     "0 rsp+8, 5 rsp+24, 10 rsp+8"),
	FLOW("rbp saved by a store",
	     "\x48\x83\xec\x18\x48\x89\x6c\x24\x10\x31\xed\x48\x8b\x6c\x24\x10"
	     "\x48\x83\xc4\x18\xc3",
	     "0 rsp+8, 4 rsp+32, 9 rsp+32 fp-16, 16 rsp+32, 20 rsp+8"),
	FLOW("early return", "\x85\xff\x74\x03\x53\x5b\xc3\xc3", "0 rsp+8, 5 rsp+16, 6 rsp+8"),
	FLOW("alloca needs the frame pointer", "\x55\x48\x89\xe5\x48\x29\xfc\xc9\xc3",
	     "0 rsp+8, 1 rsp+16 fp-16, 4 rbp+16 fp-16, 8 rsp+8"),
	FLOW("stack pointer from nowhere", "\x48\x89\xfc\xff\xe6", "0 rsp+8, 3 none"),
	FLOW("two ways with different depths", "\x85\xff\x74\x01\x53\x90\xeb\xfd",
	     "0 rsp+8, 5 none"),
	FLOW("rbp of one way only", "\x85\xff\x74\x02\x89\xfd\x90\xeb\xfd",
	     "0 rsp+8, 6 rsp+8 fp lost"),
	FLOW("second bytes of registers", "\x80\xcc\x0c\xb5\x01\xc3", "0 rsp+8"),
	/* kandq %k1, %k2, %k4; kmovd %k4, %eax; vmovd %xmm4, %eax: 4 is not rsp */
	FLOW("masks and vectors",
	     "\x53\xc4\xe1\xec\x41\xe1\xc5\xfb\x93\xc4\xc5\xf9\x7e\xe0\x5b\xc3",
	     "0 rsp+8, 1 rsp+16, 15 rsp+8"),
	/* kmovd %k1, %esp; vmovd %xmm0, %esp */
	FLOW("stack pointer from a mask", "\xc5\xfb\x93\xe1\xff\xe6", "0 rsp+8, 4 none"),
	FLOW("stack pointer from a vector", "\xc5\xf9\x7e\xc4\xff\xe6", "0 rsp+8, 4 none"),
	FLOW("return with a word left", "\x53\xc3", ""),
	FLOW("return without the caller's rbp", "\x31\xc0\x89\xc5\xc3", ""),
	FLOW("no instruction", "\x90\x06\xc3", ""),
	FLOW("into the next function", "\xb8\x3c\x00\x00\x00\x0f\x05", "0 rsp+8"),
	FLOW("what nothing leads to", "\xc3\xf4\x90\xc3", "0 rsp+8, 1 none"),
	FLOW("clears rbp: the child of clone",
	     "\x0f\x05\x85\xc0\x75\x06\x31\xed\x5f\xff\xd0\xf4\xc3", "0 rsp+8, 8 root, 12 rsp+8"),
	FLOW("clears rbp behind a push", "\x55\x31\xed\x90\x5d\xc3",
	     "0 rsp+8, 1 rsp+16 fp-16, 5 rsp+8"),
	FLOW("clears a copied rbp", "\x48\x89\xe8\x31\xed\x48\x89\xc5\xff\xe0",
	     "0 rsp+8, 5 rsp+8 fp lost"),
	FLOW("vfork", "\x5a\xb8\x3a\x00\x00\x00\x0f\x05\x52\xc3",
	     "0 rsp+8, 1 rsp+0 ra r1, 9 rsp+8"),
	FLOW("sigsetjmp", "\x8f\x47\x40\xe8\x00\x10\x00\x00\xff\x73\x40\xc3",
	     "0 rsp+8, 3 none, 11 rsp+8"),
	FLOW("call to the next instruction", "\xe8\x00\x00\x00\x00\x58\xc3",
	     "0 rsp+8, 5 rsp+16, 6 rsp+8"),
	/* jne 1f; call abort; 1: push; pop; ret: the call does not return. */
	FLOW("call that does not return",
	     "\x53\x85\xff\x75\x09\x50\x50\xe8\x00\x10\x00\x00\x90\x90\x5b\xc3",
	     "0 rsp+8, 1 rsp+16, 6 rsp+24, 7 rsp+32, 12 none, 14 rsp+16, 15 rsp+8"),
	/* push; cmp $1, edi; ja out; lea table, rdx; movslq (rdx,rdi,4), rax; add rdx, rax; jmp
	 * *rax */
	{ "switch",
	  "\x53\x83\xff\x01\x77\x16\x48\x8d\x15\xf3\x0f\x00\x00\x48\x63\x04\xba\x48\x01\xd0"
	  "\xff\xe0\x90\x58\xc3\x90\x90\x90\x5b\xc3",
	  30, "0 rsp+8, 1 rsp+16, 22 none, 23 rsp+16, 24 rsp+8, 25 none, 28 rsp+16, 29 rsp+8",
	  two_cases, ARRAY_SIZE(two_cases), true, false, 0 },
	/* The same without a table: what is left is where the jump goes. */
	FLOW("switch without a table", "\x53\xff\xe0\x58\xc3\x5b\xc3",
	     "0 rsp+8, 1 rsp+16, 4 rsp+8, 5 rsp+16, 6 rsp+8"),
	UNSIZED("unsized leaf", "\x31\xc0\xc3\x90", "0 rsp+8"),
	UNSIZED("unsized tail call", "\x53\x5b\xe9\xf9\x7f\x00\x00\x90",
		"0 rsp+8, 1 rsp+16, 2 rsp+8"),
	UNSIZED("unsized, out into nothing", "\x31\xc0\xe9\x00\x10\x00\x00\x90", ""),
	UNSIZED("tail call with a frame", "\x53\xe9\xfa\x7f\x00\x00\x90", ""),
	/* ret; …; call; padding to 16; push %rbx …: another function */
	UNSIZED("unsized, ends in a call",
		"\x85\xff\x74\x01\xc3\x53\xe8\x00\x10\x00\x00\x0f\x1f\x44\x00\x00\x53\x5b\xc3",
		"0 rsp+8, 6 rsp+16"),
	UNSIZED("unsized, the next one looks right in its frame",
		"\x85\xff\x74\x01\xc3\x53\xe8\x00\x10\x00\x00\x0f\x1f\x44\x00\x00"
		"\x53\xe9\x00\x10\x00\x00",
		"0 rsp+8, 6 rsp+16"),
	{ "entry of musl", "\x48\x31\xed\x48\x89\xe7\x48\x83\xe4\xf0\xe8\x00\x10\x00\x00\xf4", 16,
	  "0 root", NULL, 0, true, true, 0 },
	{ "entry of glibc", "\xf3\x0f\x1e\xfa\x31\xed\x5e\xff\x15\x00\x10\x00\x00\xf4", 14,
	  "0 root", NULL, 0, true, true, 0 },
	/* push; call exit: nobody is known to enter it, or somebody takes its address. */
	UNSIZED("ends in a call, nothing known", "\x53\xe8\x00\x10\x00\x00", ""),
	TAKEN("ends in a call, address taken", "\x53\xe8\x00\x10\x00\x00", VADDR,
	      "0 rsp+8, 1 rsp+16"),
	TAKEN("ends in nothing, address taken", "\x53\x90\x50", VADDR, ""),
	TAKEN("goes on elsewhere, address taken", "\x31\xc0\xe9\x00\x10\x00\x00\x90", VADDR, ""),
	TAKEN("endless, address taken", "\x53\x90\xeb\xfd", VADDR, "0 rsp+8, 1 rsp+16"),
	/* ret; …; call; push; pop; ret: another function, without padding */
	UNSIZED("a call right in front of something",
		"\x85\xff\x74\x01\xc3\x53\xe8\x00\x10\x00\x00\x53\x5b\xc3", ""),
	TAKEN("a call right in front of a function",
	      "\x85\xff\x74\x01\xc3\x53\xe8\x00\x10\x00\x00\x53\x5b\xc3", VADDR + 11,
	      "0 rsp+8, 6 rsp+16"),
};

static const char *const register_names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"
};

struct text {
	struct buf buf;
	uint64_t base;
};

static int add_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct text *t = data;
	struct buf *b = &t->buf;

	(void)buf_printf(b, "%s%u ", b->len ? ", " : "", (unsigned int)(vaddr - t->base));
	if (rule->cfa == RULE_CFA_NONE)
		return buf_append_str(b, "none");
	if (rule->ra == RULE_RA_UNDEFINED)
		return buf_append_str(b, "root");
	if (rule->cfa == RULE_CFA_PLT)
		return buf_printf(b, "plt %d", rule->cfa_off);
	(void)buf_printf(b, "%s%+d", rule->cfa_reg < 8 ? register_names[rule->cfa_reg] : "sp",
			 rule->cfa_off);
	if (rule->fp == RULE_FP_CFA)
		(void)buf_printf(b, " fp%+d", rule->fp_off);
	else if (rule->fp == RULE_FP_UNDEFINED)
		(void)buf_append_str(b, " fp lost");
	if (rule->ra == RULE_RA_REG)
		(void)buf_printf(b, " ra r%u", rule->ra_reg);
	else if (rule->ra_off != -8)
		(void)buf_printf(b, " ra %d", rule->ra_off);
	return b->failed ? -1 : 0;
}

static bool is_other_function(uint64_t vaddr, void *data)
{
	(void)data;
	return vaddr == OTHER_FUNCTION;
}

static bool is_taken_here(uint64_t vaddr, void *data)
{
	const struct flow_row *row = data;

	return row->taken == vaddr;
}

static bool read_table(uint64_t vaddr, void *dst, size_t n, void *data)
{
	const struct flow_row *row = data;

	if (!row->table || vaddr < TABLE || vaddr - TABLE + n > row->n_table * sizeof(*row->table))
		return false;
	memcpy(dst, (const char *)row->table + (vaddr - TABLE), n);
	return true;
}

static void reads_frames(void **state)
{
	struct flow_row *row = *state;
	_cleanup_buf_ struct buf buf = BUF_INIT(4096);
	uint64_t budget = 100000;
	struct nocfi_flow_scratch *scratch = NULL;
	struct nocfi_flow_result result;
	uint8_t *code = malloc(row->n);
	struct nocfi_text text = {
		.code = code,
		.n = (uint32_t)row->n,
		.vaddr = VADDR,
		.is_sized = !row->is_unsized,
		.is_entry = row->is_entry,
		.is_function = is_other_function,
		.is_taken = is_taken_here,
		.read = read_table,
		.data = row,
		.budget = &budget,
	};
	struct text rows = { buf, VADDR };

	assert_non_null(code);
	memcpy(code, row->code, row->n);
	assert_int_equal(nocfi_flow_scratch_new(&scratch), 0);
	assert_int_equal(nocfi_flow_analyse(&text, scratch, &result), 0);
	assert_int_equal(result.is_trusted, row->rows[0] != '\0');
	assert_int_equal(nocfi_flow_rows(&text, scratch, &result, add_row, &rows), 0);
	buf = rows.buf;
	assert_string_equal(buf_str(&buf), row->rows[0] ? row->rows : "0 none");
	nocfi_flow_scratch_free(scratch);
	free(code);
}

/* Nothing is trusted when the budget is used up, and it is used up. */
static void keeps_to_its_budget(void **state)
{
	static const uint8_t loop[] = { 0x85, 0xff, 0x75, 0xfc, 0xc3 };
	uint64_t budget = 2;
	struct nocfi_flow_scratch *scratch = NULL;
	struct nocfi_flow_result result;
	struct flow_row none = { 0 };
	struct nocfi_text text = { .code = loop,
				   .n = sizeof(loop),
				   .vaddr = VADDR,
				   .is_sized = true,
				   .is_function = is_other_function,
				   .read = read_table,
				   .data = &none,
				   .budget = &budget };

	(void)state;
	assert_int_equal(nocfi_flow_scratch_new(&scratch), 0);
	assert_int_equal(nocfi_flow_analyse(&text, scratch, &result), 0);
	assert_false(result.is_trusted);
	assert_int_equal(budget, 0);
	budget = 1000;
	assert_int_equal(nocfi_flow_analyse(&text, scratch, &result), 0);
	assert_true(result.is_trusted);
	nocfi_flow_scratch_free(scratch);
}

struct plt_row {
	const char *name;
	uint16_t machine;
	uint32_t begin;
	const char *code;
	size_t n;
	const char *rows; /* NULL: none */
};

#define PLT(name, code, rows)                                         \
	{                                                             \
		name, EM_X86_64, 0x1000, code, sizeof(code) - 1, rows \
	}

#define PLT0 "\xff\x35\x02\x2f\x00\x00\xff\x25\x04\x2f\x00\x00\x0f\x1f\x40\x00"
#define PLT0_BND "\xff\x35\x02\x2f\x00\x00\xf2\xff\x25\x03\x2f\x00\x00\x0f\x1f\x00"
#define LAZY "\xff\x25\x02\x2f\x00\x00\x68\x00\x00\x00\x00\xe9\xe0\xff\xff\xff"
#define LAZY_IBT "\xf3\x0f\x1e\xfa\x68\x00\x00\x00\x00\xf2\xe9\xe1\xff\xff\xff\x90"
#define LAZY_BND "\x68\x00\x00\x00\x00\xf2\xe9\xe5\xff\xff\xff\x0f\x1f\x44\x00\x00"

static struct plt_row plt_rows[] = {
	PLT("lazy", PLT0 LAZY LAZY, "0 rsp+16, 6 rsp+24, 16 plt 11"),
	PLT("lazy with IBT", PLT0_BND LAZY_IBT LAZY_IBT, "0 rsp+16, 6 rsp+24, 16 plt 9"),
	PLT("lazy with BND", PLT0_BND LAZY_BND, "0 rsp+16, 6 rsp+24, 16 plt 5"),
	PLT("first entry alone", PLT0, "0 rsp+16, 6 rsp+24"),
	PLT("without a first entry", LAZY LAZY, "0 plt 11"),
	PLT(".plt.sec", "\xf3\x0f\x1e\xfa\xf2\xff\x25\x00\x00\x00\x00\x0f\x1f\x44\x00\x00",
	    "0 rsp+8"),
	PLT(".plt.got", "\xff\x25\x02\x2f\x00\x00\x66\x90", "0 rsp+8"),
	PLT("something else", "\x31\xc0\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90",
	    NULL),
	PLT("cut", "\xff\x25", NULL),
	{ "not aligned", EM_X86_64, 0x1004, PLT0 LAZY LAZY, 48,
	  "0 rsp+16, 6 rsp+24, 16 rsp+8, 27 rsp+16, 32 rsp+8, 43 rsp+16" },
	{ "AArch64", EM_AARCH64, 0x1000,
	  "\xf0\x7b\xbf\xa9\x90\x00\x00\x90\x11\xfe\x47\xf9\x10\xe2\x3f\x91\x20\x02\x1f\xd6"
	  "\x1f\x20\x03\xd5\x1f\x20\x03\xd5\x1f\x20\x03\xd5"
	  "\xb0\x00\x00\x90\x11\x02\x40\xf9\x10\x02\x00\x91\x20\x02\x1f\xd6",
	  48, "0 sp+0 ra r30, 4 sp+16, 32 sp+0 ra r30" },
	{ "AArch64 with BTI", EM_AARCH64, 0x1000,
	  "\x5f\x24\x03\xd5\xf0\x7b\xbf\xa9\x90\x00\x00\x90\x11\xfe\x47\xf9\x10\xe2\x3f\x91"
	  "\x20\x02\x1f\xd6\x1f\x20\x03\xd5\x1f\x20\x03\xd5",
	  32, "0 sp+0 ra r30, 8 sp+16" },
};

static void recognises_plt(void **state)
{
	const struct plt_row *row = *state;
	struct nocfi_plt plt;
	struct text rows = { BUF_INIT(4096), row->begin };
	bool found = nocfi_plt_recognise(row->machine, (const uint8_t *)row->code, row->n, &plt);

	assert_int_equal(found, row->rows != NULL);
	if (!found)
		return;
	plt.begin = row->begin;
	plt.end = row->begin + row->n;
	assert_int_equal(nocfi_plt_rows(&plt, add_row, &rows), 0);
	assert_string_equal(buf_str(&rows.buf), row->rows);
	buf_fini(&rows.buf);
}

static void knows_signal_stubs(void **state)
{
	static const uint8_t musl[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t other[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t write[] = { 0xb8, 0x01, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	struct unwind_rule rule;

	(void)state;
	assert_int_equal(nocfi_signal_bytes(EM_X86_64, musl, sizeof(musl)), 9);
	assert_int_equal(nocfi_signal_bytes(EM_X86_64, musl, sizeof(musl) - 1), 0);
	assert_int_equal(nocfi_signal_bytes(EM_X86_64, other, sizeof(other)), 7);
	assert_int_equal(nocfi_signal_bytes(EM_X86_64, write, sizeof(write)), 0);
	assert_int_equal(nocfi_signal_bytes(EM_AARCH64, arm64, sizeof(arm64)), 8);
	assert_int_equal(nocfi_signal_bytes(EM_AARCH64, musl, sizeof(musl)), 0);
	nocfi_signal_rule(EM_X86_64, &rule);
	assert_int_equal(rule.cfa, RULE_CFA_DEREF);
	assert_int_equal(rule.cfa_reg, RULE_X86_RSP);
	assert_int_equal(rule.cfa_off, 160);
	assert_int_equal(rule.fp, RULE_FP_DEREF);
	assert_int_equal(rule.fp_off, 120);
	assert_int_equal(rule.ra, RULE_RA_SIGNAL);
	nocfi_signal_rule(EM_AARCH64, &rule);
	assert_int_equal(rule.cfa_reg, RULE_ARM64_SP);
	assert_int_equal(rule.cfa_off, 560);
	assert_int_equal(rule.fp_off, 544);
}

static void cuts_ranges(void **state)
{
	struct nocfi_ranges r = { 0 };

	(void)state;
	assert_int_equal(nocfi_ranges_add(&r, 10, 20), 0);
	assert_int_equal(nocfi_ranges_add(&r, 30, 40), 0);
	assert_int_equal(nocfi_ranges_add(&r, 50, 50), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(nocfi_ranges_cut(&r, 15, 32), 0);
	assert_int_equal(nocfi_ranges_bytes(&r), 13);
	assert_int_equal(nocfi_ranges_cut(&r, 34, 36), 0);
	assert_int_equal(r.n, 3);
	assert_null(nocfi_ranges_at(&r, 9));
	assert_int_equal(nocfi_ranges_at(&r, 14)->begin, 10);
	assert_null(nocfi_ranges_at(&r, 15));
	assert_int_equal(nocfi_ranges_at(&r, 33)->begin, 32);
	assert_null(nocfi_ranges_at(&r, 35));
	assert_int_equal(nocfi_ranges_at(&r, 39)->begin, 36);
	assert_null(nocfi_ranges_at(&r, 40));
	for (size_t i = 0; i < NOCFI_GAPS_MAX + 10; i++)
		assert_int_equal(nocfi_ranges_add(&r, 100 + 2 * i, 101 + 2 * i), 0);
	assert_int_equal(r.n, NOCFI_GAPS_MAX);
	nocfi_ranges_fini(&r);
}

struct last_row {
	uint64_t vaddr;
	struct unwind_rule rule;
	struct unwind_source *source;
	uint64_t n;
};

static void same_rule(struct unwind_source *source, uint64_t vaddr, const struct unwind_rule *rule)
{
	struct unwind_rule at;

	memset(&at, 0xff, sizeof(at));
	if (source->rule_at(source, vaddr, &at) != 0 || memcmp(&at, rule, sizeof(at)) != 0)
		fail_msg("another rule for %llx alone", (unsigned long long)vaddr);
}

/* The rule holds at the row, and still at the byte before the next one. */
static int check_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct last_row *last = data;

	if (last->n++ > 0) {
		assert_true(vaddr > last->vaddr);
		same_rule(last->source, vaddr - 1, &last->rule);
	}
	same_rule(last->source, vaddr, rule);
	last->vaddr = vaddr;
	last->rule = *rule;
	return 0;
}

/* Returns the bytes that have a rule. `source` has given its spans before. */
static uint64_t check_spans(struct unwind_source *source, struct unwind_source *alone,
			    const struct unwind_spans *spans)
{
	struct unwind_source_stats stats = { 0 };
	uint64_t end = 0;
	uint64_t n = 0;

	for (size_t i = 0; i < spans->n; i++) {
		const struct unwind_span *span = &spans->items[i];
		struct last_row last = { .source = alone };

		assert_true(span->begin >= end);
		end = span->begin + span->n_bytes;
		assert_int_equal(source->rows(source, span, check_row, &last, &stats), 0);
		assert_true(last.n > 0);
		assert_true(last.vaddr < end);
		same_rule(alone, end - 1, &last.rule);
		n += span->n_bytes;
	}
	return n;
}

/* With room for little more than the spans, rows are found again. */
static void check_without_room(struct elf *elf, struct unwind_source *alone,
			       const struct unwind_spans *roomy, uint64_t n_bytes)
{
	struct unwind_spans spans = { .max_bytes = roomy->n * sizeof(*spans.items) };
	struct unwind_source_stats stats = { 0 };
	struct unwind_source *source = NULL;

	assert_int_equal(nocfi_unwind_new(elf, &source), 0);
	assert_int_equal(source->spans(source, &spans, &stats), 0);
	assert_int_equal(spans.n, roomy->n);
	assert_true(spans.held_bytes <= spans.max_bytes / 4);
	assert_true(spans.held_bytes < roomy->held_bytes || roomy->held_bytes == 0);
	assert_int_equal(check_spans(source, alone, &spans), n_bytes);
	unwind_spans_fini(&spans);
	source->free(source);
}

/* Spans and rows of a source agree with single look-ups of another one. The bytes that have
 * spans. */
static uint64_t check_object(struct elf *elf)
{
	struct unwind_source *source = NULL;
	struct unwind_source *alone = NULL;
	struct unwind_spans spans = { .max_bytes = (size_t)16 << 20 };
	struct unwind_source_stats stats = { 0 };
	struct unwind_rule rule;

	assert_int_equal(nocfi_unwind_new(elf, &source), 0);
	assert_int_equal(nocfi_unwind_new(elf, &alone), 0);
	assert_int_equal(source->spans(source, &spans, &stats), 0);
	uint64_t n = check_spans(source, alone, &spans);
	source->release(source);
	assert_int_equal(alone->rule_at(alone, 1, &rule), UNWIND_SOURCE_NONE);
	assert_int_equal(stats.n_overlaps, 0);
	assert_true(spans.held_bytes <= spans.max_bytes);
	check_without_room(elf, alone, &spans, n);
	unwind_spans_fini(&spans);
	source->free(source);
	alone->free(alone);
	return n;
}

static void rule_text(struct elf *elf, uint64_t vaddr, struct text *text)
{
	struct unwind_source *source = NULL;
	struct unwind_rule rule;

	text->base = vaddr;
	buf_reset(&text->buf);
	assert_int_equal(nocfi_unwind_new(elf, &source), 0);
	if (source->rule_at(source, vaddr, &rule) == 0)
		assert_int_equal(add_row(vaddr, &rule, text), 0);
	else
		(void)buf_append_str(&text->buf, "-");
	source->free(source);
}

static const char source_text[] =
	".text\n.globl _start\n"
	"_start: xor %ebp, %ebp\n mov %rsp, %rdi\n call main\n hlt\n .balign 16\n"
	".globl main\n.type main, @function\n"
	"main: push %rbx\n call hidden\n pop %rbx\n ret\n.size main, . - main\n .balign 16\n"
	"hidden: sub $24, %rsp\n nop\n add $24, %rsp\n ret\n .balign 16\n"
	/* Entered by a register, and left by no return. */
	"by_lea: push %rbx\n call *%rdi\n call hidden\n .balign 16\n"
	"by_mov: push %rbx\n call *%rdi\n call hidden\n .balign 16\n"
	"by_movq: push %rbx\n call *%rdi\n call hidden\n .balign 16\n"
	"by_store: push %rbx\n call *%rdi\n call hidden\n .balign 16\n"
	"by_nobody: push %rbx\n call *%rdi\n call hidden\n .balign 16\n"
	"taker: lea by_lea(%rip), %rax\n mov $by_mov, %esi\n movq $by_movq, %rdi\n"
	"movq $by_store, 8(%rdx)\n jmp *%rax\n .balign 16\n"
	".type main.cold, @function\n"
	"main.cold: nop\n nop\n jmp main + 1\n.size main.cold, . - main.cold\n .balign 16\n"
	" nop\n.globl restore\nrestore: mov $15, %rax\n syscall\n .balign 16\n"
	".globl covered\ncovered: .cfi_startproc\n push %rax\n .cfi_def_cfa_offset 16\n pop %rax\n"
	" .cfi_def_cfa_offset 8\n ret\n .cfi_endproc\n";

#define BUILD "gcc -nostdlib -static -Wl,--build-id=none -Wl,--eh-frame-hdr -o p p.s"

struct place_row {
	const char *symbol;
	int at;
	const char *rule;
};

static struct place_row place_rows[] = {
	{ "_start", 0, "0 root" },   { "_start", 5, "0 root" },	   { "main", 0, "0 rsp+8" },
	{ "main", 1, "0 rsp+16" },   { "hidden", 0, "0 rsp+8" },   { "hidden", 4, "0 rsp+32" },
	{ "main.cold", 0, "-" },     { "covered", 0, "-" },	   { "by_lea", 1, "0 rsp+16" },
	{ "by_mov", 1, "0 rsp+16" }, { "by_movq", 1, "0 rsp+16" }, { "by_store", 1, "0 rsp+16" },
	{ "by_nobody", 1, "-" },
};

static uint64_t address_of(const struct fixture_dir *dir, const char *symbol)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "nm p | awk '$3 == \"%s\" { print $1 }'", symbol);
	return fixture_hex(dir, command);
}

static void built_program(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];
	struct text text = { BUF_INIT(4096), 0 };
	struct unwind_source *source = NULL;
	struct unwind_rule rule;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.s", source_text));
	if (!fixture_run(&dir, BUILD)) {
		print_message("no gcc for x86-64\n");
		fixture_dir_fini(&dir);
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "p", path), &file), 0);
	for (size_t i = 0; i < ARRAY_SIZE(place_rows); i++) {
		uint64_t vaddr = address_of(&dir, place_rows[i].symbol);

		assert_int_not_equal(vaddr, 0);
		rule_text(file.elf, vaddr + (uint64_t)place_rows[i].at, &text);
		if (strcmp(buf_str(&text.buf), place_rows[i].rule) != 0)
			print_message("%s+%d\n", place_rows[i].symbol, place_rows[i].at);
		assert_string_equal(buf_str(&text.buf), place_rows[i].rule);
	}
	/* The handler's return address is the stub's begin: it is looked up a byte before. */
	uint64_t restore = address_of(&dir, "restore");
	assert_int_equal(nocfi_unwind_new(file.elf, &source), 0);
	assert_int_equal(source->rule_at(source, restore - 1, &rule), 0);
	assert_int_equal(rule.ra, RULE_RA_SIGNAL);
	assert_int_equal(source->rule_at(source, restore + 8, &rule), 0);
	assert_int_equal(rule.ra, RULE_RA_SIGNAL);
	source->free(source);
	assert_true(check_object(file.elf) > 30);
	buf_fini(&text.buf);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

/* Lazily bound, with and without section headers: the same rules. */
static void plt_without_sections(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];
	struct text text = { BUF_INIT(4096), 0 };

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.c",
				  "int puts(const char *); int f(void) { return puts(\"\"); }"));
	if (!fixture_run(
		    &dir,
		    "gcc -shared -fPIC -fcf-protection=none -Wl,-z,lazy "
		    "-fno-asynchronous-unwind-tables -Wl,--no-ld-generated-unwind-info -o p p.c && "
		    "objcopy --version && readelf -SW p > sections")) {
		print_message("no gcc, or no binutils\n");
		fixture_dir_fini(&dir);
		skip();
	}
	uint64_t plt = fixture_hex(
		&dir,
		"awk '{ for (i = 1; i < NF; i++) if ($i == \".plt\") print $(i + 2) }' sections");
	assert_int_not_equal(plt, 0);
	for (int stripped = 0; stripped < 2; stripped++) {
		/* e_shoff, e_shnum and e_shstrndx become 0. */
		if (stripped)
			assert_true(fixture_run(
				&dir, "dd if=/dev/zero of=p bs=1 seek=40 count=8 conv=notrunc && "
				      "dd if=/dev/zero of=p bs=1 seek=60 count=4 conv=notrunc"));
		assert_int_equal(fixture_elf_open(fixture_path(&dir, "p", path), &file), 0);
		rule_text(file.elf, plt, &text);
		assert_string_equal(buf_str(&text.buf), "0 rsp+16");
		rule_text(file.elf, plt + 6, &text);
		assert_string_equal(buf_str(&text.buf), "0 rsp+24");
		rule_text(file.elf, plt + 16, &text);
		assert_string_equal(buf_str(&text.buf), "0 plt 11");
		fixture_elf_close(&file);
	}
	buf_fini(&text.buf);
	fixture_dir_fini(&dir);
}

/* Two headers and the code behind them, of AArch64. */
static void arm64_program(void **state)
{
	/* mov x29, #0; mov x30, #0; mov x0, sp; bl; udf; mov x8, #139; svc #0; ret */
	static const uint32_t code[] = { 0xd280001d, 0xd280001e, 0x910003e0, 0x94000004,
					 0x00000000, 0xd2801168, 0xd4000001, 0xd65f03c0 };
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr p;
		uint32_t code[ARRAY_SIZE(code)];
	} file = { 0 };
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct unwind_source *source = NULL;
	struct unwind_rule rule;
	uint64_t begin = 0x400000 + offsetof(__typeof__(file), code);

	(void)state;
	memcpy(file.e.e_ident, ELFMAG "\2\1\1", 7);
	file.e.e_machine = EM_AARCH64;
	file.e.e_type = ET_EXEC;
	file.e.e_entry = begin;
	file.e.e_phoff = offsetof(__typeof__(file), p);
	file.e.e_phentsize = sizeof(file.p);
	file.e.e_phnum = 1;
	file.p = (Elf64_Phdr){ .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_vaddr = 0x400000,
			       .p_filesz = sizeof(file),
			       .p_memsz = sizeof(file) };
	memcpy(file.code, code, sizeof(code));
	assert_int_equal(elf_new(bytes_from_memory(&file, sizeof(file)), &elf), 0);
	assert_int_equal(nocfi_unwind_new(elf, &source), 0);
	for (uint64_t at = 0; at < 16; at += 4) {
		assert_int_equal(source->rule_at(source, begin + at, &rule), 0);
		assert_int_equal(rule.ra, RULE_RA_UNDEFINED);
		assert_int_equal(rule.cfa_reg, RULE_ARM64_SP);
	}
	assert_int_equal(source->rule_at(source, begin + 16, &rule), UNWIND_SOURCE_NONE);
	assert_int_equal(source->rule_at(source, begin + 19, &rule), 0);
	assert_int_equal(rule.ra, RULE_RA_SIGNAL);
	assert_int_equal(source->rule_at(source, begin + 28, &rule), UNWIND_SOURCE_NONE);
	source->free(source);
	assert_int_equal(check_object(elf), 16 + 9);
}

/* musl's libc has no call frame information: nine tenths of its text have rules all the same. */
static void musl(void **state)
{
	struct fixture_elf file;
	uint64_t begin, end;

	(void)state;
	if (fixture_elf_open("/lib/ld-musl-x86_64.so.1", &file) != 0) {
		print_message("no musl\n");
		skip();
	}
	uint64_t n = check_object(file.elf);
	assert_true(elf_text_range(file.elf, &begin, &end));
	assert_true(n * 100 > (end - begin) * 90);
	fixture_elf_close(&file);
}

/* Every address that __libc_start_main takes is a function's that begins programs: it has rules, and its caller is on the stack. */
static void musl_start(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	struct unwind_source *source = NULL;
	struct unwind_rule rule;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	uint64_t start = fixture_hex(
		&dir, "objdump -d --no-show-raw-insn /lib/ld-musl-x86_64.so.1 | awk "
		      "'/<__libc_start_main>:/ { on = 1 } on && /lea .*rip/ { sub(/.*# /, "
		      "\"\"); print $1; exit }'");
	if (start == 0 || fixture_elf_open("/lib/ld-musl-x86_64.so.1", &file) != 0) {
		print_message("no musl, or it starts otherwise, or no objdump\n");
		fixture_dir_fini(&dir);
		skip();
	}
	assert_int_equal(nocfi_unwind_new(file.elf, &source), 0);
	assert_int_equal(source->rule_at(source, start, &rule), 0);
	assert_int_equal(rule.cfa, RULE_CFA_REG);
	assert_int_equal(rule.cfa_off, 8);
	assert_int_equal(rule.ra_off, -8);
	source->free(source);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static void vdso_is_covered(void **state)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct nocfi_ranges gaps = { 0 };
	struct bytes bytes;
	uint64_t begin, end;

	(void)state;
	if (vdso_image(&bytes) != 0) {
		print_message("no vDSO\n");
		skip();
	}
	assert_int_equal(elf_new(bytes, &elf), 0);
	if (elf_machine(elf) != EM_X86_64) {
		print_message("another machine's vDSO\n");
		skip();
	}
	assert_int_equal(elf_load_sections(elf), 0);
	assert_int_equal(nocfi_gaps_find(elf, &gaps), 0);
	assert_true(elf_text_range(elf, &begin, &end));
	/* What is left is padding and alternatives. */
	assert_true(nocfi_ranges_bytes(&gaps) * 2 < end - begin);
	nocfi_ranges_fini(&gaps);
}

static const struct unit_test tests[] = {
	TEST_ROWS(reads_frames, flow_rows, name),
	TEST_ROWS(recognises_plt, plt_rows, name),
	TEST(keeps_to_its_budget),
	TEST(knows_signal_stubs),
	TEST(cuts_ranges),
	TEST(built_program),
	TEST(plt_without_sections),
	TEST(arm64_program),
	TEST(musl),
	TEST(musl_start),
	TEST(vdso_is_covered),
};

TEST_MAIN(tests)
