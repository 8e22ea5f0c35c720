/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information as a source.
 *
 * All of it: the section is walked once for what there is, entry by entry, and then each FDE is read for its rows. A section that is packed
 * is unpacked into memory for that; any other is seen through a window, since it may have as many bytes as all that is made of it. A single
 * address: the linker's table leads to its FDE; without a table, or with one that contradicts the FDEs, the heads
 * of all FDEs are looked at through a window. Either way the address belongs to the FDE that begins
 * first of those that hold it, and its rows are those of the same instructions.
 */
#include "agent/object/cfi/cfi.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/object/cfi/cfi_entry.h"
#include "agent/object/cfi/cfi_program.h"
#include "agent/object/cfi/cfi_table.h"
#include "agent/util/macro.h"

/* Two or three CIEs alternate in C++ (with and without a personality routine), one more for each
 * sort of hand-written code. */
#define N_CIES 8
/* A single FDE and its CIE; most have less than 100 bytes. */
#define ENTRY_STEP_BYTES 512
/* For walking over all entries. */
#define WALK_STEP_BYTES 65536
/* For all rows: FDEs are nearly in the order of their functions. One that does not lie behind the one before is read alone. */
#define ROWS_STEP_BYTES 16384
/* Entries of the table in front of the one that is found, which may hold its address too. */
#define TABLE_LOOK_BACK 1

/* Where entries are seen through. */
struct reader {
	struct cfi_window entries;
	struct cfi_window cies;
	struct cfi_table_window *table; /* for searches; borrowed */
};

struct kept_reader;

struct cfi {
	struct unwind_source source;
	struct dwarf_abi
		abi; /* with the register that is followed in the place of the frame pointer */
	struct cfi_section section;
	struct cfi_table table;
	bool table_is_bad;
	struct cfi_cie cies[N_CIES];
	bool has_cie[N_CIES];
	struct reader rows;	  /* from spans() to release() */
	uint64_t last_row_off;	  /* of the FDE that was read last */
	struct kept_reader *kept; /* owned; cfi_extent_at's; NULL: not yet */
};

/* One that goes on from address to address. */
struct kept_reader {
	struct reader reader;
	struct cfi_table_window table;
};

#define READER_INIT(step)                                                                   \
	{                                                                                   \
		.entries = CFI_WINDOW_INIT(step), .cies = CFI_WINDOW_INIT(ENTRY_STEP_BYTES) \
	}

static void reader_fini(struct reader *reader)
{
	cfi_window_fini(&reader->entries);
	cfi_window_fini(&reader->cies);
}

static struct cfi *cfi_of(const struct unwind_source *s)
{
	return CONTAINER_OF(s, struct cfi, source);
}

/* The CIE at that place, remembered from before or parsed now. */
static int get_cie(struct cfi *cfi, struct reader *reader, uint64_t off,
		   const struct cfi_cie **ret_cie)
{
	/* Entries are aligned to 4 or 8. */
	size_t slot = (off >> 3) % N_CIES;
	struct cfi_entry entry;

	if (!cfi->has_cie[slot] || cfi->cies[slot].off != off) {
		int r = cfi_entry_read(&cfi->section, &reader->cies, off, UINT64_MAX, &entry);

		if (r != 0)
			return r;
		cfi_cie_parse(&cfi->section, &entry, &cfi->cies[slot]);
		cfi->has_cie[slot] = true;
	}
	*ret_cie = &cfi->cies[slot];
	return 0;
}

/* An FDE as it lies in the section. */
struct found {
	uint64_t off;
	uint64_t begin;
	uint64_t n_bytes; /* 0: dropped, or not understood */
};

/* What the FDE covers. False: it, or its CIE, is malformed. */
static int read_head(struct cfi *cfi, struct reader *reader, struct cfi_entry *entry,
		     struct found *ret_found, bool *ret_good)
{
	const struct cfi_cie *cie;
	struct cfi_fde fde;
	int r = get_cie(cfi, reader, entry->cie_off, &cie);

	if (r != 0)
		return r;
	*ret_found = (struct found){ .off = entry->off };
	*ret_good = !cie->is_bad && cfi_fde_head(cie, entry, &fde);
	if (*ret_good) {
		ret_found->begin = fde.begin;
		ret_found->n_bytes = MIN_OF(fde.n_bytes, (uint64_t)UINT32_MAX);
	}
	return 0;
}

typedef int (*found_fn)(const struct found *found, void *data);

