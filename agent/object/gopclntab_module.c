/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the text of a Go program begins, by the runtime's moduledata.
 *
 * Its first word points to the header of the function table; behind six slices and a pointer follow the lowest and the end of the
 * highest function, then the text (struct moduledata of src/runtime/symtab.go, the same from 1.16 on). From 1.26 on it is a section of
 * its own, before that a variable among others. In position independent programs its words are relocated; some linkers leave the value
 * in the word as well, others leave 0 there and have it in DT_RELA only.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/gopclntab_internal.h"
#include "agent/util/macro.h"

#define MODULE_MIN_PC 160
#define MODULE_MAX_PC 168
#define MODULE_TEXT 176
#define SEARCH_STEP_BYTES 65536
/* Words with the table's address that begin no moduledata, before the search ends; each may cost looking through the relocations. A Go
 * program has one more at most (the symbol of the table). */
#define MAX_CANDIDATES 16

/* R_*_RELATIVE relocations, file range; n 0: there are none. */
struct relocations {
	uint64_t file_off;
	uint64_t n;
	uint32_t relative;
	uint32_t n_candidates; /* so far */
};

/* Stops at the first for which `match` holds. 0, GOPCLNTAB_NONE, -errno. */
static int find_relocation(struct gopclntab *table, const struct relocations *relocations,
			   bool (*match)(const Elf64_Rela *rela, uint64_t wanted), uint64_t wanted,
			   Elf64_Rela *ret_rela)
{
	Elf64_Rela step[256];

	for (uint64_t i = 0; i < relocations->n; i += ARRAY_SIZE(step)) {
		size_t n = (size_t)MIN_OF(relocations->n - i, (uint64_t)ARRAY_SIZE(step));
		int r = bytes_read(elf_bytes(table->elf), relocations->file_off + i * sizeof(*step),
				   step, n * sizeof(*step));

		if (r < 0)
			return r == -ENODATA ? GOPCLNTAB_NONE : r;
		for (size_t k = 0; k < n; k++) {
			if (ELF64_R_TYPE(step[k].r_info) == relocations->relative &&
			    match(&step[k], wanted)) {
				*ret_rela = step[k];
				return 0;
			}
		}
	}
	return GOPCLNTAB_NONE;
}

static bool is_at(const Elf64_Rela *rela, uint64_t vaddr)
{
	return rela->r_offset == vaddr;
}

static bool is_value(const Elf64_Rela *rela, uint64_t value)
{
	return (uint64_t)rela->r_addend == value;
}

static void find_relocations(const struct elf *elf, struct relocations *ret_relocations)
{
	uint64_t vaddr, n_bytes, file_off;

	*ret_relocations = (struct relocations){
		.relative = elf_machine(elf) == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE,
	};
	if (!elf_dynamic(elf, DT_RELA, &vaddr) || !elf_dynamic(elf, DT_RELASZ, &n_bytes) ||
	    !elf_file_off(elf, vaddr, &file_off))
		return;
	ret_relocations->file_off = file_off;
	ret_relocations->n = MIN_OF(n_bytes, GOPCLNTAB_MAX_RELOCATION_BYTES) / sizeof(Elf64_Rela);
}

/* The word at an address, relocated. */
static int read_word(struct gopclntab *table, const struct relocations *relocations, uint64_t vaddr,
		     uint64_t *ret_word)
{
	Elf64_Rela rela;
	uint64_t file_off, word;

	if (!elf_file_off(table->elf, vaddr, &file_off))
		return GOPCLNTAB_NONE;
	int r = bytes_read(elf_bytes(table->elf), file_off, &word, sizeof(word));
	if (r < 0)
		return r == -ENODATA ? GOPCLNTAB_NONE : r;
	if (word == 0) {
		r = find_relocation(table, relocations, is_at, vaddr, &rela);
		if (r != 0)
			return r;
		word = (uint64_t)rela.r_addend;
	}
	*ret_word = word;
	return 0;
}

