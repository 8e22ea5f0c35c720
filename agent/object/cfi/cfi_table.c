/* SPDX-License-Identifier: Apache-2.0 */
/* .eh_frame_hdr and its binary search. */
#include "agent/object/cfi/cfi_table.h"

#include <assert.h>
#include <elf.h>

#include "agent/object/cfi/cfi_pointer.h"
#include "agent/util/macro.h"

#define TABLE_VERSION 1
/* Version and three encodings, then two pointers of 8 bytes at most, or LEB128. */
#define HEADER_BYTES (4 + 2 * CFI_LEB_BYTES)
/* The only encoding that linkers write, and the only one of a fixed size that can be searched. */
#define TABLE_ENCODING (CFI_PE_DATAREL | CFI_PE_SDATA4)

struct place {
	uint64_t vaddr;
	uint64_t file_off;
	uint64_t n_bytes;
};

static bool find(struct elf *elf, struct place *ret_place)
{
	const struct elf_section *s;

	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *p = elf_segment(elf, i);

		if (p->type != PT_GNU_EH_FRAME)
			continue;
		*ret_place = (struct place){ p->vaddr, p->file_off, p->file_bytes };
		return true;
	}
	s = elf_load_sections(elf) == 0 ? elf_section_by_name(elf, ".eh_frame_hdr") : NULL;
	if (!s || s->type == SHT_NOBITS)
		return false;
	*ret_place = (struct place){ s->vaddr, s->file_off, s->size_bytes };
	return true;
}

/* hdr := version, encodings of pointer, count and table, pointer to .eh_frame, count, table */
static bool parse(struct cfi_cursor *c, const struct place *place, struct cfi_table *table)
{
	struct cfi_bases bases = { .data_vaddr = place->vaddr, .address_bytes = 8 };
	const uint8_t *start = c->at;
	uint8_t version = cfi_u8(c);
	uint8_t pointer_encoding = cfi_u8(c);
	uint8_t count_encoding = cfi_u8(c);
	uint8_t table_encoding = cfi_u8(c);

	*table = (struct cfi_table){ .vaddr = place->vaddr };
	if (version != TABLE_VERSION || pointer_encoding == CFI_PE_OMIT)
		return false;
	table->eh_frame_vaddr = cfi_pointer(c, pointer_encoding, &bases);
	if (c->failed || table->eh_frame_vaddr == 0)
		return false;
	if (count_encoding == CFI_PE_OMIT || table_encoding != TABLE_ENCODING)
		return true;
	uint64_t n = cfi_pointer(c, count_encoding, &bases);
	uint64_t n_header = (uint64_t)(c->at - start);
	if (c->failed || n > UINT32_MAX || n * 8 > place->n_bytes - n_header)
		return true;
	table->file_off = place->file_off + n_header;
	table->n = (uint32_t)n;
	return true;
}

bool cfi_table_open(struct elf *elf, struct cfi_table *ret_table)
{
	uint8_t header[HEADER_BYTES];
	struct place place;

	if (!find(elf, &place))
		return false;
	ssize_t n = bytes_read_some(elf_bytes(elf), place.file_off, header,
				    (size_t)MIN_OF(sizeof(header), place.n_bytes));
	if (n <= 0)
		return false;
	struct cfi_cursor c = {
		.at = header,
		.end = header + n,
		.bias = place.vaddr - (uintptr_t)header,
	};
	return parse(&c, &place, ret_table);
}

static struct cfi_table_entry entry_from(const struct cfi_table *table, const int32_t raw[2])
{
	return (struct cfi_table_entry){
		.begin = table->vaddr + (uint64_t)(int64_t)raw[0],
		.fde = table->vaddr + (uint64_t)(int64_t)raw[1],
	};
}

static int read_entries(const struct cfi_table *table, const struct bytes *bytes, uint32_t first,
			uint32_t n, struct cfi_table_window *w)
{
	assert(n <= CFI_TABLE_WINDOW_ENTRIES && first < table->n && n <= table->n - first);
	w->n = 0;
	int r = bytes_read(bytes, table->file_off + (uint64_t)first * sizeof(*w->raw), w->raw,
			   n * sizeof(*w->raw));

	if (r != 0)
		return r;
	w->first = first;
	w->n = n;
	return 0;
}

static bool holds(const struct cfi_table_window *w, uint32_t i)
{
	return i >= w->first && i - w->first < w->n;
}

int cfi_table_entry(const struct cfi_table *table, const struct bytes *bytes,
		    const struct cfi_table_window *w, uint32_t i, struct cfi_table_entry *ret_entry)
{
	struct cfi_table_window one = { 0 };
	int r = holds(w, i) ? 0 : read_entries(table, bytes, i, 1, &one);

	assert(i < table->n);
	if (r != 0)
		return r;
	*ret_entry = entry_from(table, holds(w, i) ? w->raw[i - w->first] : one.raw[0]);
	return 0;
}

static uint64_t begin_of(const struct cfi_table *table, const struct cfi_table_window *w,
			 uint32_t i)
{
	return entry_from(table, w->raw[i - w->first]).begin;
}

/* What is still in question, where the window has entries on both sides of the address. */
static void narrow(const struct cfi_table *table, const struct cfi_table_window *w, uint64_t vaddr,
		   uint32_t *lo, uint32_t *hi)
{
	uint32_t last = w->first + w->n - 1;

	if (w->n < 2 || begin_of(table, w, w->first) > vaddr || begin_of(table, w, last) <= vaddr)
		return;
	*lo = w->first + 1;
	*hi = last;
}

int cfi_table_search(const struct cfi_table *table, const struct bytes *bytes,
		     struct cfi_table_window *w, uint64_t vaddr, uint32_t *ret_n)
{
	uint64_t least = 0;
	uint64_t most = UINT64_MAX;
	uint32_t lo = 0;
	uint32_t hi = table->n;

	narrow(table, w, vaddr, &lo, &hi);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (!holds(w, mid)) {
			bool is_last = hi - lo <= CFI_TABLE_WINDOW_ENTRIES;
			uint32_t left = table->n - lo;
			int r = read_entries(table, bytes, is_last ? lo : mid,
					     is_last ? MIN_OF(left, CFI_TABLE_WINDOW_ENTRIES) : 1,
					     w);

			if (r != 0)
				return r;
		}
		uint64_t begin = begin_of(table, w, mid);
		/* Between what was seen on both sides, else the table is no order. */
		if (begin < least || begin > most)
			return CFI_TABLE_BAD;
		if (begin <= vaddr) {
			least = begin;
			lo = mid + 1;
		} else {
			most = begin;
			hi = mid;
		}
	}
	*ret_n = lo;
	return 0;
}
