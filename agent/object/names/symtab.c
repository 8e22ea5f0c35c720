/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of an object. */
#include "agent/object/names/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symtab_build.h"
#include "agent/object/names/symtab_tables.h"
#include "agent/util/macro.h"

/* Symbols are read in pieces of this much: one system call for 2,730 of them. */
#define CHUNK_BYTES ((size_t)64 * 1024)

struct symtab {
	struct symbol_table tables[SYMBOL_TABLE_MAX];
	uint64_t base; /* vaddr that starts count from */
	uint64_t text_end;
	struct symtab_entry *entries; /* ascending by start; owned */
	size_t n;
	uint64_t n_skipped;
};

struct collect {
	const struct elf *elf;
	struct symtab *symtab;
	struct symtab_candidate *candidates; /* owned */
	size_t n;
	size_t cap;
};

static bool is_mapping_symbol(const struct collect *c, const struct symbol_table *table,
			      const struct symbol *s)
{
	char first;

	/* AArch64, Arm and RISC-V mark code and data by local symbols $x, $d …, without type and
	 * size. */
	if (s->type != STT_NOTYPE || s->binding != STB_LOCAL || s->size_bytes != 0)
		return false;
	return s->name_off >= table->strings_bytes ||
	       bytes_read(elf_bytes(c->elf), table->strings_off + s->name_off, &first, 1) < 0 ||
	       first == '$';
}

static bool holds_code(const struct elf_section *section, uint64_t vaddr)
{
	return section && (section->flags & SHF_EXECINSTR) && vaddr >= section->vaddr &&
	       vaddr - section->vaddr < section->size_bytes;
}

/* Where a section was taken out of a linked file, the numbers in .dynsym are still those of before. */
static const struct elf_section *code_section_at(const struct elf *elf, uint64_t vaddr)
{
	for (size_t i = 0; i < elf_n_sections(elf); i++)
		if (holds_code(elf_section(elf, i), vaddr))
			return elf_section(elf, i);
	return NULL;
}

/* The end of the executable section (segment, where there are no sections) that holds the symbol; 0
 * when there is none. */
static uint64_t code_end(const struct collect *c, const struct symbol *s)
{
	if (s->section == SHN_UNDEF || s->section == SHN_ABS || s->section == SHN_COMMON)
		return 0;
	if (elf_n_sections(c->elf) == 0 || s->section == SHN_XINDEX) {
		bool inside = s->value >= c->symtab->base && s->value < c->symtab->text_end;

		return inside && s->type != STT_NOTYPE ? c->symtab->text_end : 0;
	}
	const struct elf_section *section = elf_section(c->elf, s->section);
	if (!holds_code(section, s->value))
		section = s->type == STT_NOTYPE ? NULL : code_section_at(c->elf, s->value);
	return section ? section->vaddr + section->size_bytes : 0;
}

static uint32_t binding_rank(uint8_t binding)
{
	return binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0;
}

static int add(struct collect *c, struct symtab_candidate candidate)
{
	if (c->n == c->cap) {
		size_t cap = c->cap + c->cap / 2 + 256;
		struct symtab_candidate *more = realloc(c->candidates, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->candidates = more;
		c->cap = cap;
	}
	c->candidates[c->n++] = candidate;
	return 0;
}

static int consider(struct collect *c, const struct symbol_table *table, const struct symbol *s,
		    uint32_t ref)
{
	if (s->type != STT_FUNC && s->type != STT_GNU_IFUNC && s->type != STT_NOTYPE)
		return 0;
	uint64_t end = code_end(c, s);
	if (end == 0 || s->name_off == 0 || is_mapping_symbol(c, table, s))
		return 0;
	/* In a file of sense nothing is below; the difference wraps around then. */
	uint64_t start = s->value < c->symtab->base ? UINT64_MAX : s->value - c->symtab->base;
	if (start >= UINT32_MAX || c->n >= SYMTAB_MAX_FUNCTIONS) {
		c->symtab->n_skipped++;
		return 0;
	}
	uint64_t size = s->size_bytes ? s->size_bytes : end - s->value;
	uint32_t rank = ref | binding_rank(s->binding) << SYMTAB_RANK_BINDING_SHIFT;
	if (s->size_bytes == 0)
		rank |= SYMTAB_RANK_UNSIZED;
	if (s->type == STT_NOTYPE)
		rank |= SYMTAB_RANK_NOTYPE;
	return add(c, (struct symtab_candidate){
			      (uint32_t)start, (uint32_t)MIN_OF(size, UINT32_MAX - start), rank });
}

/* A table that is cut short gives what is there. */
static int collect_table(struct collect *c, const struct symbol_table *table, uint32_t ref_kind,
			 char *chunk)
{
	size_t entry_bytes = symbol_table_entry_bytes(table);
	uint32_t per_chunk = (uint32_t)(CHUNK_BYTES / entry_bytes);

	for (uint32_t i = 0; i < table->n; i += per_chunk) {
		uint32_t want = MIN_OF(per_chunk, table->n - i);
		ssize_t got = bytes_read_some(elf_bytes(c->elf),
					      table->file_off + (uint64_t)i * entry_bytes, chunk,
					      want * entry_bytes);

		if (got < 0)
			return (int)got;
		uint32_t have = (uint32_t)((size_t)got / entry_bytes);
		for (uint32_t k = 0; k < have; k++) {
			struct symbol s = symbol_decode(table, chunk + k * entry_bytes);
			int r = consider(c, table, &s, ref_kind | (i + k));

			if (r < 0)
				return r;
		}
		if (have < want)
			return 0;
	}
	return 0;
}

static int collect_all(struct collect *c)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);

	if (!chunk)
		return -ENOMEM;
	int r = collect_table(c, &c->symtab->tables[SYMBOL_TABLE_STATIC], 0, chunk);
	if (r != 0)
		return r;
	return collect_table(c, &c->symtab->tables[SYMBOL_TABLE_DYNAMIC], SYMTAB_REF_DYNAMIC,
			     chunk);
}