/* A bad CIE is counted where it stands, and the FDEs that name it are not; that they name none is their own fault. */
static int walk_entry(struct cfi *cfi, struct reader *reader, struct cfi_entry *entry, found_fn fn,
		      void *data, struct unwind_source_stats *stats)
{
	const struct cfi_cie *cie;
	struct found found;
	bool good;
	int r;

	switch (entry->kind) {
	case CFI_ENTRY_CIE:
		r = get_cie(cfi, reader, entry->off, &cie);
		if (r != 0)
			return r;
		stats->n_bad_cies += cie->is_bad;
		return 0;
	case CFI_ENTRY_FDE:
		r = read_head(cfi, reader, entry, &found, &good);
		if (r != 0)
			return r;
		stats->n_bad_fdes += !good;
		return good && found.n_bytes ? fn(&found, data) : 0;
	case CFI_ENTRY_TERMINATOR:
		return 0;
	case CFI_ENTRY_BAD:
	case CFI_ENTRY_END:
		stats->n_bad_fdes++;
		return 0;
	}
	return 0;
}

/* Calls fn for every FDE that covers something, in the order of the section. */
static int walk(struct cfi *cfi, struct reader *reader, found_fn fn, void *data,
		struct unwind_source_stats *stats)
{
	uint64_t off = 0;

	while (off < cfi->section.n_bytes) {
		struct cfi_entry entry;
		int r = cfi_entry_read(&cfi->section, &reader->entries, off, CFI_HEAD_BYTES,
				       &entry);

		if (r != 0)
			return r;
		r = walk_entry(cfi, reader, &entry, fn, data, stats);
		if (r != 0)
			return r;
		if (entry.kind == CFI_ENTRY_END ||
		    (entry.kind == CFI_ENTRY_TERMINATOR && cfi->section.ends_at_terminator))
			break;
		off = entry.next;
	}
	return 0;
}

static int add_span(const struct found *found, void *data)
{
	struct unwind_span span = { found->begin, (uint32_t)found->n_bytes, (uint32_t)found->off };

	return unwind_spans_add(data, &span);
}

/* The ceiling is of the section, whether it is in memory or not: rules that say more are of no file that anybody runs. */
static int hold(struct cfi *cfi, uint64_t max_bytes)
{
	if (cfi->section.n_bytes > max_bytes)
		return UNWIND_SOURCE_TOO_LARGE;
	if (cfi->section.packed.packing == CFI_PACKING_PLAIN)
		return 0;
	return cfi_section_load(&cfi->section, max_bytes);
}

static void cfi_release(struct unwind_source *s)
{
	cfi_section_unload(&cfi_of(s)->section);
	reader_fini(&cfi_of(s)->rows);
}

static int all_spans(struct cfi *cfi, struct unwind_spans *spans, struct unwind_source_stats *stats)
{
	int r = hold(cfi, MIN_OF((uint64_t)spans->max_bytes, CFI_MAX_SECTION_BYTES));

	if (r != 0)
		return r;
	stats->n_bytes += cfi->section.n_bytes;
	r = walk(cfi, &cfi->rows, add_span, spans, stats);
	if (r != 0)
		return r;
	r = unwind_spans_finish(spans, stats);
	if (r != 0)
		return r;
	stats->n_spans += spans->n;
	return spans->n ? 0 : UNWIND_SOURCE_NONE;
}

static int cfi_spans(struct unwind_source *s, struct unwind_spans *spans,
		     struct unwind_source_stats *stats)
{
	int r = all_spans(cfi_of(s), spans, stats);

	if (r != 0) {
		unwind_spans_fini(spans);
		cfi_release(s);
	}
	return r;
}

static int rows_of(struct cfi *cfi, struct reader *reader, uint64_t off, uint64_t begin,
		   uint64_t end, unwind_row_fn fn, void *data, struct unwind_source_stats *stats)
{
	static const struct unwind_rule none;
	const struct cfi_cie *cie;
	struct cfi_entry entry;
	struct cfi_fde fde;
	int r = cfi_entry_read(&cfi->section, &reader->entries, off, UINT64_MAX, &entry);

	if (r != 0)
		return r;
	if (entry.kind == CFI_ENTRY_FDE) {
		r = get_cie(cfi, reader, entry.cie_off, &cie);
		if (r != 0)
			return r;
		/* The file may have changed since the span was found. */
		if (!cie->is_bad && cfi_fde_parse(cie, &entry, &fde) && fde.begin <= begin &&
		    end - fde.begin <= fde.n_bytes)
			return cfi_program_rows(cfi->section.abi, cie, &fde, begin, end, fn, data,
						stats);
	}
	stats->n_bad_fdes++;
	r = fn(begin, &none, data);
	return r < 0 ? r : 0;
}

static int cfi_rows(struct unwind_source *s, const struct unwind_span *span, unwind_row_fn fn,
		    void *data, struct unwind_source_stats *stats)
{
	struct cfi *cfi = cfi_of(s);
	bool goes_on = span->ref - cfi->last_row_off < ROWS_STEP_BYTES;

	cfi->rows.entries.step = goes_on ? ROWS_STEP_BYTES : ENTRY_STEP_BYTES;
	cfi->last_row_off = span->ref;
	return rows_of(cfi, &cfi->rows, span->ref, span->begin, span->begin + span->n_bytes, fn,
		       data, stats);
}

