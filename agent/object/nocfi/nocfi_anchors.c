/* SPDX-License-Identifier: Apache-2.0 */
/* Known begins of functions. */
#include "agent/object/nocfi/nocfi_anchors.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symtab.h"
#include "agent/object/names/symtab_tables.h"
#include "agent/object/nocfi/nocfi_insn.h"
#include "agent/util/macro.h"

/* Symbols that are read at once. */
#define N_SYMBOLS 256
#define WINDOW_BYTES 65536

struct collect {
	struct elf *elf;
	const struct nocfi_ranges *gaps;
	const struct nocfi_ranges *called_from;
	struct nocfi_anchor *items; /* owned */
	size_t n;
	size_t cap;
	uint64_t *taken; /* owned */
	size_t n_taken;
	size_t cap_taken;
	size_t max; /* of each */
};

static int add(struct collect *c, struct nocfi_anchor anchor, uint64_t n_bytes)
{
	const struct nocfi_range *gap = nocfi_ranges_at(c->gaps, anchor.vaddr);

	if (!gap || c->n >= c->max)
		return 0;
	if (c->n == c->cap) {
		size_t cap = c->cap * 2 + 64;
		struct nocfi_anchor *items = realloc(c->items, cap * sizeof(*items));

		if (!items)
			return -ENOMEM;
		c->items = items;
		c->cap = cap;
	}
	n_bytes = MIN_OF(n_bytes, gap->end - anchor.vaddr);
	anchor.n_bytes = (uint32_t)MIN_OF(n_bytes, (uint64_t)UINT32_MAX);
	c->items[c->n++] = anchor;
	return 0;
}

static int add_symbol(struct collect *c, const struct symbol_table *table, const struct symbol *s)
{
	_cleanup_buf_ struct buf name = BUF_INIT(SYMTAB_MAX_NAME_BYTES);
	struct nocfi_anchor anchor = { .vaddr = s->value };

	if (symbol_read_name(table, elf_bytes(c->elf), s, &name) == 0)
		anchor.is_part = strstr(buf_str(&name), ".cold") != NULL;
	return add(c, anchor, s->size_bytes);
}

static int add_table(struct collect *c, const struct symbol_table *table)
{
	char entries[N_SYMBOLS * sizeof(Elf64_Sym)];
	size_t entry_bytes = symbol_table_entry_bytes(table);
	int r = 0;

	for (uint32_t i = 0; i < table->n && r == 0; i += N_SYMBOLS) {
		uint32_t n = MIN_OF(table->n - i, (uint32_t)N_SYMBOLS);

		if (bytes_read(elf_bytes(c->elf), table->file_off + (uint64_t)i * entry_bytes,
			       entries, n * entry_bytes) < 0)
			break;
		for (uint32_t k = 0; k < n && r == 0; k++) {
			struct symbol s = symbol_decode(table, entries + k * entry_bytes);

			/* Symbols without a type are labels inside of functions as often. */
			if (s.section != SHN_UNDEF &&
			    (s.type == STT_FUNC || s.type == STT_GNU_IFUNC) &&
			    nocfi_ranges_at(c->gaps, s.value))
				r = add_symbol(c, table, &s);
		}
	}
	return r;
}

static int add_entry(struct collect *c)
{
	Elf64_Ehdr e;

	if (!elf_is_64(c->elf) || bytes_read(elf_bytes(c->elf), 0, &e, sizeof(e)) < 0 ||
	    e.e_entry == 0)
		return 0;
	return add(c, (struct nocfi_anchor){ .vaddr = e.e_entry, .is_entry = true }, 0);
}

static int add_taken(struct collect *c, uint64_t vaddr)
{
	if (!nocfi_ranges_at(c->gaps, vaddr) || c->n_taken >= c->max)
		return 0;
	if (c->n_taken == c->cap_taken) {
		size_t cap = c->cap_taken * 2 + 64;
		uint64_t *taken = realloc(c->taken, cap * sizeof(*taken));

		if (!taken)
			return -ENOMEM;
		c->taken = taken;
		c->cap_taken = cap;
	}
	c->taken[c->n_taken++] = vaddr;
	return 0;
}

/* Position independent code takes a function's address by LEA, other code loads or stores it as a
 * constant. */
static bool takes_address(const struct collect *c, const struct nocfi_insn *i, uint64_t behind,
			  uint64_t *ret_vaddr)
{
	if (i->map != NOCFI_INSN_MAP_1)
		return false;
	if (i->opcode == 0x8d && nocfi_insn_base(i) == NOCFI_INSN_RIP) {
		*ret_vaddr = behind + (uint64_t)(int64_t)i->disp;
		return true;
	}
	if (((i->opcode & 0xf8) == 0xb8 || i->opcode == 0xc7) &&
	    elf_object_type(c->elf) == ET_EXEC) {
		*ret_vaddr = (uint64_t)i->imm;
		return true;
	}
	return false;
}

