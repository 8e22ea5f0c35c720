/* SPDX-License-Identifier: Apache-2.0 */
/* Executable text without call frame information. */
#include "agent/object/nocfi/nocfi_gaps.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

/* LSB 5 "Exception Frame Header": version, encodings of the pointer, of the count, of the table. */
#define HDR_VERSION 1
#define ENCODING_UDATA4 0x03
#define ENCODING_PCREL_SDATA4 0x1b
#define ENCODING_DATAREL_SDATA4 0x3b
/* Entries of the table that are read at once, and FDE heads: they lie one behind the other. */
#define N_ENTRIES 512
#define WINDOW_BYTES 32768
/* Browsers have some 500,000 functions. */
#define MAX_ENTRIES ((uint32_t)4 << 20)

int nocfi_ranges_add(struct nocfi_ranges *ranges, uint64_t begin, uint64_t end)
{
	if (begin >= end || ranges->n >= NOCFI_GAPS_MAX)
		return 0;
	if (ranges->n == ranges->cap) {
		size_t cap = ranges->cap * 2 + 16;
		struct nocfi_range *items = realloc(ranges->items, cap * sizeof(*items));

		if (!items)
			return -ENOMEM;
		ranges->items = items;
		ranges->cap = cap;
	}
	ranges->items[ranges->n++] = (struct nocfi_range){ begin, end };
	return 0;
}

void nocfi_ranges_fini(struct nocfi_ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct nocfi_ranges){ 0 };
}

const struct nocfi_range *nocfi_ranges_at(const struct nocfi_ranges *ranges, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = ranges->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ranges->items[mid].end <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < ranges->n && ranges->items[low].begin <= vaddr ? &ranges->items[low] : NULL;
}

uint64_t nocfi_ranges_bytes(const struct nocfi_ranges *ranges)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ranges->n; i++)
		n += ranges->items[i].end - ranges->items[i].begin;
	return n;
}

int nocfi_ranges_cut(struct nocfi_ranges *ranges, uint64_t begin, uint64_t end)
{
	struct nocfi_ranges rest = { 0 };
	int r = 0;

	for (size_t i = 0; i < ranges->n && r == 0; i++) {
		struct nocfi_range *g = &ranges->items[i];

		r = nocfi_ranges_add(&rest, g->begin, MIN_OF(g->end, MAX_OF(begin, g->begin)));
		if (r == 0)
			r = nocfi_ranges_add(&rest, MAX_OF(g->begin, MIN_OF(end, g->end)), g->end);
	}
	if (r < 0) {
		nocfi_ranges_fini(&rest);
		return r;
	}
	nocfi_ranges_fini(ranges);
	*ranges = rest;
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	uint64_t x = ((const struct nocfi_range *)a)->begin;
	uint64_t y = ((const struct nocfi_range *)b)->begin;

	return (x > y) - (x < y);
}

static bool holds(const struct elf *elf, uint64_t begin, uint64_t n)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type == PT_LOAD && (s->flags & PF_X) && begin >= s->vaddr &&
		    begin - s->vaddr < s->file_bytes && n <= s->file_bytes - (begin - s->vaddr))
			return true;
	}
	return false;
}

static int add_sections(const struct elf *elf, struct nocfi_ranges *text)
{
	int r = 0;

	for (size_t i = 0; i < elf_n_sections(elf) && r == 0; i++) {
		const struct elf_section *s = elf_section(elf, i);

		if (s->type == SHT_PROGBITS && (s->flags & SHF_EXECINSTR) &&
		    holds(elf, s->vaddr, s->size_bytes))
			r = nocfi_ranges_add(text, s->vaddr, s->vaddr + s->size_bytes);
	}
	return r;
}

static int add_segments(const struct elf *elf, struct nocfi_ranges *text)
{
	int r = 0;

	for (size_t i = 0; i < elf_n_segments(elf) && r == 0; i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type == PT_LOAD && (s->flags & PF_X))
			r = nocfi_ranges_add(text, s->vaddr, s->vaddr + s->file_bytes);
	}
	return r;
}

/* Ascending and apart. */
static void tidy(struct nocfi_ranges *ranges)
{
	size_t n = 0;

	if (ranges->n == 0)
		return;
	qsort(ranges->items, ranges->n, sizeof(*ranges->items), by_begin);
	for (size_t i = 1; i < ranges->n; i++) {
		struct nocfi_range g = ranges->items[i];

		g.begin = MAX_OF(g.begin, ranges->items[n].end);
		if (g.begin < g.end)
			ranges->items[++n] = g;
	}
	ranges->n = n + 1;
}

struct table {
	const struct elf *elf;
	uint64_t hdr_vaddr;
	uint64_t file_off; /* of its entries */
	uint32_t n;
	char window[WINDOW_BYTES]; /* of .eh_frame */
	uint64_t window_off;
	size_t window_bytes;
};

