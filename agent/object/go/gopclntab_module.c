/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the text of a Go program begins, by the runtime's moduledata.
 *
 * Its first word points to the header of the function table; behind six slices and a pointer follow the lowest and the end of the
 * highest function, then the text (struct moduledata of src/runtime/symtab.go, the same from 1.16 on), and further down, from 1.18 on,
 * where the other data of functions lies (gofunc). From 1.26 on it is a section of its own, before that a variable among others. In
 * position independent programs its words are relocated; some linkers leave the value in the word as well, others leave 0 there and have
 * it in DT_RELA only.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/go/gopclntab_internal.h"
#include "agent/util/macro.h"

/* The words that are read of it. */
enum module_word {
	MODULE_HEADER,
	MODULE_MIN_PC,
	MODULE_MAX_PC,
	MODULE_TEXT,
	MODULE_GOFUNC,
	MODULE_N_WORDS
};

#define SEARCH_STEP_BYTES 65536
/* Words with the table's address that begin no moduledata, before the search ends. A Go program has one more at most (the symbol of the
 * table). */
#define MAX_CANDIDATES 16
/* All relocations are looked through for a candidate, and once for the table's address; this often at most. */
#define MAX_ROUNDS 4

/* R_*_RELATIVE relocations, file range; n 0: there are none. */
struct relocations {
	uint64_t file_off;
	uint64_t n;
	uint32_t relative;
	uint32_t n_candidates; /* so far */
	uint32_t n_rounds;
};

struct module {
	uint64_t vaddr;
	uint64_t offs[MODULE_N_WORDS]; /* where its words are */
	uint64_t words[MODULE_N_WORDS];
	uint32_t n_unknown; /* words that are 0 in the file */
};

/* Stops at the first for which `take` is true. 0, GOPCLNTAB_NONE, -errno. */
static int each_relocation(struct gopclntab *table, struct relocations *relocations,
			   bool (*take)(const Elf64_Rela *rela, struct module *module),
			   struct module *module)
{
	Elf64_Rela step[256];

	if (relocations->n_rounds++ >= MAX_ROUNDS)
		return GOPCLNTAB_NONE;
	for (uint64_t i = 0; i < relocations->n; i += ARRAY_SIZE(step)) {
		size_t n = (size_t)MIN_OF(relocations->n - i, (uint64_t)ARRAY_SIZE(step));
		int r = bytes_read(elf_bytes(table->elf), relocations->file_off + i * sizeof(*step),
				   step, n * sizeof(*step));

		if (r < 0)
			return r == -ENODATA ? GOPCLNTAB_NONE : r;
		for (size_t k = 0; k < n; k++)
			if (ELF64_R_TYPE(step[k].r_info) == relocations->relative &&
			    take(&step[k], module))
				return 0;
	}
	return GOPCLNTAB_NONE;
}

/* A word of the module whose value is in the relocation only. */
static bool take_word(const Elf64_Rela *rela, struct module *module)
{
	uint64_t off = rela->r_offset - module->vaddr;

	if (off > module->offs[MODULE_GOFUNC])
		return false;
	for (size_t i = 0; i < MODULE_N_WORDS; i++) {
		if (module->offs[i] == off && module->words[i] == 0 && rela->r_addend != 0) {
			module->words[i] = (uint64_t)rela->r_addend;
			module->n_unknown--;
		}
	}
	return module->n_unknown == 0;
}

/* What points to the table may be the module's first word. */
static bool take_pointer(const Elf64_Rela *rela, struct module *module)
{
	if ((uint64_t)rela->r_addend != module->words[MODULE_HEADER])
		return false;
	module->vaddr = rela->r_offset;
	return true;
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

/* The words as they stand in the file. */
static int read_words(struct gopclntab *table, uint64_t vaddr, struct module *ret_module)
{
	struct module module = {
		.vaddr = vaddr,
		.offs = { 0, 160, 168, 176, table->version == GOPCLNTAB_1_18 ? 304 : 320 },
	};

	for (size_t i = 0; i < MODULE_N_WORDS; i++) {
		uint64_t file_off;

		if (!elf_file_off(table->elf, vaddr + module.offs[i], &file_off))
			return GOPCLNTAB_NONE;
		int r = bytes_read(elf_bytes(table->elf), file_off, &module.words[i],
				   sizeof(module.words[i]));
		if (r < 0)
			return r == -ENODATA ? GOPCLNTAB_NONE : r;
		module.n_unknown += module.words[i] == 0;
	}
	*ret_module = module;
	return 0;
}

/* Whether a moduledata is at `vaddr`, by what it says of the functions. */
static int module_at(struct gopclntab *table, struct relocations *relocations, uint64_t vaddr,
		     uint64_t *ret_text)
{
	uint64_t first, last, record;
	struct module m;
	int r = gopclntab_entry(table, 0, &first, &record);

	if (r != 0)
		return r;
	r = gopclntab_entry(table, table->n_funcs, &last, &record);
	if (r != 0)
		return r;
	r = read_words(table, vaddr, &m);
	if (r != 0)
		return r;
	if (m.n_unknown > 0) {
		/* Not all must be found: what counts is what they say. */
		r = each_relocation(table, relocations, take_word, &m);
		if (r < 0)
			return r;
	}
	if (m.words[MODULE_HEADER] != table->vaddr || m.words[MODULE_TEXT] == 0 ||
	    m.words[MODULE_MIN_PC] != m.words[MODULE_TEXT] + first ||
	    m.words[MODULE_MAX_PC] != m.words[MODULE_TEXT] + last)
		return GOPCLNTAB_NONE;
	table->gofunc = table->version == GOPCLNTAB_1_16 ? 0 : m.words[MODULE_GOFUNC];
	*ret_text = m.words[MODULE_TEXT];
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
	struct module pointer = { .words = { [MODULE_HEADER] = table->vaddr } };
	struct relocations relocations;
	int r = GOPCLNTAB_NONE;

	find_relocations(table->elf, &relocations);
	if (section)
		r = module_at(table, &relocations, section->vaddr, ret_text);
	if (r == GOPCLNTAB_NONE)
		r = search(table, &relocations, ret_text);
	if (r != GOPCLNTAB_NONE)
		return r;
	r = each_relocation(table, &relocations, take_pointer, &pointer);
	return r != 0 ? r : module_at(table, &relocations, pointer.vaddr, ret_text);
}

int gopclntab_module_gofunc(struct gopclntab *table, uint64_t *ret_vaddr)
{
	uint64_t text;

	if (table->version == GOPCLNTAB_1_16)
		return GOPCLNTAB_NONE;
	if (table->gofunc == 0) {
		int r = gopclntab_module_text(table, &text);

		if (r != 0)
			return r;
	}
	if (table->gofunc == 0)
		return GOPCLNTAB_NONE;
	*ret_vaddr = table->gofunc;
	return 0;
}
