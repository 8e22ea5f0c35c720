/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of /proc/kallsyms.
 *
 *	line = address SP type SP name [TAB "[" module "]"] LF		(kernel/kallsyms.c, s_show)
 *
 * The kernel's own part comes sorted, aliases side by side; modules and BPF programs follow in any
 * order, and their symbols too. They are gathered in batches of one module, which are sorted before
 * their names are packed, so that names follow each other as addresses do. Addresses are kept in
 * full until all are there; the index is made then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbol/kallsyms_internal.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* More than any host has loaded; symbols of later ones count as the kernel's own. */
#define MAX_MODULES 4096

/* Of the kernel itself; a module larger than that is several batches. */
#define BATCH_SYMBOLS 4096
/* Names are at least halved by packing. */
#define PACKED_AT_MOST(n_bytes) ((n_bytes) / 2)

struct raw_symbol {
	uint64_t address;
	uint32_t name; /* place in the batch's names; later its number */
	uint16_t module;
	uint16_t rank; /* the smaller the better: binding, then leading underscores */
};

struct raw_symbols {
	struct raw_symbol *items;
	size_t n;
	size_t cap;
};

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
	if (r == 0)
		*ret_module = p->last_module = (uint16_t)p->n_modules++;
	return r;
}

/* Marks of the linker script behind the last function. */
static bool is_end_mark(struct str name)
{
	return str_eq(name, STR_LIT("_etext")) || str_eq(name, STR_LIT("_einittext"));
}

/* The padding before a function, where ftrace and kCFI keep their data (CONFIG_CALL_PADDING): as
 * many symbols as functions, and no code. */
static bool is_padding(struct str name)
{
	return str_starts_with(name, STR_LIT("__pfx_")) || str_starts_with(name, STR_LIT("__cfi_"));
}

static uint16_t rank_of(char type, struct str name)
{
	uint16_t binding = type == 'T' ? 0 : type == 't' ? 2 : 1;
	uint16_t underscores = 0;

	if (is_end_mark(name))
		return UINT16_MAX;
	while (underscores < name.n && underscores < 255 && name.p[underscores] == '_')
		underscores++;
	return (uint16_t)(binding << 8 | underscores);
}

/* True when a is the better name for their address; equal ones stay in the order read. */
static bool is_better(const char *names, const struct raw_symbol *a, const struct raw_symbol *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return strlen(names + a->name) < strlen(names + b->name);
}