/* Whether a moduledata is at `vaddr`, by what it says of the functions. */
static int module_at(struct gopclntab *table, const struct relocations *relocations, uint64_t vaddr,
		     uint64_t *ret_text)
{
	uint64_t header, min_pc, max_pc, text, first, last, record;
	int r = gopclntab_entry(table, 0, &first, &record);

	if (r == 0)
		r = gopclntab_entry(table, table->n_funcs, &last, &record);
	if (r == 0)
		r = read_word(table, relocations, vaddr, &header);
	if (r == 0)
		r = read_word(table, relocations, vaddr + MODULE_MIN_PC, &min_pc);
	if (r == 0)
		r = read_word(table, relocations, vaddr + MODULE_MAX_PC, &max_pc);
	if (r == 0)
		r = read_word(table, relocations, vaddr + MODULE_TEXT, &text);
	if (r != 0)
		return r;
	if (header != table->vaddr || min_pc != text + first || max_pc != text + last)
		return GOPCLNTAB_NONE;
	*ret_text = text;
	return 0;
}

/* Whether one of the words of a step of the file begins it. */
static int search_step(struct gopclntab *table, struct relocations *relocations, uint64_t vaddr,
		       const unsigned char *bytes, size_t n, uint64_t *ret_text)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		if (word != table->vaddr || relocations->n_candidates++ >= MAX_CANDIDATES)
			continue;
		int r = module_at(table, relocations, vaddr + i, ret_text);
		if (r != GOPCLNTAB_NONE)
			return r;
	}
	return GOPCLNTAB_NONE;
}

static int search_segment(struct gopclntab *table, struct relocations *relocations,
			  const struct elf_segment *segment, unsigned char *step,
			  uint64_t *ret_text)
{
	uint64_t skip = -segment->vaddr & 7;

	for (uint64_t at = skip; at < segment->file_bytes; at += SEARCH_STEP_BYTES) {
		size_t n = (size_t)MIN_OF(segment->file_bytes - at, (uint64_t)SEARCH_STEP_BYTES);
		ssize_t got = at > GOPCLNTAB_MAX_SEARCH_BYTES
				      ? 0
				      : bytes_read_some(elf_bytes(table->elf),
							segment->file_off + at, step, n);

		if (got <= 0)
			return got < 0 ? (int)got : GOPCLNTAB_NONE;
		int r = search_step(table, relocations, segment->vaddr + at, step, (size_t)got,
				    ret_text);
		if (r != GOPCLNTAB_NONE)
			return r;
	}
	return GOPCLNTAB_NONE;
}

/* It is a variable, so it lies in writable segments only. */
static int search(struct gopclntab *table, struct relocations *relocations, uint64_t *ret_text)
{
	_cleanup_free_ unsigned char *step = malloc(SEARCH_STEP_BYTES);

	if (!step)
		return -ENOMEM;
	for (size_t i = 0; i < elf_n_segments(table->elf); i++) {
		const struct elf_segment *segment = elf_segment(table->elf, i);

		if (segment->type != PT_LOAD || !(segment->flags & PF_W) ||
		    segment->file_off > UINT64_MAX - segment->file_bytes)
			continue;
		int r = search_segment(table, relocations, segment, step, ret_text);
		if (r != GOPCLNTAB_NONE)
			return r;
	}
	return GOPCLNTAB_NONE;
}

int gopclntab_module_text(struct gopclntab *table, uint64_t *ret_text)
{
	const struct elf_section *section = elf_section_by_name(table->elf, ".go.module");
	struct relocations relocations;
	Elf64_Rela rela;
	int r = GOPCLNTAB_NONE;

	find_relocations(table->elf, &relocations);
	if (section)
		r = module_at(table, &relocations, section->vaddr, ret_text);
	if (r == GOPCLNTAB_NONE)
		r = search(table, &relocations, ret_text);
	if (r != GOPCLNTAB_NONE)
		return r;
	r = find_relocation(table, &relocations, is_value, table->vaddr, &rela);
	return r != 0 ? r : module_at(table, &relocations, rela.r_offset, ret_text);
}