/* Of all FDEs that hold an address, the one that begins first, and of those the first of the section. */
struct search {
	uint64_t vaddr;
	struct found best; /* n_bytes 0: none yet */
	/* The nearest end at or before the address, and the nearest begin behind it, of those that were looked at. */
	uint64_t gap_begin;
	uint64_t gap_end;
};

static int consider(const struct found *found, void *data)
{
	struct search *search = data;
	const struct found *best = &search->best;

	if (found->begin > search->vaddr)
		search->gap_end = MIN_OF(search->gap_end, found->begin);
	else if (search->vaddr - found->begin >= found->n_bytes)
		search->gap_begin = MAX_OF(search->gap_begin, found->begin + found->n_bytes);
	if (search->vaddr - found->begin < found->n_bytes &&
	    (best->n_bytes == 0 || found->begin < best->begin ||
	     (found->begin == best->begin && found->off < best->off)))
		search->best = *found;
	return 0;
}

/* The FDE of one entry of the table, which must say the same of its begin. */
static int consider_entry(struct cfi *cfi, struct reader *reader, uint32_t i, struct search *search,
			  bool *ret_good)
{
	struct cfi_table_entry where;
	struct cfi_entry entry;
	struct found found;
	int r = cfi_table_entry(&cfi->table, elf_bytes(cfi->section.elf), reader->table, i, &where);

	*ret_good = false;
	if (r != 0 || where.fde - cfi->section.vaddr >= cfi->section.n_bytes)
		return r;
	r = cfi_entry_read(&cfi->section, &reader->entries, where.fde - cfi->section.vaddr,
			   CFI_HEAD_BYTES, &entry);
	if (r != 0 || entry.kind != CFI_ENTRY_FDE)
		return r;
	r = read_head(cfi, reader, &entry, &found, ret_good);
	if (r != 0 || !*ret_good)
		return r;
	*ret_good = found.begin == where.begin;
	return *ret_good ? consider(&found, search) : 0;
}

/* By the table. *ret_good is false when it cannot be trusted. */
static int search_table(struct cfi *cfi, struct reader *reader, struct search *search,
			bool *ret_good)
{
	uint32_t n;
	int r = cfi_table_search(&cfi->table, elf_bytes(cfi->section.elf), reader->table,
				 search->vaddr, &n);

	*ret_good = r == 0;
	if (r != 0)
		return r < 0 ? r : 0;
	for (uint32_t i = n; i > 0 && n - i <= TABLE_LOOK_BACK && *ret_good; i--) {
		r = consider_entry(cfi, reader, i - 1, search, ret_good);
		if (r != 0)
			return r;
	}
	/* A miss is believed when the entry behind the address is right too. */
	if (*ret_good && search->best.n_bytes == 0 && n < cfi->table.n)
		return consider_entry(cfi, reader, n, search, ret_good);
	return 0;
}

static int find_fde(struct cfi *cfi, struct search *search)
{
	_cleanup_(reader_fini) struct reader reader = READER_INIT(ENTRY_STEP_BYTES);
	struct cfi_table_window table = { .n = 0 };
	struct unwind_source_stats stats = { 0 };
	uint64_t vaddr = search->vaddr;
	bool good = false;

	reader.table = &table;
	if (cfi->table.n && !cfi->table_is_bad) {
		int r = search_table(cfi, &reader, search, &good);

		if (r != 0 || good)
			return r;
		cfi->table_is_bad = true;
	}
	*search = (struct search){ .vaddr = vaddr };
	reader.entries.step = WALK_STEP_BYTES;
	return walk(cfi, &reader, consider, search, &stats);
}

/* Kept for the next address: names are asked for in order. */
static struct reader *kept_reader(struct cfi *cfi)
{
	if (!cfi->kept) {
		cfi->kept = calloc(1, sizeof(*cfi->kept));
		if (!cfi->kept)
			return NULL;
		cfi->kept->reader = (struct reader)READER_INIT(ENTRY_STEP_BYTES);
		cfi->kept->reader.table = &cfi->kept->table;
	}
	return &cfi->kept->reader;
}

static void drop_reader(struct cfi *cfi)
{
	if (cfi->kept)
		reader_fini(&cfi->kept->reader);
	free(cfi->kept);
	cfi->kept = NULL;
}

