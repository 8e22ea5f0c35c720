/* SPDX-License-Identifier: Apache-2.0 */
/* Where call frame information lies in a file, and its bytes. */
#include "agent/object/cfi/cfi_section.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>

#include "agent/object/cfi/cfi_table.h"
#include "agent/object/rules/unwind_source.h"
#include "agent/util/macro.h"

static bool from_header(struct elf *elf, const struct elf_section *s, struct cfi_section *section)
{
	uint64_t size = elf_bytes(elf)->size;

	if (s->type == SHT_NOBITS || s->file_off >= size)
		return false;
	if (!cfi_packed_read(elf, s, &section->packed) || section->packed.n_bytes == 0 ||
	    (section->packed.packing != CFI_PACKING_PLAIN &&
	     section->packed.n_bytes > CFI_MAX_INFLATED_BYTES))
		return false;
	/* A file that is cut short has the entries that are there. */
	section->n_bytes = section->packed.packing == CFI_PACKING_PLAIN
				   ? MIN_OF(section->packed.n_bytes, size - s->file_off)
				   : section->packed.n_bytes;
	section->vaddr = s->vaddr;
	return true;
}

static const struct elf_segment *segment_of(const struct elf *elf, uint64_t vaddr)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type == PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < s->file_bytes)
			return s;
	}
	return NULL;
}

/* Without section headers: where .eh_frame_hdr points to, as far as its segment goes. */
static bool from_segment(struct elf *elf, struct cfi_section *section)
{
	struct cfi_table table;

	if (!cfi_table_open(elf, &table))
		return false;
	uint64_t vaddr = table.eh_frame_vaddr;
	const struct elf_segment *segment = segment_of(elf, vaddr);
	if (!segment)
		return false;
	uint64_t skipped = vaddr - segment->vaddr;
	uint64_t file_off = segment->file_off + skipped;
	uint64_t size = elf_bytes(elf)->size;
	if (file_off >= size)
		return false;
	section->vaddr = vaddr;
	section->n_bytes = MIN_OF(segment->file_bytes - skipped, size - file_off);
	section->packed = (struct cfi_packed){ CFI_PACKING_PLAIN, file_off, section->n_bytes,
					       section->n_bytes };
	section->ends_at_terminator = true;
	return true;
}

/* Relative to .text, and to the global offset table (LSB 5, "DWARF Exception Header Encoding"). */
static void find_bases(struct elf *elf, struct cfi_section *section)
{
	const struct elf_section *text = elf_section_by_name(elf, ".text");
	const struct elf_section *got = elf_section_by_name(elf, ".got");

	section->bases.address_bytes = 8;
	section->bases.text_vaddr = text ? text->vaddr : 0;
	if (!elf_dynamic(elf, DT_PLTGOT, &section->bases.data_vaddr))
		section->bases.data_vaddr = got ? got->vaddr : 0;
}

/* Garbage instead of section headers is as good as none. */
static int begin_search(struct elf *elf)
{
	if (!elf_is_64(elf) || !dwarf_abi(elf_machine(elf)) || elf_object_type(elf) == ET_REL)
		return UNWIND_SOURCE_NONE;
	int r = elf_load_sections(elf);
	return r < 0 ? r : 0;
}

static int found(struct elf *elf, struct cfi_section *section, struct cfi_section *ret_section)
{
	section->elf = elf;
	section->abi = dwarf_abi(elf_machine(elf));
	find_bases(elf, section);
	*ret_section = *section;
	return 0;
}

int cfi_section_find_eh(struct elf *elf, struct cfi_section *ret_section)
{
	struct cfi_section section = { .is_eh = true };
	int r = begin_search(elf);

	if (r != 0)
		return r;
	const struct elf_section *s = elf_section_by_name(elf, ".eh_frame");
	if (s ? !from_header(elf, s, &section) : !from_segment(elf, &section))
		return UNWIND_SOURCE_NONE;
	return found(elf, &section, ret_section);
}

int cfi_section_find_debug(struct elf *elf, struct cfi_section *ret_section)
{
	struct cfi_section section = { .is_eh = false };
	int r = begin_search(elf);

	if (r != 0)
		return r;
	const struct elf_section *s = elf_section_by_name(elf, ".debug_frame");
	if (!s)
		s = elf_section_by_name(elf, ".zdebug_frame");
	if (!s || !from_header(elf, s, &section))
		return UNWIND_SOURCE_NONE;
	return found(elf, &section, ret_section);
}

static int load_plain(struct cfi_section *section)
{
	_cleanup_free_ uint8_t *data = malloc((size_t)section->n_bytes);

	if (!data)
		return -ENOMEM;
	ssize_t n = bytes_read_some(elf_bytes(section->elf), section->packed.file_off, data,
				    (size_t)section->n_bytes);
	if (n < 0)
		return (int)n;
	section->n_bytes = (uint64_t)n;
	section->data = TAKE_PTR(data);
	return 0;
}

int cfi_section_load(struct cfi_section *section, uint64_t max_bytes)
{
	if (section->n_bytes > max_bytes)
		return UNWIND_SOURCE_TOO_LARGE;
	if (section->data)
		return 0;
	if (section->packed.packing == CFI_PACKING_PLAIN)
		return load_plain(section);
	int r = cfi_inflate(elf_bytes(section->elf), &section->packed, &section->data);
	return r == -EBADMSG ? UNWIND_SOURCE_NONE : r;
}

void cfi_section_unload(struct cfi_section *section)
{
	free(section->data);
	section->data = NULL;
}

void cfi_window_fini(struct cfi_window *w)
{
	if (!w->data)
		return;
	free(w->data);
	*w = CFI_WINDOW_INIT(w->step);
}

static int fill(const struct cfi_section *section, struct cfi_window *w, uint64_t off, size_t n)
{
	n = (size_t)MIN_OF((uint64_t)MAX_OF(n, w->step), section->n_bytes - off);
	w->n = 0;
	if (n > w->cap) {
		uint8_t *grown = realloc(w->data, n);

		if (!grown)
			return -ENOMEM;
		w->data = grown;
		w->cap = n;
	}
	ssize_t got = bytes_read_some(elf_bytes(section->elf), section->packed.file_off + off,
				      w->data, n);
	if (got < 0)
		return (int)got;
	w->off = off;
	w->n = (size_t)got;
	return 0;
}

int cfi_section_view_window(const struct cfi_section *section, struct cfi_window *w, uint64_t off,
			    size_t n, struct cfi_cursor *ret_cursor)
{
	if (off >= section->n_bytes) {
		*ret_cursor = (struct cfi_cursor){ 0 };
		return 0;
	}
	assert(section->packed.packing == CFI_PACKING_PLAIN);
	n = (size_t)MIN_OF((uint64_t)n, section->n_bytes - off);
	if (off < w->off || off - w->off > w->n || w->n - (off - w->off) < n) {
		int r = fill(section, w, off, n);

		if (r != 0)
			return r;
	}
	*ret_cursor = (struct cfi_cursor){
		.at = w->data + (off - w->off),
		.end = w->data + w->n,
		.bias = section->vaddr + w->off - (uintptr_t)w->data,
	};
	return 0;
}