static int build(struct collect *c)
{
	int r = collect_all(c);

	if (r < 0 || c->n == 0)
		return r;
	_cleanup_free_ struct symtab_candidate *scratch = malloc(c->n * sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	return symtab_flatten(symtab_sort(c->candidates, scratch, c->n), c->n, &c->symtab->entries,
			      &c->symtab->n);
}

static void choose_tables(struct symtab *symtab, enum symtab_tables tables)
{
	if (tables == SYMTAB_STATIC)
		symtab->tables[SYMBOL_TABLE_DYNAMIC].n = 0;
	if (tables == SYMTAB_DYNAMIC)
		symtab->tables[SYMBOL_TABLE_STATIC].n = 0;
}

int symtab_new(struct elf *elf, struct symtab **ret_symtab)
{
	return symtab_new_of(elf, SYMTAB_ALL, elf, ret_symtab);
}

int symtab_new_of(struct elf *elf, enum symtab_tables tables, const struct elf *text,
		  struct symtab **ret_symtab)
{
	_cleanup_(symtab_freep) struct symtab *symtab = calloc(1, sizeof(*symtab));

	if (!symtab)
		return -ENOMEM;
	/* A broken section table is no section table. */
	int r = elf_load_sections(elf);
	if (r < 0)
		return r;
	if (elf_text_range(text, &symtab->base, &symtab->text_end)) {
		struct collect c = { .elf = elf, .symtab = symtab };

		symbol_tables_find(elf, symtab->tables);
		choose_tables(symtab, tables);
		r = build(&c);
		free(c.candidates);
		if (r < 0)
			return r;
	}
	*ret_symtab = TAKE_PTR(symtab);
	return 0;
}

void symtab_free(struct symtab *symtab)
{
	if (!symtab)
		return;
	free(symtab->entries);
	free(symtab);
}

size_t symtab_bytes(const struct symtab *symtab)
{
	return sizeof(*symtab) + symtab->n * sizeof(*symtab->entries);
}

size_t symtab_n_entries(const struct symtab *symtab)
{
	return symtab->n;
}

uint64_t symtab_n_skipped(const struct symtab *symtab)
{
	return symtab->n_skipped;
}

/* The number of entries whose start is below `start`. */
static size_t lower_bound(const struct symtab *symtab, uint64_t start)
{
	size_t low = 0;
	size_t high = symtab->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (symtab->entries[mid].start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int symtab_locate(const struct symtab *symtab, uint64_t vaddr, uint32_t *ret_entry)
{
	if (vaddr < symtab->base)
		return SYMTAB_NONE;
	/* The last entry that begins at or before the address, then the first of its equals. */
	size_t after = lower_bound(symtab, vaddr - symtab->base + 1);
	if (after == 0)
		return SYMTAB_NONE;
	*ret_entry = (uint32_t)lower_bound(symtab, symtab->entries[after - 1].start);
	return 0;
}

static int read_ref(const struct symtab *symtab, const struct bytes *bytes, uint32_t ref,
		    struct symbol *ret_symbol)
{
	const struct symbol_table *table =
		&symtab->tables[ref & SYMTAB_REF_DYNAMIC ? SYMBOL_TABLE_DYNAMIC
							 : SYMBOL_TABLE_STATIC];

	return symbol_read(table, bytes, ref & SYMTAB_REF_INDEX_MASK, ret_symbol);
}

int symtab_symbol(const struct symtab *symtab, const struct bytes *bytes, uint32_t entry,
		  struct symtab_symbol *ret_symbol)
{
	struct symbol s;

	if (entry >= symtab->n || symtab->entries[entry].ref == SYMTAB_REF_NONE)
		return SYMTAB_NONE;
	uint64_t start = symtab->base + symtab->entries[entry].start;
	int r = read_ref(symtab, bytes, symtab->entries[entry].ref, &s);
	if (r < 0)
		return r == -ENODATA ? SYMTAB_NONE : r;
	uint64_t end = s.value + s.size_bytes;
	if (s.size_bytes == 0) {
		size_t next = lower_bound(symtab, (uint64_t)symtab->entries[entry].start + 1);

		end = next < symtab->n ? symtab->base + symtab->entries[next].start
				       : symtab->text_end;
	}
	if (s.value > start || end <= start)
		return SYMTAB_NONE;
	*ret_symbol = (struct symtab_symbol){ s.value, end, entry, s.size_bytes > 0 };
	return 0;
}

int symtab_find(const struct symtab *symtab, const struct bytes *bytes, uint64_t vaddr,
		struct symtab_piece *ret_piece)
{
	struct symtab_piece piece = { .end = UINT64_MAX };
	uint32_t entry;

	if (symtab_locate(symtab, vaddr, &entry) != 0) {
		piece.end = symtab->n ? symtab->base + symtab->entries[0].start : UINT64_MAX;
		*ret_piece = piece;
		return SYMTAB_NONE;
	}
	size_t next = lower_bound(symtab, (uint64_t)symtab->entries[entry].start + 1);
	piece.begin = symtab->base + symtab->entries[entry].start;
	if (next < symtab->n)
		piece.end = symtab->base + symtab->entries[next].start;
	int r = symtab_symbol(symtab, bytes, entry, &piece.symbol);
	if (r < 0)
		return r;
	if (r == 0 && vaddr < piece.symbol.end) {
		piece.end = MIN_OF(piece.end, piece.symbol.end);
	} else if (r == 0) {
		piece.begin = piece.symbol.end;
		r = SYMTAB_NONE;
	}
	*ret_piece = piece;
	return r;
}

bool symtab_entry_begins(const struct symtab *symtab, size_t i, uint64_t *ret_vaddr)
{
	if (i >= symtab->n || symtab->entries[i].ref == SYMTAB_REF_NONE ||
	    (i > 0 && symtab->entries[i - 1].start == symtab->entries[i].start))
		return false;
	*ret_vaddr = symtab->base + symtab->entries[i].start;
	return true;
}

static int read_name(const struct symtab *symtab, const struct bytes *bytes, uint32_t ref,
		     struct buf *name)
{
	struct symbol s;
	int r = read_ref(symtab, bytes, ref, &s);

	if (r < 0)
		return r;
	return symbol_read_name(&symtab->tables[ref & SYMTAB_REF_DYNAMIC ? SYMBOL_TABLE_DYNAMIC
									 : SYMBOL_TABLE_STATIC],
				bytes, &s, name);
}

/* True when a is the better name. */
static bool is_better(struct str a, struct str b)
{
	size_t a_underscores = 0;
	size_t b_underscores = 0;

	while (a_underscores < a.n && a.p[a_underscores] == '_')
		a_underscores++;
	while (b_underscores < b.n && b.p[b_underscores] == '_')
		b_underscores++;
	if (a_underscores != b_underscores)
		return a_underscores < b_underscores;
	if (a.n != b.n)
		return a.n < b.n;
	return memcmp(a.p, b.p, a.n) < 0;
}

/* The entries that compete with the symbol's own: those at its begin. One that goes on behind an
 * inner symbol has lost that place when it is not among them, and then goes by its own name. */
static void competitors(const struct symtab *symtab, const struct symtab_symbol *symbol,
			size_t *ret_first, size_t *ret_end)
{
	uint64_t start = symbol->begin - symtab->base;
	size_t first = lower_bound(symtab, start);
	size_t end = first;
	bool found = false;

	for (; end < symtab->n && symtab->entries[end].start == start; end++)
		found |= symtab->entries[end].ref == symtab->entries[symbol->entry].ref;
	*ret_first = found ? first : symbol->entry;
	*ret_end = found ? end : (size_t)symbol->entry + 1;
}

int symtab_name(const struct symtab *symtab, const struct bytes *bytes,
		const struct symtab_symbol *symbol, struct buf *name)
{
	_cleanup_buf_ struct buf best = BUF_INIT(SYMTAB_MAX_NAME_BYTES + 1);
	_cleanup_buf_ struct buf other = BUF_INIT(SYMTAB_MAX_NAME_BYTES + 1);
	size_t first, end;

	if (symbol->entry >= symtab->n)
		return SYMTAB_NONE;
	competitors(symtab, symbol, &first, &end);
	for (size_t i = first; i < end; i++) {
		buf_reset(&other);
		int r = read_name(symtab, bytes, symtab->entries[i].ref, &other);
		if (r == -ENODATA)
			continue;
		if (r < 0)
			return r;
		if (best.len == 0 || is_better((struct str){ other.data, other.len },
					       (struct str){ best.data, best.len })) {
			struct buf swap = best;

			best = other;
			other = swap;
		}
	}
	if (best.len == 0)
		return SYMTAB_NONE;
	return buf_append(name, best.data, best.len);
}