int cfi_extent_at(struct unwind_source *source, uint64_t vaddr, struct cfi_extent *ret_extent)
{
	struct search search = { .vaddr = vaddr, .gap_end = UINT64_MAX };
	struct cfi *cfi = cfi_of(source);
	struct reader *reader;
	bool good = false;

	if (!cfi->table.n || cfi->table_is_bad)
		return CFI_NO_TABLE;
	reader = kept_reader(cfi);
	if (!reader)
		return -ENOMEM;
	int r = search_table(cfi, reader, &search, &good);
	if (r != 0)
		return r;
	if (!good) {
		cfi->table_is_bad = true;
		return CFI_NO_TABLE;
	}
	*ret_extent = search.best.n_bytes
			      ? (struct cfi_extent){ search.best.begin,
						     search.best.begin + search.best.n_bytes, true }
			      : (struct cfi_extent){ search.gap_begin, search.gap_end, false };
	return 0;
}

size_t cfi_bytes(const struct unwind_source *source)
{
	const struct cfi *cfi = cfi_of(source);

	return sizeof(*cfi) + (cfi->section.data ? (size_t)cfi->section.n_bytes : 0) +
	       cfi->rows.entries.cap + cfi->rows.cies.cap +
	       (cfi->kept ? sizeof(*cfi->kept) + cfi->kept->reader.entries.cap +
				    cfi->kept->reader.cies.cap
			  : 0);
}

static int keep_rule(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	(void)vaddr;
	*(struct unwind_rule *)data = *rule;
	return 0;
}

static int cfi_rule_at(struct unwind_source *s, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	_cleanup_(reader_fini) struct reader reader = READER_INIT(ENTRY_STEP_BYTES);
	struct cfi *cfi = cfi_of(s);
	struct search search = { .vaddr = vaddr };
	struct unwind_source_stats stats = { 0 };

	if (cfi->section.packed.packing != CFI_PACKING_PLAIN) {
		int r = cfi_section_load(&cfi->section, CFI_MAX_INFLATED_BYTES);

		if (r != 0)
			return r < 0 ? r : UNWIND_SOURCE_NONE;
	}
	int r = find_fde(cfi, &search);
	if (r != 0)
		return r;
	if (search.best.n_bytes == 0)
		return UNWIND_SOURCE_NONE;
	return rows_of(cfi, &reader, search.best.off, vaddr, vaddr + 1, keep_rule, ret_rule,
		       &stats);
}

static void cfi_free(struct unwind_source *s)
{
	if (!s)
		return;
	cfi_release(s);
	drop_reader(cfi_of(s));
	free(cfi_of(s));
}

static int cfi_new(const char *name, const struct cfi_section *section, uint8_t followed,
		   struct unwind_source **ret_source)
{
	struct cfi *cfi = calloc(1, sizeof(*cfi));

	if (!cfi)
		return -ENOMEM;
	cfi->section = *section;
	cfi->rows = (struct reader)READER_INIT(ROWS_STEP_BYTES);
	cfi->abi = *section->abi;
	cfi->abi.fp = followed;
	cfi->section.abi = &cfi->abi;
	cfi->source = (struct unwind_source){ name,	   cfi_spans,	cfi_rows,
					      cfi_rule_at, cfi_release, cfi_free };
	/* A table of another section is of no use. */
	if (!section->is_eh || !cfi_table_open(section->elf, &cfi->table) ||
	    cfi->table.eh_frame_vaddr != section->vaddr)
		cfi->table = (struct cfi_table){ 0 };
	*ret_source = &cfi->source;
	return 0;
}

/* Looked up by halves in the table, then at an entry each: a disk would be asked for one page after the other, some milliseconds each, where
 * it can give all of them in as many. */
static void expect_section(struct elf *elf, const struct cfi_section *section)
{
	struct cfi_table table;

	if (cfi_table_open(elf, &table))
		bytes_expect(elf_bytes(elf), table.file_off, 8 * (uint64_t)table.n);
	bytes_expect(elf_bytes(elf), section->packed.file_off, section->packed.n_packed);
}

int cfi_eh_frame_new(struct elf *elf, struct unwind_source **ret_source)
{
	struct cfi_section section;
	int r = cfi_section_find_eh(elf, &section);

	if (r != 0)
		return r;
	expect_section(elf, &section);
	return cfi_new("eh_frame", &section, section.abi->fp, ret_source);
}

int cfi_register_new(struct elf *elf, uint8_t reg, struct unwind_source **ret_source)
{
	struct cfi_section section;
	int r = cfi_section_find_eh(elf, &section);

	return r == 0 ? cfi_new("eh_frame", &section, reg, ret_source) : r;
}

int cfi_debug_frame_new(struct elf *elf, struct unwind_source **ret_source)
{
	struct cfi_section section;
	int r = cfi_section_find_debug(elf, &section);

	return r == 0 ? cfi_new("debug_frame", &section, section.abi->fp, ret_source) : r;
}