static int push(struct raw_symbols *to, const struct raw_symbol *symbol)
{
	if (to->n == to->cap) {
		size_t cap = to->cap + to->cap / 2 + 1024;
		struct raw_symbol *more = reallocarray(to->items, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		to->items = more;
		to->cap = cap;
	}
	to->items[to->n++] = *symbol;
	return 0;
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

static int compare_numbered(const void *va, const void *vb)
{
	const struct raw_symbol *a = va;
	const struct raw_symbol *b = vb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->name < b->name ? -1 : 1;
}

static size_t n_sorted(const struct raw_symbols *s)
{
	size_t n = s->n > 0;

	while (n < s->n && s->items[n - 1].address < s->items[n].address)
		n++;
	return n;
}

/* Of those at one address, the first stays. */
static void unite(struct raw_symbols *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (n == 0 || s->items[i].address != s->items[n - 1].address)
			s->items[n++] = s->items[i];
	s->n = n;
}

static int keep(struct kallsyms_parser *p, struct raw_symbol symbol, struct str name)
{
	symbol.name = (uint32_t)p->names.n;
	int r = kallsyms_names_add(&p->names, symbol.rank == UINT16_MAX ? STR_LIT("") : name);
	return r < 0 ? r : push(&p->all, &symbol);
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

	if (n_sorted(batch) < batch->n) {
		qsort_r(batch->items, batch->n, sizeof(*batch->items), compare_named,
			p->batch_names.data);
		unite(batch);
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

	if (r == 0)
		r = append_name(&p->batch_names, name, &symbol.name);
	if (r < 0)
		return r;
	struct raw_symbol *last = p->batch.n > 0 ? &p->batch.items[p->batch.n - 1] : NULL;
	if (!last || last->address != symbol.address)
		return push(&p->batch, &symbol);
	unite_with_last(&p->batch_names, last, symbol);
	return 0;
}

/* line: what is no such line, no code or padding gives false. The number comes last, being the
 * dearest to read. */
static bool split_line(struct str line, char *ret_type, struct str *ret_name,
		       struct str *ret_module, uint64_t *ret_address)
{
	struct str address;

	if (!str_split(&line, ' ', &address) || line.n < 3 || line.p[1] != ' ' ||
	    !memchr("tTwW", line.p[0], 4))
		return false;
	*ret_type = line.p[0];
	line = (struct str){ line.p + 2, line.n - 2 };
	if (!str_split(&line, '\t', ret_name) || ret_name->n == 0 || is_padding(*ret_name))
		return false;
	line = str_trim(line);
	*ret_module = (struct str){ NULL, 0 };
	/* The format only ever grew at the end. */
	if (line.n > 2 && line.p[0] == '[' && line.p[line.n - 1] == ']')
		*ret_module = (struct str){ line.p + 1, line.n - 2 };
	return str_parse_u64(address, 16, UINT64_MAX, ret_address) == 0 && *ret_address != 0;
}

static int parse_line(struct kallsyms_parser *p, struct str line)
{
	struct raw_symbol symbol = { 0 };
	struct str name, module;
	char type;

	if (!split_line(line, &type, &name, &module, &symbol.address))
		return 0;
	symbol.rank = rank_of(type, name);
	int r = find_module(p, module, &symbol.module);
	return r < 0 ? r : add(p, symbol, name);
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

/* Batches are sorted; the kernel's come in order. Sorting takes as much memory as what is sorted. */
static void sort_all(struct raw_symbols *s)
{
	size_t n = n_sorted(s);
	struct raw_symbol *rest = s->items + n;

	if (n == s->n)
		return;
	qsort(rest, s->n - n, sizeof(*rest), compare_numbered);
	if (rest[0].address <= rest[-1].address)
		qsort(s->items, s->n, sizeof(*rest), compare_numbered);
	unite(s);
}

static bool begins_segment(const struct raw_symbol *s, uint64_t base)
{
	return s->address - base > UINT32_MAX;
}

static bool begins_run(const struct raw_symbol *s)
{
	return s->module != s[-1].module || s->name != s[-1].name + 1;
}

static void count_parts(const struct raw_symbol *s, size_t n, size_t *ret_segments,
			size_t *ret_runs)
{
	uint64_t base = n > 0 ? s[0].address : 0;

	*ret_segments = *ret_runs = n > 0;
	for (size_t i = 1; i < n; i++) {
		*ret_runs += begins_run(&s[i]);
		if (!begins_segment(&s[i], base))
			continue;
		base = s[i].address;
		++*ret_segments;
	}
}

static void fill(struct kallsyms *k, const struct raw_symbol *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || begins_segment(&s[i], k->segments[k->n_segments - 1].base))
			k->segments[k->n_segments++] =
				(struct kallsyms_segment){ s[i].address, (uint32_t)i };
		if (i == 0 || begins_run(&s[i]))
			k->runs[k->n_runs++] =
				(struct kallsyms_run){ (uint32_t)i, s[i].module, s[i].name };
		k->starts[i] = (uint32_t)(s[i].address - k->segments[k->n_segments - 1].base);
	}
	k->n = n;
}

static int build_index(struct kallsyms *k, const struct raw_symbols *all)
{
	size_t n_segments, n_runs;

	count_parts(all->items, all->n, &n_segments, &n_runs);
	k->starts = calloc(all->n, sizeof(*k->starts));
	k->segments = calloc(n_segments, sizeof(*k->segments));
	k->runs = calloc(n_runs, sizeof(*k->runs));
	if (!k->starts || !k->segments || !k->runs)
		return -ENOMEM;
	fill(k, all->items, all->n);
	return 0;
}

static int build(struct kallsyms_parser *p, struct kallsyms *k)
{
	int r = end_batch(p);

	if (r == 0)
		r = kallsyms_names_finish(&p->names);
	if (r < 0)
		return r;
	k->n_skipped = p->n_skipped;
	if (p->all.n == 0) {
		k->state = KALLSYMS_HIDDEN;
		return 0;
	}
	sort_all(&p->all);
	r = build_index(k, &p->all);
	k->modules = calloc(p->n_modules, sizeof(*k->modules));
	if (r < 0 || !k->modules)
		return -ENOMEM;
	memcpy(k->modules, p->modules, p->n_modules * sizeof(*k->modules));
	k->n_modules = p->n_modules;
	k->names = p->names;
	kallsyms_names_init(&p->names);
	k->module_names_bytes = p->module_names.len;
	k->module_names = buf_take(&p->module_names);
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
	if (r == 0)
		r = build(p, k);
	if (r < 0)
		return r;
	*ret_kallsyms = TAKE_PTR(k);
	return 0;
}
