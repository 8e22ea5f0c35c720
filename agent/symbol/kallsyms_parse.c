/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of /proc/kallsyms.
 *
 * The kernel's own part comes sorted, aliases side by side; modules and BPF programs follow in any
 * order, and their symbols too. They are gathered in batches of one module, which are sorted before
 * their names are packed, so that names follow each other as addresses do. Addresses are kept in
 * full until all are there; the index is made then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbol/kallsyms_raw.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* More than any host has loaded; symbols of later ones count as the kernel's own. */
#define MAX_MODULES 4096

/* Of the kernel itself; a module larger than that is several batches. */
#define BATCH_SYMBOLS 4096
/* Names are at least halved by packing. */
#define PACKED_AT_MOST(n_bytes) ((n_bytes) / 2)

struct kallsyms_parser {
	char line[KALLSYMS_MAX_LINE_BYTES];
	size_t line_len;
	bool skip_line; /* too long */
	size_t max_bytes;
	uint64_t n_skipped;
	struct raw_symbols batch;
	struct buf batch_names;
	struct raw_symbols all;
	struct kallsyms_names names;
	struct buf module_names;
	uint32_t modules[MAX_MODULES];
	size_t n_modules;
	uint16_t last_module;
};

int kallsyms_parser_new(size_t max_bytes, struct kallsyms_parser **ret_parser)
{
	_cleanup_(kallsyms_parser_freep) struct kallsyms_parser *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->max_bytes = MIN_OF(max_bytes, KALLSYMS_MAX_BYTES);
	/* A batch is closed when no alias follows any more: a hostile file may have many. */
	buf_init(&p->batch_names, KALLSYMS_MAX_BYTES);
	buf_init(&p->module_names, (size_t)MAX_MODULES * KALLSYMS_MAX_LINE_BYTES);
	kallsyms_names_init(&p->names);
	/* Place 0 is "", the name of module 0, the kernel. */
	int r = buf_append_char(&p->module_names, '\0');
	if (r < 0)
		return r;
	p->n_modules = 1;
	*ret_parser = TAKE_PTR(p);
	return 0;
}

void kallsyms_parser_free(struct kallsyms_parser *p)
{
	if (!p)
		return;
	free(p->batch.items);
	free(p->all.items);
	buf_fini(&p->batch_names);
	buf_fini(&p->module_names);
	kallsyms_names_fini(&p->names);
	free(p);
}

/* Kernel identifiers are ASCII; anything else is shown as '?', so that every name is valid UTF-8.
 */
static int append_name(struct buf *names, struct str name, uint32_t *ret_place)
{
	size_t place = names->len;
	int r = buf_append(names, name.p, name.n);

	if (r == 0)
		r = buf_append_char(names, '\0');
	if (r < 0) {
		names->len = place;
		return r;
	}
	for (size_t i = place; i < place + name.n; i++)
		if (names->data[i] <= ' ' || names->data[i] > '~')
			names->data[i] = '?';
	*ret_place = (uint32_t)place;
	return 0;
}

static bool is_module(const struct kallsyms_parser *p, size_t i, struct str name)
{
	return str_eq(name, str_from(p->module_names.data + p->modules[i]));
}

static int find_module(struct kallsyms_parser *p, struct str name, uint16_t *ret_module)
{
	if (is_module(p, p->last_module, name)) {
		*ret_module = p->last_module;
		return 0;
	}
	for (size_t i = 0; i < p->n_modules; i++) {
		if (!is_module(p, i, name))
			continue;
		*ret_module = p->last_module = (uint16_t)i;
		return 0;
	}
	if (p->n_modules == MAX_MODULES) {
		*ret_module = 0;
		return 0;
	}
	int r = append_name(&p->module_names, name, &p->modules[p->n_modules]);
	if (r < 0)
		return r;
	*ret_module = p->last_module = (uint16_t)p->n_modules++;
	return 0;
}

/* True when a is the better name for their address; equal ones stay in the order read. */
static bool is_better(const char *names, const struct raw_symbol *a, const struct raw_symbol *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return strlen(names + a->name) < strlen(names + b->name);
}

static int compare_named(const void *va, const void *vb, void *names)
{
	const struct raw_symbol *a = va;
	const struct raw_symbol *b = vb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (is_better(names, a, b))
		return -1;
	if (is_better(names, b, a))
		return 1;
	return a->name < b->name ? -1 : 1;
}

static int keep(struct kallsyms_parser *p, struct raw_symbol symbol, struct str name)
{
	symbol.name = (uint32_t)p->names.n;
	int r = kallsyms_names_add(&p->names, symbol.rank == UINT16_MAX ? STR_LIT("") : name);
	return r < 0 ? r : raw_symbols_push(&p->all, &symbol);
}

static bool has_room(const struct kallsyms_parser *p)
{
	size_t names = p->names.packed.len + p->names.n_blocks * sizeof(uint32_t) +
		       PACKED_AT_MOST(p->names.text.len + p->batch_names.len);
	size_t n = p->all.n + p->batch.n;

	return n <= KALLSYMS_MAX_SYMBOLS && n * sizeof(uint32_t) + names <= p->max_bytes;
}

