/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Procedure linkage tables.
 *
 *	x86-64, lazy:	first: push GOT+8; jmp *GOT+16	others: jmp *slot; push index; jmp first
 *	with IBT:	first: the same, bnd jmp	others: endbr64; push index; bnd jmp first
 *	.plt.sec, .plt.got, with -z now:		(endbr64;) (bnd) jmp *slot
 *	AArch64:	first: (bti c;) stp x16, x30, [sp, −16]!	others: no stack
 */
#include "agent/object/nocfi/nocfi_plt.h"

#include <elf.h>
#include <string.h>

#include "agent/object/nocfi/nocfi_insn.h"
#include "agent/util/macro.h"

#define X86_ENTRY_BYTES 16
#define ARM64_FIRST_BYTES 32
#define ARM64_STP_X16_X30 0xa9bf7bf0u
#define ARM64_BTI_C 0xd503245fu
#define ARM64_ADRP_MASK 0x9f00001fu
#define ARM64_ADRP_X16 0x90000010u
/* Names longer than this are not looked at one by one; the largest known .plt has 300 KB. */
#define MAX_PLT_BYTES ((uint64_t)16 << 20)

static uint32_t word_at(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

static bool is_push(const struct nocfi_insn *i)
{
	return i->map == NOCFI_INSN_MAP_1 &&
	       (i->opcode == 0x68 || (i->opcode == 0xff && (i->modrm >> 3 & 7) == 6));
}

static bool is_jump(const struct nocfi_insn *i)
{
	return i->map == NOCFI_INSN_MAP_1 &&
	       (i->opcode == 0xe9 || (i->opcode == 0xff && (i->modrm >> 3 & 7) == 4));
}

static bool is_memory_jump(const struct nocfi_insn *i)
{
	return is_jump(i) && i->has_memory && nocfi_insn_base(i) == NOCFI_INSN_RIP;
}

/* An entry of x86-64: where its push ends (0: it does not push). False when it is none. */
static bool x86_entry(const uint8_t *code, size_t n, uint8_t *ret_push)
{
	struct nocfi_insn i;
	uint8_t push = 0;
	bool jumps = false;

	for (size_t at = 0; at < X86_ENTRY_BYTES && at < n; at += i.n_bytes) {
		if (!nocfi_insn_decode(code + at, n - at, &i))
			return false;
		if (is_push(&i) && push == 0)
			push = (uint8_t)(at + i.n_bytes);
		jumps |= is_jump(&i);
		/* With a push, control comes back to it after the jump. */
		if (is_memory_jump(&i) && n - at > i.n_bytes && code[at + i.n_bytes] != 0x68)
			break;
		if (i.opcode == 0xe9 && i.map == NOCFI_INSN_MAP_1)
			break;
	}
	*ret_push = push;
	return jumps;
}

/* FF 35: push GOT+8(%rip). */
static bool x86_first(const uint8_t *code, size_t n)
{
	struct nocfi_insn i;

	return n >= X86_ENTRY_BYTES && code[0] == 0xff && code[1] == 0x35 &&
	       nocfi_insn_decode(code + 6, n - 6, &i) && is_memory_jump(&i);
}

/* .plt.got and .plt of -z now have entries of 8 bytes: FF 25 rel32, 66 90. */
static bool is_short(const uint8_t *code, size_t n)
{
	return n >= 8 && code[0] == 0xff && code[1] == 0x25 && code[6] == 0x66 && code[7] == 0x90;
}

static bool recognise_x86(const uint8_t *code, size_t n, struct nocfi_plt *plt)
{
	if (x86_first(code, n)) {
		plt->first_bytes = X86_ENTRY_BYTES;
		plt->first_push = 6;
		code += X86_ENTRY_BYTES;
		n -= X86_ENTRY_BYTES;
	}
	plt->entry_bytes = is_short(code, n) ? 8 : X86_ENTRY_BYTES;
	if (n == 0)
		return plt->first_bytes > 0;
	return plt->entry_bytes == 8 || x86_entry(code, n, &plt->entry_push);
}

static bool recognise_arm64(const uint8_t *code, size_t n, struct nocfi_plt *plt)
{
	size_t at = n >= 8 && word_at(code) == ARM64_BTI_C ? 4 : 0;

	plt->entry_bytes = 16;
	if (n >= ARM64_FIRST_BYTES && word_at(code + at) == ARM64_STP_X16_X30) {
		plt->first_bytes = ARM64_FIRST_BYTES;
		plt->first_push = (uint8_t)(at + 4);
		return true;
	}
	return n >= at + 4 && (word_at(code + at) & ARM64_ADRP_MASK) == ARM64_ADRP_X16;
}

bool nocfi_plt_recognise(uint16_t machine, const uint8_t *code, size_t n, struct nocfi_plt *ret_plt)
{
	struct nocfi_plt plt = { .machine = machine };
	bool ok = machine == EM_X86_64	  ? recognise_x86(code, n, &plt)
		  : machine == EM_AARCH64 ? recognise_arm64(code, n, &plt)
					  : false;

	if (ok)
		*ret_plt = plt;
	return ok;
}

static bool add(struct elf *elf, uint64_t begin, uint64_t n_bytes, struct nocfi_plt *ret_plt)
{
	uint8_t code[3 * X86_ENTRY_BYTES];
	uint64_t file_off;
	size_t n = (size_t)MIN_OF(n_bytes, (uint64_t)sizeof(code));

	if (n_bytes == 0 || n_bytes > MAX_PLT_BYTES || begin + n_bytes < begin ||
	    !elf_file_off(elf, begin, &file_off) ||
	    bytes_read(elf_bytes(elf), file_off, code, n) < 0 ||
	    !nocfi_plt_recognise(elf_machine(elf), code, n, ret_plt))
		return false;
	ret_plt->begin = begin;
	ret_plt->end = begin + n_bytes;
	return true;
}

static bool is_plt_name(const char *name)
{
	return strcmp(name, ".iplt") == 0 ||
	       (strncmp(name, ".plt", 4) == 0 && (name[4] == '\0' || name[4] == '.'));
}

/* Before it is relocated, the slot of a lazily bound function holds the address of its entry's push
 * (the entry itself with IBT); the table is in front of it. */
static size_t find_dynamic(struct elf *elf, struct nocfi_plt *ret_plt)
{
	uint64_t relocations, n_bytes, slot, target, file_off;

	if (elf_machine(elf) != EM_X86_64 || !elf_dynamic(elf, DT_JMPREL, &relocations) ||
	    !elf_dynamic(elf, DT_PLTRELSZ, &n_bytes) ||
	    !elf_file_off(elf, relocations, &file_off) ||
	    bytes_read(elf_bytes(elf), file_off, &slot, sizeof(slot)) < 0 ||
	    !elf_file_off(elf, slot, &file_off) ||
	    bytes_read(elf_bytes(elf), file_off, &target, sizeof(target)) < 0 ||
	    target < 2 * X86_ENTRY_BYTES || n_bytes > MAX_PLT_BYTES)
		return 0;
	uint64_t begin = (target & ~(uint64_t)(X86_ENTRY_BYTES - 1)) - X86_ENTRY_BYTES;
	uint64_t n = (n_bytes / sizeof(Elf64_Rela) + 1) * X86_ENTRY_BYTES;
	return add(elf, begin, n, ret_plt) && ret_plt->first_bytes > 0 ? 1 : 0;
}

size_t nocfi_plt_find(struct elf *elf, struct nocfi_plt ret_plts[NOCFI_PLT_MAX])
{
	size_t n = 0;

	if (elf_n_sections(elf) == 0)
		return find_dynamic(elf, ret_plts);
	for (size_t i = 0; i < elf_n_sections(elf) && n < NOCFI_PLT_MAX; i++) {
		const struct elf_section *s = elf_section(elf, i);

		if (s->type == SHT_PROGBITS && (s->flags & SHF_EXECINSTR) &&
		    is_plt_name(elf_section_name(elf, s)) &&
		    add(elf, s->vaddr, s->size_bytes, &ret_plts[n]))
			n++;
	}
	return n;
}

static struct unwind_rule x86_rule(int32_t cfa_off)
{
	return (struct unwind_rule){
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_X86_RSP, .cfa_off = cfa_off, .ra_off = -8
	};
}

static int x86_rows(const struct nocfi_plt *p, unwind_row_fn fn, void *data)
{
	struct unwind_rule entry = x86_rule(8);
	uint64_t at = p->begin;
	int r = 0;

	if (p->first_bytes) {
		struct unwind_rule before = x86_rule(16);
		struct unwind_rule after = x86_rule(24);

		r = fn(at, &before, data);
		if (r >= 0)
			r = fn(at + p->first_push, &after, data);
		at += p->first_bytes;
	}
	if (r < 0 || at >= p->end)
		return MIN_OF(r, 0);
	if (!p->entry_push || at % X86_ENTRY_BYTES == 0) {
		if (p->entry_push) {
			entry = x86_rule(p->entry_push);
			entry.cfa = RULE_CFA_PLT;
			entry.cfa_reg = 0;
		}
		return MIN_OF(fn(at, &entry, data), 0);
	}
	/* RULE_CFA_PLT goes by the low bits of the address: other tables have rows. */
	struct unwind_rule pushed = x86_rule(16);
	for (; at < p->end && r >= 0; at += p->entry_bytes) {
		r = fn(at, &entry, data);
		if (r >= 0 && at + p->entry_push < p->end)
			r = fn(at + p->entry_push, &pushed, data);
	}
	return MIN_OF(r, 0);
}

static int arm64_rows(const struct nocfi_plt *p, unwind_row_fn fn, void *data)
{
	struct unwind_rule entry = { .cfa = RULE_CFA_REG,
				     .cfa_reg = RULE_ARM64_SP,
				     .ra = RULE_RA_REG,
				     .ra_reg = RULE_ARM64_LR };
	struct unwind_rule pushed = {
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_ARM64_SP, .cfa_off = 16, .ra_off = -8
	};
	int r = fn(p->begin, &entry, data);

	if (r < 0 || !p->first_bytes)
		return MIN_OF(r, 0);
	r = fn(p->begin + p->first_push, &pushed, data);
	if (r >= 0 && p->begin + p->first_bytes < p->end)
		r = fn(p->begin + p->first_bytes, &entry, data);
	return MIN_OF(r, 0);
}

int nocfi_plt_rows(const struct nocfi_plt *plt, unwind_row_fn fn, void *data)
{
	return plt->machine == EM_X86_64 ? x86_rows(plt, fn, data) : arm64_rows(plt, fn, data);
}
