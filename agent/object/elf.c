/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of one ELF file: its kind and its segments. */
#include "agent/object/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/elf_internal.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELF_NATIVE_DATA ELFDATA2LSB
#else
#define ELF_NATIVE_DATA ELFDATA2MSB
#endif

/* p_offset and addresses of a mapping are rounded to pages; 4 KiB is the smallest page of both
 * machines, and what a larger page would add lies in padding. */
#define ELF_PAGE_BYTES 4096

/* A header that is not all there is a fault of the file, not of reading it. */
static int malformed_if_short(int r)
{
	return r == -ENODATA ? ELF_MALFORMED : r;
}

struct header {
	uint64_t segments_off;
	uint32_t segment_bytes;
	uint32_t n_segments;
	uint32_t section_bytes;
};

static int read_header_64(struct elf *elf, struct bytes_window *w, struct header *h)
{
	Elf64_Ehdr e;
	int r = malformed_if_short(bytes_read_window(&elf->bytes, w, 0, &e, sizeof(e)));

	if (r != 0)
		return r;
	elf->machine = e.e_machine;
	elf->object_type = e.e_type;
	elf->section_table_off = e.e_shoff;
	elf->n_header_sections = e.e_shnum;
	elf->names_index = e.e_shstrndx;
	*h = (struct header){ e.e_phoff, e.e_phentsize, e.e_phnum, e.e_shentsize };
	return 0;
}

static int read_header_32(struct elf *elf, struct bytes_window *w, struct header *h)
{
	Elf32_Ehdr e;
	int r = malformed_if_short(bytes_read_window(&elf->bytes, w, 0, &e, sizeof(e)));

	if (r != 0)
		return r;
	elf->machine = e.e_machine;
	elf->object_type = e.e_type;
	elf->section_table_off = e.e_shoff;
	elf->n_header_sections = e.e_shnum;
	elf->names_index = e.e_shstrndx;
	*h = (struct header){ e.e_phoff, e.e_phentsize, e.e_phnum, e.e_shentsize };
	return 0;
}

static int read_ident(struct elf *elf, struct bytes_window *w)
{
	unsigned char ident[EI_NIDENT];
	int r = bytes_read_window(&elf->bytes, w, 0, ident, sizeof(ident));

	if (r == -ENODATA)
		return ELF_NOT_ELF;
	if (r < 0)
		return r;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return ELF_NOT_ELF;
	if (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32)
		return ELF_MALFORMED;
	if (ident[EI_DATA] != ELF_NATIVE_DATA || ident[EI_VERSION] != EV_CURRENT)
		return ELF_FOREIGN;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	return 0;
}

static struct elf_segment segment_from_64(const Elf64_Phdr *p)
{
	return (struct elf_segment){ p->p_type,	 p->p_flags, p->p_offset, p->p_filesz,
				     p->p_vaddr, p->p_memsz, p->p_align };
}

static struct elf_segment segment_from_32(const Elf32_Phdr *p)
{
	return (struct elf_segment){ p->p_type,	 p->p_flags, p->p_offset, p->p_filesz,
				     p->p_vaddr, p->p_memsz, p->p_align };
}

static int read_segment(const struct elf *elf, struct bytes_window *w, uint64_t file_off,
			struct elf_segment *segment)
{
	union {
		Elf64_Phdr p64;
		Elf32_Phdr p32;
	} p;
	int r = bytes_read_window(&elf->bytes, w, file_off, &p,
				  elf->is_64 ? sizeof(p.p64) : sizeof(p.p32));

	if (r != 0)
		return malformed_if_short(r);
	*segment = elf->is_64 ? segment_from_64(&p.p64) : segment_from_32(&p.p32);
	return 0;
}

static int read_segments(struct elf *elf, struct bytes_window *w, const struct header *h)
{
	if (h->n_segments == 0)
		return 0;
	if (h->n_segments > ELF_MAX_SEGMENTS ||
	    h->segment_bytes < (elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) ||
	    h->segments_off > elf->bytes.size)
		return ELF_MALFORMED;
	elf->segments = calloc(h->n_segments, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->n_segments; i++) {
		int r = read_segment(elf, w, h->segments_off + (uint64_t)i * h->segment_bytes,
				     &elf->segments[i]);

		if (r != 0)
			return r;
		/* Sums of what follows are then below 2^64 and need no more care. */
		if (elf->segments[i].vaddr + elf->segments[i].memory_bytes <
			    elf->segments[i].vaddr ||
		    elf->segments[i].file_off + elf->segments[i].file_bytes <
			    elf->segments[i].file_off)
			return ELF_MALFORMED;
	}
	elf->n_segments = h->n_segments;
	return 0;
}