static int add_of_insn(struct collect *c, const struct nocfi_insn *i, uint64_t behind)
{
	uint64_t vaddr;

	/* A call to the next instruction asks where it is. */
	if (i->map == NOCFI_INSN_MAP_1 && i->opcode == 0xe8 && i->imm != 0)
		return add(c, (struct nocfi_anchor){ .vaddr = behind + (uint64_t)i->imm }, 0);
	return takes_address(c, i, behind, &vaddr) ? add_taken(c, vaddr) : 0;
}

/* Direct calls and addresses among the instructions of a window, one behind the other: code of x86
 * that is entered at a wrong byte soon falls into step again. *ret_used is what was looked at: what
 * may go on behind the window is left to the next one, if there is one. */
static int add_refs_of_window(struct collect *c, const uint8_t *code, size_t n, uint64_t vaddr,
			      bool is_last, size_t *ret_used)
{
	size_t at = 0;
	int r = 0;

	while (r == 0 &&
	       (is_last ? at < n : at + NOCFI_INSN_MAX_BYTES <= n || (at == 0 && n > 0))) {
		struct nocfi_insn i;

		if (!nocfi_insn_decode(code + at, n - at, &i)) {
			at++;
			continue;
		}
		at += i.n_bytes;
		r = add_of_insn(c, &i, vaddr + at);
	}
	*ret_used = at;
	return r;
}

static int add_refs(struct collect *c, const struct nocfi_range *gap, uint8_t *window)
{
	uint64_t at = gap->begin;
	uint64_t file_off;
	int r = 0;

	while (r == 0 && at < gap->end && elf_file_off(c->elf, at, &file_off)) {
		size_t want = (size_t)MIN_OF(gap->end - at, (uint64_t)WINDOW_BYTES);
		ssize_t got = bytes_read_some(elf_bytes(c->elf), file_off, window, want);
		size_t used = 0;

		if (got <= 0)
			break;
		r = add_refs_of_window(c, window, (size_t)got, at, gap->end - at <= (uint64_t)got,
				       &used);
		at += used;
	}
	return r;
}

static int add_all_refs(struct collect *c)
{
	_cleanup_free_ uint8_t *window = malloc(WINDOW_BYTES);
	int r = window ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->called_from->n && r == 0; i++)
		r = add_refs(c, &c->called_from->items[i], window);
	return r;
}

/* Of one address the entry first, then the longest. */
static int by_vaddr(const void *a, const void *b)
{
	const struct nocfi_anchor *x = a;
	const struct nocfi_anchor *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->is_entry != y->is_entry)
		return x->is_entry ? -1 : 1;
	return (x->n_bytes < y->n_bytes) - (x->n_bytes > y->n_bytes);
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t leave_out_inner(struct nocfi_anchor *items, size_t n)
{
	size_t kept = 0;
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		if (items[i].vaddr < end || (kept > 0 && items[kept - 1].vaddr == items[i].vaddr))
			continue;
		end = items[i].vaddr + items[i].n_bytes;
		items[kept++] = items[i];
	}
	return kept;
}

int nocfi_anchors_find(struct elf *elf, const struct nocfi_ranges *gaps,
		       const struct nocfi_ranges *called_from, size_t max,
		       struct nocfi_anchors *ret_anchors)
{
	struct collect c = { .elf = elf, .gaps = gaps, .called_from = called_from, .max = max };
	struct symbol_table tables[SYMBOL_TABLE_MAX];

	symbol_tables_find(elf, tables);
	int r = add_entry(&c);
	for (int i = 0; i < SYMBOL_TABLE_MAX && r == 0; i++)
		r = add_table(&c, &tables[i]);
	if (r == 0)
		r = add_all_refs(&c);
	if (r < 0) {
		free(c.items);
		free(c.taken);
		return r;
	}
	if (c.n > 0)
		qsort(c.items, c.n, sizeof(*c.items), by_vaddr);
	if (c.n_taken > 0)
		qsort(c.taken, c.n_taken, sizeof(*c.taken), by_address);
	*ret_anchors = (struct nocfi_anchors){ c.items, leave_out_inner(c.items, c.n), c.taken,
					       c.n_taken };
	return 0;
}

void nocfi_anchors_fini(struct nocfi_anchors *anchors)
{
	free(anchors->items);
	free(anchors->taken);
	*anchors = (struct nocfi_anchors){ 0 };
}

size_t nocfi_anchors_from(const struct nocfi_anchors *anchors, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = anchors->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (anchors->items[mid].vaddr < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool nocfi_anchors_is_taken(const struct nocfi_anchors *anchors, uint64_t vaddr)
{
	return anchors->n_taken > 0 &&
	       bsearch(&vaddr, anchors->taken, anchors->n_taken, sizeof(vaddr), by_address) != NULL;
}
