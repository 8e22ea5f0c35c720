/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a coroutine. */
#include "agent/object/rules/context_unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/object/nocfi/nocfi_insn.h"
#include "agent/object/nocfi/nocfi_step.h"
#include "agent/util/macro.h"

/* glibc's makecontext has 656 bytes. */
#define MAX_MAKER_BYTES 4096
/* glibc's has 26; with the code for shadow stacks some 60. */
#define MAX_END_BYTES 128
#define MAX_INSNS 32

struct context_unwind {
	struct unwind_source source;
	uint64_t begin;
	uint32_t n_bytes;
};

static struct context_unwind *from_source(struct unwind_source *source)
{
	return CONTAINER_OF(source, struct context_unwind, source);
}

static bool is_op(const struct nocfi_insn *i, uint8_t opcode, uint8_t modrm)
{
	return i->map == NOCFI_INSN_MAP_1 && (i->rex & 8) && i->opcode == opcode &&
	       i->modrm == modrm;
}

/* endbr64 */
static bool is_landing(const struct nocfi_insn *i)
{
	return i->map == NOCFI_INSN_MAP_0F && i->opcode == 0x1e && i->has_rep && i->modrm == 0xfa;
}

static size_t next(const uint8_t *code, size_t n, size_t at, struct nocfi_insn *ret_insn)
{
	return at < n && nocfi_insn_decode(code + at, n - at, ret_insn) ? at + ret_insn->n_bytes
									: n;
}

bool context_unwind_is_end(const uint8_t *code, size_t n)
{
	struct nocfi_insn i = { 0 };
	size_t at = next(code, n, 0, &i);

	if (is_landing(&i))
		at = next(code, n, at, &i);
	/* mov %rbx, %rsp, encoded either way */
	if (at >= n || !(is_op(&i, 0x89, 0xdc) || is_op(&i, 0x8b, 0xe3)))
		return false;
	for (unsigned int k = 0; k < MAX_INSNS; k++) {
		at = next(code, n, at, &i);
		if (at >= n || nocfi_step_flow(&i) >= NOCFI_FLOW_JUMP)
			return false;
		/* test %rdi, %rdi */
		if (is_op(&i, 0x85, 0xff))
			break;
	}
	at = next(code, n, at, &i);
	return at < n && nocfi_step_flow(&i) == NOCFI_FLOW_BRANCH;
}

/* Up to HLT, which stands behind exit(); else it is known of the first byte only, which is returned to. */
static uint32_t end_bytes(const uint8_t *code, size_t n)
{
	struct nocfi_insn i;

	for (size_t at = 0; at < n && nocfi_insn_decode(code + at, n - at, &i); at += i.n_bytes)
		if (nocfi_step_flow(&i) == NOCFI_FLOW_END)
			return (uint32_t)at + i.n_bytes;
	return 1;
}

/* Bytes of text from vaddr on. */
static uint64_t text_bytes(const struct elf *elf, uint64_t vaddr)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type == PT_LOAD && (s->flags & PF_X) && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->file_bytes)
			return s->file_bytes - (vaddr - s->vaddr);
	}
	return 0;
}

static bool check_end(const struct elf *elf, uint64_t vaddr, struct context_unwind *c)
{
	uint8_t code[MAX_END_BYTES];
	uint64_t left = text_bytes(elf, vaddr);
	uint64_t file_off;

	if (left == 0 || !elf_file_off(elf, vaddr, &file_off))
		return false;
	ssize_t n = bytes_read_some(elf_bytes(elf), file_off, code,
				    (size_t)MIN_OF(left, (uint64_t)sizeof(code)));
	if (n <= 0 || !context_unwind_is_end(code, (size_t)n))
		return false;
	c->begin = vaddr;
	c->n_bytes = end_bytes(code, (size_t)n);
	return true;
}

/* lea …(%rip), %reg; movq $…, memory or register; mov $…, %reg */
static bool takes_address(const struct nocfi_insn *i, uint64_t behind, uint64_t *ret_vaddr)
{
	if (i->map != NOCFI_INSN_MAP_1)
		return false;
	bool is_lea = i->opcode == 0x8d && nocfi_insn_base(i) == NOCFI_INSN_RIP;
	*ret_vaddr = is_lea ? behind + (uint64_t)(int64_t)i->disp : (uint64_t)i->imm;
	return is_lea || i->opcode == 0xc7 || (i->opcode & 0xf8) == 0xb8;
}

static bool find_end(const struct elf *elf, const struct symbol *maker, struct context_unwind *c)
{
	uint8_t code[MAX_MAKER_BYTES];
	struct nocfi_insn i;
	uint64_t file_off, vaddr;

	if (text_bytes(elf, maker->value) == 0 || !elf_file_off(elf, maker->value, &file_off))
		return false;
	ssize_t n = bytes_read_some(elf_bytes(elf), file_off, code,
				    (size_t)MIN_OF(maker->size_bytes, (uint64_t)sizeof(code)));
	for (size_t at = 0; n > 0 && at < (size_t)n; at += i.n_bytes) {
		if (!nocfi_insn_decode(code + at, (size_t)n - at, &i))
			return false;
		if (takes_address(&i, maker->value + at + i.n_bytes, &vaddr) &&
		    check_end(elf, vaddr, c))
			return true;
	}
	return false;
}

static const struct unwind_rule root = { .cfa = RULE_CFA_REG,
					 .cfa_reg = RULE_X86_RSP,
					 .ra = RULE_RA_UNDEFINED };

static int spans(struct unwind_source *source, struct unwind_spans *ret_spans,
		 struct unwind_source_stats *stats)
{
	const struct context_unwind *c = from_source(source);
	struct unwind_span span = { .begin = c->begin, .n_bytes = c->n_bytes };

	stats->n_spans++;
	return unwind_spans_add(ret_spans, &span);
}

static int rows(struct unwind_source *source, const struct unwind_span *span, unwind_row_fn fn,
		void *data, struct unwind_source_stats *stats)
{
	(void)source;
	(void)stats;
	return MIN_OF(fn(span->begin, &root, data), 0);
}

static int rule_at(struct unwind_source *source, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	const struct context_unwind *c = from_source(source);

	if (vaddr < c->begin || vaddr - c->begin >= c->n_bytes)
		return UNWIND_SOURCE_NONE;
	*ret_rule = root;
	return 0;
}

static void release(struct unwind_source *source)
{
	(void)source;
}

static void free_source(struct unwind_source *source)
{
	if (source)
		free(from_source(source));
}

int context_unwind_new(struct elf *elf, struct unwind_source **ret_source)
{
	struct context_unwind found = {
		.source = { "context", spans, rows, rule_at, release, free_source },
	};
	struct symbol maker;

	if (elf_machine(elf) != EM_X86_64 || !elf_is_64(elf))
		return UNWIND_SOURCE_NONE;
	/* Without sections there are still segments. */
	int r = elf_load_sections(elf);
	if (r < 0)
		return r;
	if (!symbol_by_name(elf, "makecontext", &maker) || !find_end(elf, &maker, &found))
		return UNWIND_SOURCE_NONE;
	struct context_unwind *c = malloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = found;
	*ret_source = &c->source;
	return 0;
}
