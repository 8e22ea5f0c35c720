/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information made by hand: bytes, put into an ELF file in memory, read as rows. */
#ifndef XAGENT_TESTS_UNIT_OBJECT_CFI_FIXTURE_H
#define XAGENT_TESTS_UNIT_OBJECT_CFI_FIXTURE_H

#include <assert.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "agent/object/cfi/cfi.h"
#include "agent/object/elf.h"

/* Where the section lies in the address space of the made file, and its one text segment. */
#define FIXTURE_CFI_VADDR 0x10000
#define FIXTURE_TEXT_VADDR 0x1000
#define FIXTURE_GOT_VADDR 0x8000
#define FIXTURE_TEXT_BYTES 0x8000

struct fixture_bytes {
	uint8_t data[16384];
	size_t n;
};

static inline void put(struct fixture_bytes *b, const void *bytes, size_t n)
{
	assert(b->n + n <= sizeof(b->data));
	if (n)
		memcpy(b->data + b->n, bytes, n);
	b->n += n;
}

static inline void put_number(struct fixture_bytes *b, uint64_t value, size_t n)
{
	put(b, &value, n); /* lowest byte first, as both machines have it */
}

/* Begins an entry of .eh_frame (or .debug_frame); its length is set by entry_end(). */
static inline size_t entry_begin(struct fixture_bytes *b)
{
	put_number(b, 0, 4);
	return b->n;
}

static inline void entry_end(struct fixture_bytes *b, size_t begin)
{
	uint32_t length = (uint32_t)(b->n - begin);

	memcpy(b->data + begin - 4, &length, sizeof(length));
}

/* The length, the id and the version are not among `rest`. */
static inline size_t put_cie(struct fixture_bytes *b, uint32_t id, uint8_t version,
			     const void *rest, size_t n)
{
	size_t off = b->n;
	size_t begin = entry_begin(b);

	put_number(b, id, 4);
	put_number(b, version, 1);
	put(b, rest, n);
	entry_end(b, begin);
	return off;
}

/* "zR", absptr; CFA = rsp + 8, RA at CFA − 8. */
#define FIXTURE_CIE_X86 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1
/* "zR", absptr; CFA = sp + 0. */
#define FIXTURE_CIE_ARM64 'z', 'R', 0, 1, 0x78, 30, 1, 0x00, 0x0c, 31, 0

static inline size_t put_eh_cie(struct fixture_bytes *b, uint16_t machine)
{
	static const uint8_t x86[] = { FIXTURE_CIE_X86 };
	static const uint8_t arm64[] = { FIXTURE_CIE_ARM64 };

	return machine == EM_X86_64 ? put_cie(b, 0, 1, x86, sizeof(x86))
				    : put_cie(b, 0, 1, arm64, sizeof(arm64));
}

/* Of a CIE with "zR" and absptr. */
static inline size_t put_eh_fde(struct fixture_bytes *b, size_t cie, uint64_t begin,
				uint64_t n_bytes, const void *program, size_t n)
{
	size_t off = b->n;
	size_t body = entry_begin(b);

	put_number(b, body - cie, 4);
	put_number(b, begin, 8);
	put_number(b, n_bytes, 8);
	put_number(b, 0, 1);
	put(b, program, n);
	entry_end(b, body);
	return off;
}

struct fixture_section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t vaddr;
	const void *data;
	size_t n;
};

#define FIXTURE_MAX_SECTIONS 8

struct fixture_image {
	uint8_t data[65536];
	size_t n;
	struct elf *elf;
	struct unwind_source *source;
};

static inline uint64_t image_append(struct fixture_image *image, const void *data, size_t n)
{
	uint64_t off = (image->n + 7) & ~(size_t)7;

	assert(off + n <= sizeof(image->data));
	if (n)
		memcpy(image->data + off, data, n);
	image->n = off + n;
	return off;
}

/* A file of one segment that maps all of it at FIXTURE_CFI_VADDR, less the offset of the first section, and a text segment without
 * contents. */
