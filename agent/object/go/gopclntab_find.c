/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the function table of a Go program lies.
 *
 * By its section: .gopclntab, in position independent programs up to Go 1.25 .data.rel.ro.gopclntab. The system's linker merges the
 * latter into .data.rel.ro, and sections may be stripped: then every segment is searched for a header, of a Go program only.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/go/gopclntab_internal.h"
#include "agent/util/macro.h"

/* First words: src/internal/abi/symtab.go. */
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
/* The linker aligns the table to 32 bytes, to 8 where it comes in a section of its own (1.26). */
#define HEADER_ALIGN 8
#define HEADER_MAX_WORDS 9
#define SEARCH_STEP_BYTES 65536
/* Places that look like a header and are none, before the search ends: a Go program has one or two (debug/gosym knows the words). */
#define MAX_CANDIDATES 256

/* The header (struct pcHeader): magic, two zeros, instruction size, pointer size, then words. */
struct header {
	uint32_t magic;
	uint8_t zero[2];
	uint8_t quantum;
	uint8_t pointer_bytes;
	uint64_t words[HEADER_MAX_WORDS - 1];
};

/* Words of the header: n_funcs, n_files, the text (from 1.18 on), then the parts. */
enum {
	WORD_N_FUNCS,
	WORD_TEXT = 2,
};

static bool version_of(const struct header *h, uint8_t quantum, enum gopclntab_version *ret_version)
{
	if (h->zero[0] || h->zero[1] || h->quantum != quantum || h->pointer_bytes != 8)
		return false;
	switch (h->magic) {
	case MAGIC_1_16:
		*ret_version = GOPCLNTAB_1_16;
		return true;
	case MAGIC_1_18:
		*ret_version = GOPCLNTAB_1_18;
		return true;
	case MAGIC_1_20:
		*ret_version = GOPCLNTAB_1_20;
		return true;
	default:
		return false;
	}
}

/* The five parts follow the header in the order of their words: names, units, files, values, functions. */
static bool parts_in_order(const uint64_t parts[5], uint64_t header_bytes, uint64_t room)
{
	if (parts[0] < header_bytes)
		return false;
	for (int i = 1; i < 5; i++)
		if (parts[i] < parts[i - 1])
			return false;
	return parts[4] < room;
}

/* The first record repeats the entry of its function. */
static int check_first_record(struct gopclntab *table)
{
	uint64_t entry, record, repeated = 0;
	size_t n = table->version == GOPCLNTAB_1_16 ? 8 : 4;
	int r = gopclntab_entry(table, 0, &entry, &record);

	if (r != 0)
		return r;
	if (record > table->end - table->funcs_off)
		return GOPCLNTAB_NONE;
	r = bytes_read(elf_bytes(table->elf), table->funcs_off + record, &repeated, n);
	if (r == 0 && repeated == entry)
		return 0;
	return r == 0 || r == -ENODATA ? GOPCLNTAB_NONE : r;
}

int gopclntab_header(struct gopclntab *table, uint64_t file_off, uint64_t end,
		     uint64_t *ret_text_field)
{
	struct header h = { 0 };
	ssize_t got = bytes_read_some(elf_bytes(table->elf), file_off, &h, sizeof(h));

	if (got < 0)
		return (int)got;
	if ((size_t)got < sizeof(h) || end <= file_off ||
	    !version_of(&h, table->quantum, &table->version))
		return GOPCLNTAB_NONE;
	bool has_text = table->version != GOPCLNTAB_1_16;
	const uint64_t *parts = &h.words[has_text ? WORD_TEXT + 1 : WORD_TEXT];
	uint64_t n_funcs = h.words[WORD_N_FUNCS];
	if (n_funcs == 0 || n_funcs > GOPCLNTAB_MAX_FUNCS ||
	    !parts_in_order(parts, sizeof(h) - (has_text ? 0 : 8), end - file_off) ||
	    (end - file_off - parts[4]) / (has_text ? 8 : 16) < n_funcs)
		return GOPCLNTAB_NONE;
	table->n_funcs = (uint32_t)n_funcs;
	table->file_off = file_off;
	table->names_off = file_off + parts[0];
	table->names_end = file_off + parts[1];
	table->files_off = file_off + parts[2];
	table->values_off = file_off + parts[3];
	table->funcs_off = file_off + parts[4];
	table->end = end;
	int r = check_first_record(table);
	if (r != 0)
		return r;
	*ret_text_field = has_text ? h.words[WORD_TEXT] : 0;
	return 0;
}