/* What lies before it does not reach into it. */
static int skip_batch(struct kallsyms_parser *p)
{
	struct raw_symbol hole = p->batch.items[0];

	p->n_skipped += p->batch.n;
	hole.rank = UINT16_MAX;
	return p->all.n < KALLSYMS_MAX_SYMBOLS ? keep(p, hole, STR_LIT("")) : 0;
}

static int end_batch(struct kallsyms_parser *p)
{
	struct raw_symbols *batch = &p->batch;
	int r = 0;

	if (raw_symbols_n_sorted(batch) < batch->n) {
		qsort_r(batch->items, batch->n, sizeof(*batch->items), compare_named,
			p->batch_names.data);
		raw_symbols_unite(batch);
	}
	if (batch->n > 0 && !has_room(p))
		r = skip_batch(p);
	else
		for (size_t i = 0; r == 0 && i < batch->n; i++)
			r = keep(p, batch->items[i],
				 str_from(p->batch_names.data + batch->items[i].name));
	batch->n = 0;
	buf_reset(&p->batch_names);
	return r;
}

/* The better name for the last symbol's address stays, at the place of the other: most aliases cost
 * no memory. */
static void unite_with_last(struct buf *names, struct raw_symbol *last, struct raw_symbol symbol)
{
	size_t n = strlen(names->data + symbol.name) + 1;
	size_t at = symbol.name;

	if (is_better(names->data, &symbol, last)) {
		at = last->name;
		memmove(names->data + at, names->data + symbol.name, n);
		symbol.name = (uint32_t)at;
		at += n;
		*last = symbol;
	}
	names->len = at;
}

/* Ends the batch that the symbol does not belong to. */
static int begin_symbol(struct kallsyms_parser *p, const struct raw_symbol *symbol)
{
	const struct raw_symbol *last = p->batch.n > 0 ? &p->batch.items[p->batch.n - 1] : NULL;

	if (!last || (last->module == symbol->module &&
		      (p->batch.n < BATCH_SYMBOLS || last->address == symbol->address)))
		return 0;
	return end_batch(p);
}

static int add(struct kallsyms_parser *p, struct raw_symbol symbol, struct str name)
{
	int r = begin_symbol(p, &symbol);

	if (r < 0)
		return r;
	r = append_name(&p->batch_names, name, &symbol.name);
	if (r < 0)
		return r;
	struct raw_symbol *last = p->batch.n > 0 ? &p->batch.items[p->batch.n - 1] : NULL;
	if (!last || last->address != symbol.address)
		return raw_symbols_push(&p->batch, &symbol);
	unite_with_last(&p->batch_names, last, symbol);
	return 0;
}

static int parse_line(struct kallsyms_parser *p, struct str text)
{
	struct kallsyms_line line;
	struct raw_symbol symbol = { 0 };

	if (!kallsyms_line_parse(text, &line))
		return 0;
	symbol.address = line.address;
	symbol.rank = line.rank;
	int r = find_module(p, line.module, &symbol.module);
	return r < 0 ? r : add(p, symbol, line.name);
}

static int end_line(struct kallsyms_parser *p)
{
	int r = p->skip_line ? 0 : parse_line(p, (struct str){ p->line, p->line_len });

	p->line_len = 0;
	p->skip_line = false;
	return r;
}

int kallsyms_parser_feed(struct kallsyms_parser *p, const char *text, size_t n)
{
	while (n > 0) {
		const char *newline = memchr(text, '\n', n);
		size_t part = newline ? (size_t)(newline - text) : n;

		if (part > sizeof(p->line) - p->line_len)
			p->skip_line = true;
		else
			memcpy(p->line + p->line_len, text, part);
		p->line_len += p->skip_line ? 0 : part;
		text += part;
		n -= part;
		if (!newline)
			break;
		text++;
		n--;
		int r = end_line(p);
		if (r < 0)
			return r;
	}
	return 0;
}

static int build(struct kallsyms_parser *p, struct kallsyms *k)
{
	int r = end_batch(p);

	if (r < 0)
		return r;
	r = kallsyms_names_finish(&p->names);
	if (r < 0)
		return r;
	k->n_skipped = p->n_skipped;
	if (p->all.n == 0) {
		k->state = KALLSYMS_HIDDEN;
		return 0;
	}
	r = kallsyms_build_index(k, &p->all);
	k->modules = calloc(p->n_modules, sizeof(*k->modules));
	if (r < 0 || !k->modules)
		return -ENOMEM;
	memcpy(k->modules, p->modules, p->n_modules * sizeof(*k->modules));
	k->n_modules = p->n_modules;
	k->names = p->names;
	kallsyms_names_init(&p->names);
	k->module_names_bytes = p->module_names.len;
	k->module_names = buf_take(&p->module_names);
	kallsyms_recent_init(&k->recent, p->max_bytes - MIN_OF(p->max_bytes, kallsyms_bytes(k)));
	return k->module_names ? 0 : -ENOMEM;
}

int kallsyms_parser_finish_take(struct kallsyms_parser *parser, struct kallsyms **ret_kallsyms)
{
	_cleanup_(kallsyms_parser_freep) struct kallsyms_parser *p = parser;
	_cleanup_(kallsyms_freep) struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	kallsyms_names_init(&k->names);
	int r = end_line(p);
	if (r < 0)
		return r;
	r = build(p, k);
	if (r < 0)
		return r;
	*ret_kallsyms = TAKE_PTR(k);
	return 0;
}