static int read_headers(struct elf *elf)
{
	struct header h = { 0 };
	struct bytes_window w;

	w.n = 0;
	int r = read_ident(elf, &w);

	if (r != 0)
		return r;
	r = elf->is_64 ? read_header_64(elf, &w, &h) : read_header_32(elf, &w, &h);
	if (r != 0)
		return r;
	/* Without usable sections there are still segments. */
	if (h.section_bytes != (elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		elf->section_table_off = 0;
	return read_segments(elf, &w, &h);
}

int elf_new(struct bytes bytes, struct elf **ret_elf)
{
	_cleanup_(elf_freep) struct elf *elf = calloc(1, sizeof(*elf));

	if (!elf)
		return -ENOMEM;
	elf->bytes = bytes;
	int r = read_headers(elf);
	if (r != 0)
		return r;
	*ret_elf = TAKE_PTR(elf);
	return 0;
}

void elf_free(struct elf *elf)
{
	if (!elf)
		return;
	elf_drop_sections(elf);
	free(elf->segments);
	free(elf);
}

const struct bytes *elf_bytes(const struct elf *elf)
{
	return &elf->bytes;
}

void elf_set_fd(struct elf *elf, int fd)
{
	elf->bytes.fd = fd;
}

bool elf_is_64(const struct elf *elf)
{
	return elf->is_64;
}

uint16_t elf_machine(const struct elf *elf)
{
	return elf->machine;
}

uint16_t elf_object_type(const struct elf *elf)
{
	return elf->object_type;
}

size_t elf_memory_bytes(const struct elf *elf)
{
	return sizeof(*elf) + elf->n_segments * sizeof(*elf->segments) +
	       elf->n_sections * sizeof(*elf->sections) + elf->names_bytes;
}

size_t elf_n_segments(const struct elf *elf)
{
	return elf->n_segments;
}

const struct elf_segment *elf_segment(const struct elf *elf, size_t i)
{
	return i < elf->n_segments ? &elf->segments[i] : NULL;
}

static bool is_text(const struct elf_segment *s)
{
	return s->type == PT_LOAD && (s->flags & PF_X);
}

bool elf_vaddr(const struct elf *elf, uint64_t file_off, uint64_t *ret_vaddr)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];
		uint64_t head = s->file_off & (ELF_PAGE_BYTES - 1);
		uint64_t tail = -(s->file_off + s->file_bytes) & (ELF_PAGE_BYTES - 1);

		if (!is_text(s) || file_off < s->file_off - head)
			continue;
		if (file_off >= s->file_off && file_off - s->file_off < s->file_bytes) {
			found = s;
			break;
		}
		if (!found &&
		    (file_off < s->file_off || file_off - s->file_off < s->file_bytes + tail))
			found = s;
	}
	if (!found)
		return false;
	/* Unsigned wrap-around gives addresses before p_vaddr. */
	*ret_vaddr = file_off - found->file_off + found->vaddr;
	return true;
}

bool elf_file_off(const struct elf *elf, uint64_t vaddr, uint64_t *ret_file_off)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type != PT_LOAD || vaddr < s->vaddr || vaddr - s->vaddr >= s->file_bytes)
			continue;
		*ret_file_off = vaddr - s->vaddr + s->file_off;
		return true;
	}
	return false;
}

bool elf_read(const struct elf *elf, uint64_t vaddr, void *dst, size_t n)
{
	uint64_t file_off;

	return elf_file_off(elf, vaddr, &file_off) &&
	       bytes_read(elf_bytes(elf), file_off, dst, n) == 0;
}

bool elf_text_range(const struct elf *elf, uint64_t *ret_begin, uint64_t *ret_end)
{
	uint64_t begin = UINT64_MAX;
	uint64_t end = 0;

	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (!is_text(s) || s->memory_bytes == 0)
			continue;
		begin = s->vaddr < begin ? s->vaddr : begin;
		end = s->vaddr + s->memory_bytes > end ? s->vaddr + s->memory_bytes : end;
	}
	if (begin >= end)
		return false;
	*ret_begin = begin;
	*ret_end = end;
	return true;
}
