/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of /proc/kallsyms.
 *
 *	line = address SP type SP name [TAB "[" module "]"] LF		(kernel/kallsyms.c, s_show)
 *
 * The kernel's own part comes sorted, aliases side by side; modules and BPF programs follow in any
 * order. While text is read, symbols are kept with full addresses; the index is made when all is
 * there.
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

struct raw_symbol {
	uint64_t address;
	uint32_t name;
	uint16_t module;
	uint16_t rank; /* the smaller the better: binding, then leading underscores */
};

struct kallsyms_parser {
	char line[KALLSYMS_MAX_LINE_BYTES];
	size_t line_len;
	bool skip_line; /* too long */
	struct raw_symbol *symbols;
	size_t n;
	size_t cap;
	struct buf names;
	uint32_t modules[MAX_MODULES];
	size_t n_modules;
	uint16_t last_module;
};

int kallsyms_parser_new(struct kallsyms_parser **ret_parser)
{
	_cleanup_(kallsyms_parser_freep) struct kallsyms_parser *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	buf_init(&p->names, KALLSYMS_MAX_NAMES_BYTES);
	/* Place 0 is "", the name of module 0, the kernel. */
	int r = buf_append_char(&p->names, '\0');
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
	free(p->symbols);
	buf_fini(&p->names);
	free(p);
}

/* Kernel identifiers are ASCII; anything else is shown as '?', so that every name is valid UTF-8.
 */
static int append_name(struct kallsyms_parser *p, struct str name, uint32_t *ret_place)
{
	size_t place = p->names.len;
	int r = buf_append(&p->names, name.p, name.n);

	if (r == 0)
		r = buf_append_char(&p->names, '\0');
	if (r < 0) {
		p->names.len = place;
		return r;
	}
	for (size_t i = place; i < place + name.n; i++)
		if (p->names.data[i] <= ' ' || p->names.data[i] > '~')
			p->names.data[i] = '?';
	*ret_place = (uint32_t)place;
	return 0;
}

static bool is_module(const struct kallsyms_parser *p, size_t i, struct str name)
{
	return str_eq(name, str_from(p->names.data + p->modules[i]));
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
	int r = append_name(p, name, &p->modules[p->n_modules]);
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

static int add(struct kallsyms_parser *p, struct raw_symbol symbol)
{
	struct raw_symbol *last = p->n > 0 ? &p->symbols[p->n - 1] : NULL;

	if (last && last->address == symbol.address && last->module == symbol.module) {
		/* The better name stays, at the place of the other: most aliases cost no memory. */
		bool better = is_better(p->names.data, &symbol, last);
		size_t n = strlen(p->names.data + symbol.name) + 1;
		size_t at = better ? last->name : symbol.name;

		if (better && last->name < symbol.name) {
			memmove(p->names.data + at, p->names.data + symbol.name, n);
			symbol.name = (uint32_t)at;
			at += n;
		}
		p->names.len = at;
		if (better)
			*last = symbol;
		return 0;
	}
	if (p->n == KALLSYMS_MAX_SYMBOLS)
		return -ENOBUFS;
	if (p->n == p->cap) {
		size_t cap = p->cap + p->cap / 2 + 1024;
		struct raw_symbol *more = realloc(p->symbols, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->symbols = more;
		p->cap = cap;
	}
	p->symbols[p->n++] = symbol;
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
	if (r == 0)
		r = append_name(p, name, &symbol.name);
	return r < 0 ? r : add(p, symbol);
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

static int compare(const void *va, const void *vb, void *names)
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

static size_t sort_unique(struct kallsyms_parser *p)
{
	size_t n = 0;

	qsort_r(p->symbols, p->n, sizeof(*p->symbols), compare, p->names.data);
	for (size_t i = 0; i < p->n; i++)
		if (n == 0 || p->symbols[i].address != p->symbols[n - 1].address)
			p->symbols[n++] = p->symbols[i];
	return n;
}

/* Where a new segment or run begins. */
static bool begins_segment(const struct raw_symbol *s, uint64_t base)
{
	return s->address - base > UINT32_MAX;
}

static void count_parts(const struct raw_symbol *s, size_t n, size_t *ret_segments,
			size_t *ret_runs)
{
	uint64_t base = n > 0 ? s[0].address : 0;

	*ret_segments = *ret_runs = n > 0;
	for (size_t i = 1; i < n; i++) {
		*ret_runs += s[i].module != s[i - 1].module;
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
		if (i == 0 || s[i].module != s[i - 1].module)
			k->runs[k->n_runs++] = (struct kallsyms_run){ (uint32_t)i, s[i].module };
		uint64_t start = s[i].address - k->segments[k->n_segments - 1].base;
		k->entries[i] = (struct kallsyms_entry){ (uint32_t)start, s[i].rank == UINT16_MAX
										  ? KALLSYMS_HOLE
										  : s[i].name };
	}
	k->n = n;
}

static int build(struct kallsyms_parser *p, struct kallsyms *k)
{
	size_t n_segments, n_runs;

	if (p->n == 0) {
		k->state = KALLSYMS_HIDDEN;
		return 0;
	}
	size_t n = sort_unique(p);
	count_parts(p->symbols, n, &n_segments, &n_runs);
	k->entries = calloc(n, sizeof(*k->entries));
	k->segments = calloc(n_segments, sizeof(*k->segments));
	k->runs = calloc(n_runs, sizeof(*k->runs));
	k->modules = calloc(p->n_modules, sizeof(*k->modules));
	if (!k->entries || !k->segments || !k->runs || !k->modules)
		return -ENOMEM;
	fill(k, p->symbols, n);
	memcpy(k->modules, p->modules, p->n_modules * sizeof(*k->modules));
	k->n_modules = p->n_modules;
	k->names_bytes = p->names.len;
	k->names = buf_take(&p->names);
	if (!k->names)
		return -ENOMEM;
	char *less = realloc(k->names, k->names_bytes);
	k->names = less ? less : k->names;
	return 0;
}

int kallsyms_parser_finish_take(struct kallsyms_parser *parser, struct kallsyms **ret_kallsyms)
{
	_cleanup_(kallsyms_parser_freep) struct kallsyms_parser *p = parser;
	_cleanup_(kallsyms_freep) struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	int r = end_line(p);
	if (r == 0)
		r = build(p, k);
	if (r < 0)
		return r;
	*ret_kallsyms = TAKE_PTR(k);
	return 0;
}