static bool find_table(struct table *t)
{
	uint8_t head[12];
	uint32_t n;

	for (size_t i = 0; i < elf_n_segments(t->elf); i++) {
		const struct elf_segment *s = elf_segment(t->elf, i);

		if (s->type != PT_GNU_EH_FRAME ||
		    bytes_read(elf_bytes(t->elf), s->file_off, head, sizeof(head)) < 0)
			continue;
		if (head[0] != HDR_VERSION || head[1] != ENCODING_PCREL_SDATA4 ||
		    head[2] != ENCODING_UDATA4 || head[3] != ENCODING_DATAREL_SDATA4)
			continue;
		memcpy(&n, head + 8, sizeof(n));
		t->hdr_vaddr = s->vaddr;
		t->file_off = s->file_off + sizeof(head);
		t->n = MIN_OF(n, MAX_ENTRIES);
		return true;
	}
	return false;
}

static bool read_head(struct table *t, uint64_t file_off, void *dst, size_t n)
{
	if (file_off < t->window_off || file_off - t->window_off > t->window_bytes ||
	    n > t->window_bytes - (file_off - t->window_off)) {
		ssize_t got =
			bytes_read_some(elf_bytes(t->elf), file_off, t->window, sizeof(t->window));

		t->window_off = file_off;
		t->window_bytes = got > 0 ? (size_t)got : 0;
	}
	if (n > t->window_bytes - (file_off - t->window_off))
		return false;
	memcpy(dst, t->window + (file_off - t->window_off), n);
	return true;
}

/* How many bytes an FDE covers; 0 when it is not one of the usual encodings. The encoding is in its
 * CIE; that the begin comes out as the table says is taken for its proof. */
static uint64_t fde_bytes(struct table *t, uint64_t fde, uint64_t begin)
{
	struct {
		uint32_t length;
		uint32_t cie;
		int32_t begin;
		uint32_t n;
	} relative;
	uint64_t file_off, absolute[2];

	if (!elf_file_off(t->elf, fde, &file_off) ||
	    !read_head(t, file_off, &relative, sizeof(relative)))
		return 0;
	if (fde + 8 + (uint64_t)(int64_t)relative.begin == begin)
		return relative.n;
	if (read_head(t, file_off + 8, absolute, sizeof(absolute)) && absolute[0] == begin)
		return absolute[1];
	return 0;
}

struct sweep {
	const struct nocfi_ranges *text;
	struct nocfi_ranges *gaps;
	size_t i;
	uint64_t at;
};

static int add_gap(struct sweep *s, uint64_t end)
{
	return end > s->at && end - s->at >= NOCFI_GAP_MIN_BYTES
		       ? nocfi_ranges_add(s->gaps, s->at, end)
		       : 0;
}

/* [begin, end) is covered; begins come in order. */
static int cover(struct sweep *s, uint64_t begin, uint64_t end)
{
	int r = 0;

	while (r == 0 && s->i < s->text->n) {
		const struct nocfi_range *text = &s->text->items[s->i];

		s->at = MAX_OF(s->at, text->begin);
		r = add_gap(s, MIN_OF(begin, text->end));
		if (begin < text->end)
			s->at = MAX_OF(s->at, end);
		if (end < text->end)
			break;
		s->i++;
	}
	return r;
}

static int subtract(struct table *t, struct sweep *s)
{
	struct {
		int32_t begin;
		int32_t fde;
	} entries[N_ENTRIES];
	int r = 0;

	for (uint32_t i = 0; i < t->n && r == 0; i += N_ENTRIES) {
		uint32_t n = MIN_OF(t->n - i, (uint32_t)N_ENTRIES);

		if (bytes_read(elf_bytes(t->elf), t->file_off + (uint64_t)i * sizeof(*entries),
			       entries, n * sizeof(*entries)) < 0)
			break;
		for (uint32_t k = 0; k < n && r == 0; k++) {
			uint64_t begin = t->hdr_vaddr + (uint64_t)(int64_t)entries[k].begin;
			uint64_t fde = t->hdr_vaddr + (uint64_t)(int64_t)entries[k].fde;
			uint64_t end = begin + fde_bytes(t, fde, begin);

			if (end > begin)
				r = cover(s, begin, end);
		}
	}
	return r == 0 ? cover(s, UINT64_MAX, UINT64_MAX) : r;
}

int nocfi_gaps_find(struct elf *elf, struct nocfi_ranges *ret_gaps)
{
	struct nocfi_ranges text = { 0 };
	struct nocfi_ranges gaps = { 0 };
	_cleanup_free_ struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->elf = elf;
	int r = elf_n_sections(elf) > 0 ? add_sections(elf, &text) : add_segments(elf, &text);
	if (r == 0 && text.n == 0)
		r = add_segments(elf, &text);
	tidy(&text);
	struct sweep sweep = { .text = &text, .gaps = &gaps };
	if (r == 0)
		r = find_table(t) ? subtract(t, &sweep) : cover(&sweep, UINT64_MAX, UINT64_MAX);
	nocfi_ranges_fini(&text);
	if (r < 0)
		nocfi_ranges_fini(&gaps);
	else
		*ret_gaps = gaps;
	return r;
}