/* A header at file_off of a segment, whose addresses it gets. */
static int in_segment(struct gopclntab *table, const struct elf_segment *segment, uint64_t file_off,
		      uint64_t *ret_text_field)
{
	int r = gopclntab_header(table, file_off, segment->file_off + segment->file_bytes,
				 ret_text_field);

	if (r != 0)
		return r;
	table->vaddr = segment->vaddr + (file_off - segment->file_off);
	return 0;
}

static bool may_be_header(const unsigned char *bytes, uint8_t quantum)
{
	struct header h = { 0 };
	enum gopclntab_version version;

	memcpy(&h, bytes, 8);
	return version_of(&h, quantum, &version);
}

/* What the search may still cost. */
struct search {
	unsigned char *step;
	uint64_t n_bytes;
	uint32_t n_candidates;
};

/* Looks at each aligned place of a step of the file. */
static int search_step(struct gopclntab *table, const struct elf_segment *segment,
		       uint64_t file_off, const unsigned char *bytes, size_t n,
		       struct search *search, uint64_t *ret_text_field)
{
	for (size_t i = 0; i + 8 <= n && search->n_candidates < MAX_CANDIDATES; i += HEADER_ALIGN) {
		if (!may_be_header(bytes + i, table->quantum))
			continue;
		search->n_candidates++;
		int r = in_segment(table, segment, file_off + i, ret_text_field);
		if (r != GOPCLNTAB_NONE)
			return r;
	}
	return GOPCLNTAB_NONE;
}

static int search_segment(struct gopclntab *table, const struct elf_segment *segment,
			  struct search *search, uint64_t *ret_text_field)
{
	uint64_t end = segment->file_off + segment->file_bytes;
	/* Addresses are aligned; files may place them differently only by whole pages. */
	uint64_t at = segment->file_off + (-segment->vaddr & (HEADER_ALIGN - 1));

	while (at < end && search->n_bytes < GOPCLNTAB_MAX_SEARCH_BYTES) {
		ssize_t got =
			bytes_read_some(elf_bytes(table->elf), at, search->step,
					(size_t)MIN_OF(end - at, (uint64_t)SEARCH_STEP_BYTES));
		if (got <= 0)
			return got < 0 ? (int)got : GOPCLNTAB_NONE;
		int r = search_step(table, segment, at, search->step, (size_t)got, search,
				    ret_text_field);
		if (r != GOPCLNTAB_NONE)
			return r;
		at += SEARCH_STEP_BYTES;
		search->n_bytes += (uint64_t)got;
	}
	return GOPCLNTAB_NONE;
}

static int search_all(struct gopclntab *table, uint64_t *ret_text_field)
{
	_cleanup_free_ unsigned char *step = malloc(SEARCH_STEP_BYTES);
	struct search search = { .step = step };

	if (!step)
		return -ENOMEM;
	for (size_t i = 0; i < elf_n_segments(table->elf); i++) {
		const struct elf_segment *segment = elf_segment(table->elf, i);

		if (segment->type != PT_LOAD ||
		    segment->file_off > UINT64_MAX - segment->file_bytes)
			continue;
		int r = search_segment(table, segment, &search, ret_text_field);
		if (r != GOPCLNTAB_NONE)
			return r;
	}
	return GOPCLNTAB_NONE;
}

static int at_section(struct gopclntab *table, const struct elf_section *section,
		      uint64_t *ret_text_field)
{
	for (size_t i = 0; i < elf_n_segments(table->elf); i++) {
		const struct elf_segment *segment = elf_segment(table->elf, i);

		if (segment->type == PT_LOAD && section->file_off >= segment->file_off &&
		    section->file_off - segment->file_off < segment->file_bytes &&
		    segment->file_off <= UINT64_MAX - segment->file_bytes)
			return in_segment(table, segment, section->file_off, ret_text_field);
	}
	return GOPCLNTAB_NONE;
}

/* Sections that only Go programs have. */
static bool is_go(const struct elf *elf)
{
	static const char *const names[] = { ".note.go.buildid", ".go.buildinfo", ".gosymtab",
					     ".go.module" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (elf_section_by_name(elf, names[i]))
			return true;
	return false;
}

int gopclntab_locate(struct gopclntab *table, uint64_t *ret_text_field)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	int r = elf_load_sections(table->elf);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct elf_section *section = elf_section_by_name(table->elf, names[i]);

		if (section && section->type != SHT_NOBITS)
			return at_section(table, section, ret_text_field);
	}
	if (elf_n_sections(table->elf) > 0 && !is_go(table->elf))
		return GOPCLNTAB_NONE;
	return search_all(table, ret_text_field);
}
