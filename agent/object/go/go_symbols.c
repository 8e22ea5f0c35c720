/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a Go program by address. */
#include "agent/object/go/go_symbols.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/object/go/go_symbols_internal.h"
#include "agent/util/macro.h"

/* Whole pages of the table's entries are told apart by their first one, so that a search reads one of them. */
static int read_pages(struct go_symbols *symbols)
{
	uint32_t n_funcs = gopclntab_n_funcs(symbols->table);
	uint64_t entry, record;

	symbols->n_pages = (n_funcs + GO_SYMBOLS_PAGE_FUNCS - 1) / GO_SYMBOLS_PAGE_FUNCS;
	symbols->pages = calloc(symbols->n_pages, sizeof(*symbols->pages));
	if (!symbols->pages)
		return -ENOMEM;
	int r = gopclntab_entry(symbols->table, 0, &symbols->first, &record);
	if (r != 0)
		return r;
	r = gopclntab_entry(symbols->table, n_funcs, &symbols->end, &record);
	if (r != 0)
		return r;
	for (uint32_t i = 0; i < symbols->n_pages; i++) {
		r = gopclntab_entry(symbols->table, i * GO_SYMBOLS_PAGE_FUNCS, &entry, &record);
		if (r != 0)
			return r;
		symbols->pages[i] = (uint32_t)MIN_OF(entry - symbols->first, (uint64_t)UINT32_MAX);
	}
	return 0;
}

int go_symbols_new(struct elf *elf, struct go_symbols **ret_symbols)
{
	_cleanup_(go_symbols_freep) struct go_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	/* A pair of brackets gets three dots. */
	symbols->raw = BUF_INIT(GOPCLNTAB_MAX_NAME_BYTES + 3);
	int r = gopclntab_new(elf, &symbols->table);
	if (r != 0)
		return r;
	r = read_pages(symbols);
	if (r != 0)
		return r;
	*ret_symbols = TAKE_PTR(symbols);
	return 0;
}

void go_symbols_free(struct go_symbols *symbols)
{
	if (!symbols)
		return;
	gopclntab_free(symbols->table);
	free(symbols->pages);
	buf_fini(&symbols->raw);
	free(symbols);
}

size_t go_symbols_bytes(const struct go_symbols *symbols)
{
	const struct gopclntab *table = symbols->table;
	size_t values = table->values ? table->n_blocks * sizeof(*table->values) : 0;

	return sizeof(*symbols) + sizeof(*table) + values +
	       symbols->n_pages * sizeof(*symbols->pages) + symbols->raw.cap;
}

/* The last page that begins at or before the distance from the first entry. */
static uint32_t page_of(const struct go_symbols *symbols, uint64_t distance)
{
	uint32_t lo = 1;
	uint32_t hi = symbols->n_pages;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (symbols->pages[mid] > distance)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo - 1;
}

/* The last function of a page that begins at or before the entry. */
static int index_in_page(struct go_symbols *symbols, uint32_t page, uint64_t want,
			 uint32_t *ret_index)
{
	uint32_t lo = page * GO_SYMBOLS_PAGE_FUNCS;
	uint32_t hi = MIN_OF(lo + GO_SYMBOLS_PAGE_FUNCS, gopclntab_n_funcs(symbols->table));
	uint64_t entry, record;
	/* The first one fills the window with the page. */
	int r = gopclntab_entry(symbols->table, lo++, &entry, &record);

	assert(page < symbols->n_pages);
	while (r == 0 && lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		r = gopclntab_entry(symbols->table, mid, &entry, &record);
		if (entry > want)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (r != 0)
		return r;
	*ret_index = lo - 1;
	return 0;
}

int go_symbols_find(struct go_symbols *symbols, uint64_t vaddr, struct go_function *ret_function)
{
	uint64_t text = symbols->table->text;
	uint64_t want = vaddr - text;
	uint64_t begin, end, record;
	uint32_t index;

	if (vaddr < text || want < symbols->first || want >= symbols->end)
		return GOPCLNTAB_NONE;
	int r = index_in_page(symbols, page_of(symbols, want - symbols->first), want, &index);
	if (r != 0)
		return r;
	r = gopclntab_entry(symbols->table, index, &begin, &record);
	if (r != 0)
		return r;
	r = gopclntab_entry(symbols->table, index + 1, &end, &record);
	if (r != 0)
		return r;
	/* A table that is damaged may be in no order, or change while it is read. */
	if (want < begin || want >= end || end > symbols->end)
		return GOPCLNTAB_NONE;
	*ret_function = (struct go_function){ text + begin, text + end, index };
	return 0;
}

int go_symbols_name(struct go_symbols *symbols, const struct go_function *function,
		    struct buf *name)
{
	const struct buf *printed;
	struct gopclntab_func func;
	int r = gopclntab_func(symbols->table, function->index, &func);

	if (r != 0)
		return r;
	r = go_symbols_read_name(symbols, func.name_off, &printed);
	if (r != 0)
		return r;
	return buf_append(name, printed->data, printed->len);
}