static inline void image_build(struct fixture_image *image, uint16_t machine,
			       const struct fixture_section *sections, size_t n_sections)
{
	Elf64_Shdr headers[FIXTURE_MAX_SECTIONS + 2] = { { 0 } };
	Elf64_Phdr segments[3] = { { 0 } };
	char names[256] = "";
	size_t n_names = 1;
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = machine,
			 .e_version = EV_CURRENT,
			 .e_ehsize = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_phoff = sizeof(e),
			 .e_phnum = 3,
			 .e_shnum = (uint16_t)(n_sections + 2),
			 .e_shstrndx = (uint16_t)(n_sections + 1) };

	assert(n_sections <= FIXTURE_MAX_SECTIONS);
	*image = (struct fixture_image){ .n = sizeof(e) + sizeof(segments) };
	for (size_t i = 0; i < n_sections; i++) {
		const struct fixture_section *s = &sections[i];

		headers[i + 1] = (Elf64_Shdr){ .sh_name = (uint32_t)n_names,
					       .sh_type = s->type,
					       .sh_flags = s->flags,
					       .sh_addr = s->vaddr,
					       .sh_offset = image_append(image, s->data, s->n),
					       .sh_size = s->n };
		assert(n_names + strlen(s->name) < sizeof(names));
		memcpy(names + n_names, s->name, strlen(s->name));
		n_names += strlen(s->name) + 1;
		if (strcmp(s->name, ".eh_frame_hdr") == 0)
			segments[2] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
						    .p_offset = headers[i + 1].sh_offset,
						    .p_vaddr = s->vaddr,
						    .p_filesz = s->n,
						    .p_memsz = s->n };
		if (strcmp(s->name, ".eh_frame") == 0)
			segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
						    .p_flags = PF_R,
						    .p_offset = headers[i + 1].sh_offset,
						    .p_vaddr = s->vaddr,
						    .p_filesz = s->n,
						    .p_memsz = s->n };
	}
	segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_vaddr = FIXTURE_TEXT_VADDR,
				    .p_memsz = FIXTURE_TEXT_BYTES };
	headers[n_sections + 1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
						.sh_offset = image_append(image, names, n_names),
						.sh_size = n_names };
	e.e_shoff = image_append(image, headers, (n_sections + 2) * sizeof(headers[0]));
	memcpy(image->data, &e, sizeof(e));
	memcpy(image->data + sizeof(e), segments, sizeof(segments));
}

static inline int image_open(struct fixture_image *image, bool is_debug)
{
	int r = elf_new(bytes_from_memory(image->data, image->n), &image->elf);

	if (r != 0)
		return r;
	return is_debug ? cfi_debug_frame_new(image->elf, &image->source)
			: cfi_eh_frame_new(image->elf, &image->source);
}

/* The usual: one section, .text and .got for what is relative to them. */
static inline int image_open_section(struct fixture_image *image, uint16_t machine, bool is_debug,
				     const struct fixture_bytes *b)
{
	const struct fixture_section sections[] = {
		{ ".text", SHT_NOBITS, SHF_ALLOC, FIXTURE_TEXT_VADDR, NULL, 0 },
		{ ".got", SHT_NOBITS, SHF_ALLOC, FIXTURE_GOT_VADDR, NULL, 0 },
		{ is_debug ? ".debug_frame" : ".eh_frame", SHT_PROGBITS, is_debug ? 0 : SHF_ALLOC,
		  is_debug ? 0 : FIXTURE_CFI_VADDR, b->data, b->n },
	};

	image_build(image, machine, sections, 3);
	return image_open(image, is_debug);
}

static inline void image_close(struct fixture_image *image)
{
	if (image->source)
		image->source->free(image->source);
	elf_free(image->elf);
	image->source = NULL;
	image->elf = NULL;
}

struct fixture_row {
	uint64_t vaddr;
	struct unwind_rule rule;
};

#define FIXTURE_MAX_ROWS 256
#define FIXTURE_MAX_BYTES ((size_t)1 << 20)

struct fixture_rows {
	struct fixture_row at[FIXTURE_MAX_ROWS];
	size_t n;
};

static inline int keep_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct fixture_rows *rows = data;

	assert(rows->n < FIXTURE_MAX_ROWS);
	rows->at[rows->n++] = (struct fixture_row){ vaddr, *rule };
	return 0;
}

static inline bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Every address of the span, asked alone, must have the rule of its row. The first that has not, or its end. */
static inline uint64_t first_different(struct unwind_source *source, const struct unwind_span *span,
				       const struct fixture_rows *rows, size_t first)
{
	uint64_t end = span->begin + span->n_bytes;
	size_t row = first;

	assert(span->n_bytes <= FIXTURE_TEXT_BYTES);
	for (uint64_t vaddr = span->begin; vaddr < end; vaddr++) {
		struct unwind_rule rule;

		while (row + 1 < rows->n && rows->at[row + 1].vaddr <= vaddr)
			row++;
		if (source->rule_at(source, vaddr, &rule) != 0 ||
		    !same_rule(&rule, &rows->at[row].rule))
			return vaddr;
	}
	return end;
}

/* All rows of all spans, and the same by single addresses. The outcome of spans(), or −1000 when the two contradict. */
static inline int image_rows(struct fixture_image *image, struct fixture_rows *rows,
			     struct unwind_source_stats *stats)
{
	struct unwind_spans spans = { .max_bytes = FIXTURE_MAX_BYTES };
	struct unwind_source *source = image->source;
	int r = source->spans(source, &spans, stats);

	for (size_t i = 0; r == 0 && i < spans.n; i++) {
		size_t first = rows->n;

		r = source->rows(source, &spans.items[i], keep_row, rows, stats);
		if (r == 0 && first_different(source, &spans.items[i], rows, first) !=
				      spans.items[i].begin + spans.items[i].n_bytes)
			r = -1000;
	}
	unwind_spans_fini(&spans);
	return r;
}

#endif
