/* SPDX-License-Identifier: Apache-2.0 */
/* The table against its sources: what the kernel half finds at an address is what the sources say there. */
#include <stdio.h>

#include "agent/unwind/row_pieces.h"
#include "agent/unwind/row_rules.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/fake_unwind.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)256 << 20)
#define MAX_SPANS 400
#define MAX_ROWS 200000
#define TEXT_BEGIN 0x401230ULL

struct context {
	struct fake_elf file;
	struct elf *elf;
	struct unwind_info *info;
	struct kernel_arena *arena;
	struct row_table *table;
	struct wire_object object;
	uint64_t text_end;
	struct fake_span spans[2][MAX_SPANS];
	size_t n_spans[2];
	struct fake_row *rows; /* of all spans */
	size_t n_rows;
	uint32_t random;
};

static uint32_t next_random(struct context *w, uint32_t below)
{
	w->random = w->random * 1664525 + 1013904223;
	return (w->random >> 8) % below;
}

static struct unwind_rule rule_number(uint32_t n, bool full)
{
	struct unwind_rule rule = {
		.cfa = RULE_CFA_REG,
		.cfa_reg = n & 1 ? RULE_X86_RBP : RULE_X86_RSP,
		.cfa_off = 32 + (int32_t)n * 8,
		.fp = RULE_FP_CFA,
		.fp_off = -16,
		.ra = RULE_RA_CFA,
		.ra_off = -8,
	};

	if (full)
		rule.ra_off = -24;
	return rule;
}

static struct unwind_info *make_info(uint16_t machine)
{
	struct unwind_info *info = NULL;

	assert_int_equal(unwind_info_new_empty(dwarf_abi(machine), &info), 0);
	return info;
}

static struct context *context_new(uint64_t text_begin, uint64_t text_bytes)
{
	struct context *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->rows = calloc(MAX_ROWS, sizeof(*w->rows));
	assert_non_null(w->rows);
	w->info = make_info(EM_X86_64);
	assert_int_equal(fake_elf_new(&w->file, EM_X86_64, text_begin, text_bytes, &w->elf), 0);
	assert_int_equal(kernel_arena_new(&(struct kernel_arena_options){ .segments_fd = -1,
									  .max_segments = 64 },
					  &w->arena),
			 0);
	w->text_end = text_begin + text_bytes;
	return w;
}

static void context_free(struct context *w)
{
	row_table_free(w->table);
	kernel_arena_free(w->arena);
	unwind_info_free(w->info);
	elf_free(w->elf);
	free(w->rows);
	free(w);
}

static struct fake_span *add_span(struct context *w, size_t source, uint64_t begin,
				  uint32_t n_bytes)
{
	struct fake_span *span = &w->spans[source][w->n_spans[source]++];

	assert_true(w->n_spans[source] <= MAX_SPANS);
	*span = (struct fake_span){ begin, n_bytes, w->rows + w->n_rows, 0 };
	return span;
}

static void add_row(struct context *w, struct fake_span *span, uint64_t vaddr,
		    struct unwind_rule rule)
{
	assert_true(w->n_rows < MAX_ROWS);
	w->rows[w->n_rows++] = (struct fake_row){ vaddr, rule };
	span->n_rows++;
}

static int build(struct context *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->spans); i++)
		if (w->n_spans[i] > 0)
			assert_true(fake_source_add(w->info, w->spans[i], w->n_spans[i]));
	return row_table_build(w->info, w->elf, MAX_BYTES, &w->table);
}

static void build_and_place(struct context *w)
{
	assert_int_equal(build(w), 0);
	assert_int_equal(row_table_place(w->table, w->arena, &w->object), 0);
	assert_int_equal(kernel_arena_used_bytes(w->arena), row_table_stats(w->table)->n_bytes);
}

static void check_address(const struct context *w, uint64_t vaddr)
{
	struct unwind_rule expected = fake_expected(w->info, vaddr);
	struct unwind_rule found;

	row_table_lookup(w->arena, &w->object, vaddr, &found);
	if (memcmp(&found, &expected, sizeof(found)) != 0)
		print_error("at 0x%llx\n", (unsigned long long)vaddr);
	assert_memory_equal(&found, &expected, sizeof(found));
}

static void check_every_address(const struct context *w)
{
	for (uint64_t vaddr = TEXT_BEGIN - 600; vaddr < w->text_end + 70000; vaddr++)
		check_address(w, vaddr);
}

/* Around everything where something may change. */
static void check_borders(const struct context *w)
{
	for (size_t i = 0; i < w->n_rows; i++)
		for (int d = -1; d <= 1; d++)
			check_address(w, w->rows[i].vaddr + (uint64_t)(int64_t)d);
	for (size_t s = 0; s < ARRAY_SIZE(w->spans); s++)
		for (size_t i = 0; i < w->n_spans[s]; i++)
			for (int d = -17; d <= 17; d++)
				check_address(w, w->spans[s][i].begin + w->spans[s][i].n_bytes +
							 (uint64_t)(int64_t)d);
	uint64_t base = w->object.base_vaddr;
	for (uint64_t g = 0; g <= w->object.n_buckets; g += 1 + g % 7)
		for (int d = -1; d <= 1; d++)
			check_address(w, base + g * 256 + (uint64_t)(int64_t)d);
}

struct walk_check {
	const struct context *context;
	uint64_t last_vaddr;
	struct unwind_rule last;
	size_t n;
};

static int check_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct walk_check *c = data;
	struct unwind_rule found;

	assert_true(c->n == 0 || vaddr > c->last_vaddr);
	assert_memory_not_equal(rule, &c->last, sizeof(*rule));
	/* Up to here the one before holds. */
	row_table_lookup(c->context->arena, &c->context->object, vaddr - 1, &found);
	assert_memory_equal(&found, &c->last, sizeof(found));
	row_table_lookup(c->context->arena, &c->context->object, vaddr, &found);
	assert_memory_equal(&found, rule, sizeof(found));
	c->last_vaddr = vaddr;
	c->last = *rule;
	c->n++;
	return 0;
}

static void check_foreach(const struct context *w)
{
	struct walk_check c = { .context = w };

	assert_int_equal(row_table_foreach(w->arena, &w->object, check_row, &c), 0);
	assert_int_equal(c.last.cfa, RULE_CFA_NONE);
}

struct random_row {
	const char *name;
	uint32_t n_spans;
	uint32_t max_span;
	uint32_t max_gap;
	uint32_t max_step; /* between rows */
	uint32_t n_rules;
	uint32_t one_full_in;
	uint32_t seeds;
};

static struct random_row random_rows[] = {
	{ "few rules", 60, 700, 40, 30, 20, 1000, 8 },
	{ "nearly each byte", 20, 500, 20, 2, 200, 50, 8 },
	{ "padding only", 100, 300, 15, 30, 20, 1000, 8 },
	{ "no gaps", 100, 300, 1, 30, 20, 1000, 4 },
	{ "small spans", 300, 4, 20, 3, 5, 1000, 8 },
	{ "254 rules", 60, 2000, 40, 10, 254, 1000, 3 },
	{ "255 rules", 60, 2000, 40, 10, 255, 1000, 3 },
	{ "256 rules", 60, 2000, 40, 10, 256, 1000, 3 },
	{ "1000 rules", 60, 3000, 40, 12, 1000, 1000, 3 },
	{ "1000 rules, escapes over many buckets", 40, 6000, 900, 1500, 1000, 2, 6 },
	{ "full rules", 60, 2000, 40, 20, 200, 2, 4 },
	{ "over pages", 40, 20000, 30000, 9000, 300, 10, 2 },
	{ "over pages, rare rows", 12, 200000, 100000, 90000, 400, 10, 1 },
};

static void fill_random(struct context *w, const struct random_row *row, size_t source)
{
	uint64_t at = TEXT_BEGIN + next_random(w, row->max_gap + 1);

	for (uint32_t i = 0; i < row->n_spans; i++) {
		uint32_t n_bytes = 1 + next_random(w, row->max_span);
		struct fake_span *span = add_span(w, source, at, n_bytes);

		for (uint64_t vaddr = at; vaddr < at + n_bytes;
		     vaddr += 1 + next_random(w, row->max_step)) {
			bool none = next_random(w, 30) == 0;

			add_row(w, span, vaddr,
				none ? (struct unwind_rule){ 0 }
				     : rule_number(next_random(w, row->n_rules),
						   next_random(w, row->one_full_in) == 0));
		}
		at += n_bytes + next_random(w, row->max_gap + 1);
	}
	w->text_end = MAX_OF(w->text_end, at + 100);
}

/* The second source fills the first one's gaps, and reaches into its spans. */
static void random_tables(void **state)
{
	const struct random_row *row = *state;

	for (uint32_t seed = 1; seed <= row->seeds; seed++) {
		struct context *w = context_new(0x400000, (uint64_t)1 << 30);

		w->text_end = 0;
		w->random = seed;
		fill_random(w, row, 0);
		if (seed % 2 == 0)
			fill_random(w, row, 1);
		build_and_place(w);
		assert_true(row->max_span < 10000 ||
			    row_table_stats(w->table)->n_dropped_rows == 0 || seed % 2 == 0);
		if (row_table_stats(w->table)->n_dropped_rows == 0)
			check_borders(w);
		if (row->max_span < 1000 && row_table_stats(w->table)->n_dropped_rows == 0)
			check_every_address(w);
		check_foreach(w);
		context_free(w);
	}
}

static void nothing_at_all(void **state)
{
	struct context *w = context_new(0x400000, 0x10000);

	(void)state;
	assert_int_equal(build(w), ROW_TABLE_NONE);
	struct fake_span *span = add_span(w, 0, TEXT_BEGIN, 100);
	add_row(w, span, TEXT_BEGIN, (struct unwind_rule){ 0 });
	assert_int_equal(build(w), ROW_TABLE_NONE);
	assert_null(w->table);
	context_free(w);
}

static void span_without_rows(void **state)
{
	struct context *w = context_new(0x400000, 0x10000);
	struct fake_span *span;

	(void)state;
	span = add_span(w, 0, TEXT_BEGIN, 16);
	add_row(w, span, span->begin, rule_number(1, false));
	(void)add_span(w, 0, TEXT_BEGIN + 16, 16);
	span = add_span(w, 0, TEXT_BEGIN + 32, 16);
	add_row(w, span, span->begin, rule_number(1, false));
	build_and_place(w);
	check_every_address(w);
	context_free(w);
}

/* A function of a megabyte: pages without rows of their own. */
static void constant_pages(void **state)
{
	struct context *w = context_new(0x400000, 0x200000);
	struct fake_span *span = add_span(w, 0, 0x401000, 0x100000);

	(void)state;
	add_row(w, span, span->begin, rule_number(1, false));
	add_row(w, span, span->begin + 1, rule_number(2, false));
	build_and_place(w);
	const uint32_t *pages = kernel_arena_ptr(w->arena, w->object.pages_at);
	assert_int_equal(w->object.n_buckets, 0x1000);
	assert_int_equal(pages[0] & WIRE_PAGE_CONST, 0);
	for (int i = 1; i < 16; i++)
		assert_int_equal(pages[i], WIRE_PAGE_CONST | 1);
	assert_true(row_table_stats(w->table)->n_bytes < 700);
	assert_int_equal(row_table_stats(w->table)->n_covered_bytes, 0x100000);
	assert_int_equal(row_table_stats(w->table)->n_text_bytes, 0x200000);
	check_borders(w);
	check_foreach(w);
	context_free(w);
}

/* A rule without a code that holds for pages: never a constant page. */
static void long_escape(void **state)
{
	struct context *w = context_new(0x400000, 0x200000);
	struct fake_span *span;

	(void)state;
	span = add_span(w, 0, TEXT_BEGIN, 0x2000);
	/* More than 254 rules that weigh more. */
	for (uint32_t k = 0; k < 10; k++)
		for (uint32_t i = 0; i < 300; i++)
			add_row(w, span, TEXT_BEGIN + k * 300 + i, rule_number(i, false));
	span = add_span(w, 0, TEXT_BEGIN + 0x3000, 0x500);
	add_row(w, span, span->begin, rule_number(400, true));
	build_and_place(w);
	assert_true(row_table_stats(w->table)->n_escapes > 6);
	check_borders(w);
	check_every_address(w);
	check_foreach(w);
	context_free(w);
}

/* Pages without a row of their own whose rule has no code. */
static void pages_of_escapes(void **state)
{
	enum { N = 300, BYTES = 0x40000 };
	struct context *w = context_new(0x400000, (uint64_t)N * BYTES);

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		struct fake_span *span = add_span(w, 0, 0x400000 + (uint64_t)i * BYTES, BYTES);

		add_row(w, span, span->begin, rule_number(i, false));
	}
	build_and_place(w);
	/* Those 46 that are left by 254 codes, in each of their buckets. */
	assert_int_equal(row_table_stats(w->table)->n_escapes, 46 * BYTES / 256);
	check_borders(w);
	check_foreach(w);
	context_free(w);
}

/* One word has no room for their kind. */
static void rules_of_go_are_full(void **state)
{
	static const enum rule_cfa kinds[] = { RULE_CFA_GO_NOTED, RULE_CFA_GO_LEFT };
	struct wire_rule packed;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_false(row_rule_pack(
			&(struct unwind_rule){ .cfa = (uint8_t)kinds[i], .ra_off = -8 }, &packed));
}

/* Whatever a rule says, it comes back whole: one for each kind, and those that one word cannot hold. */
static void every_kind_of_rule(void **state)
{
	static const struct unwind_rule kinds[] = {
		{ .cfa = RULE_CFA_REG, .cfa_reg = 7, .cfa_off = INT32_MAX, .ra_off = -8 },
		{ .cfa = RULE_CFA_REG, .cfa_reg = 15, .cfa_off = INT32_MIN, .ra_off = -8 },
		{ .cfa = RULE_CFA_PLT, .cfa_off = 11, .ra_off = -8 },
		{ .cfa = RULE_CFA_DEREF,
		  .cfa_reg = 6,
		  .cfa_off = -8,
		  .fp = RULE_FP_DEREF,
		  .fp_reg = 6,
		  .ra_off = -8 },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 6,
		  .fp = RULE_FP_DEREF,
		  .fp_reg = 10,
		  .fp_off = -24,
		  .ra_off = -8 },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 6,
		  .fp = RULE_FP_CFA,
		  .fp_off = INT16_MIN,
		  .ra_off = INT16_MIN + 8 },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 6,
		  .fp = RULE_FP_CFA,
		  .fp_off = INT16_MIN - 1,
		  .ra_off = -8 },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 6,
		  .fp = RULE_FP_CFA,
		  .fp_off = INT32_MAX,
		  .ra_off = INT32_MIN + 7 },
		{ .cfa = RULE_CFA_REG, .cfa_reg = 6, .fp = RULE_FP_REG, .fp_reg = 3, .ra_off = -8 },
		{ .cfa = RULE_CFA_REG, .cfa_reg = 6, .fp = RULE_FP_UNDEFINED, .ra_off = -8 },
		{ .cfa = RULE_CFA_REG, .cfa_reg = 6, .ra_off = 8 },
		{ .cfa = RULE_CFA_REG, .cfa_reg = 6, .ra = RULE_RA_REG, .ra_reg = 5 },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 6,
		  .ra = RULE_RA_DEREF,
		  .ra_reg = 7,
		  .ra_off = 8 },
		{ .cfa = RULE_CFA_REG, .cfa_reg = 6, .ra = RULE_RA_UNDEFINED },
		{ .cfa = RULE_CFA_REG, .cfa_reg = 7, .ra = RULE_RA_SIGNAL },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 6,
		  .cfa_off = 16,
		  .fp = RULE_FP_CFA,
		  .fp_off = -16,
		  .ra_off = -8,
		  .flags = RULE_SWITCH },
		{ .cfa = RULE_CFA_PLT, .cfa_off = 0, .ra_off = -8, .flags = RULE_SWITCH },
	};
	struct context *w = context_new(0x400000, 0x10000);
	struct fake_span *span = add_span(w, 0, TEXT_BEGIN, ARRAY_SIZE(kinds));
	struct unwind_rule found;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		add_row(w, span, TEXT_BEGIN + i, kinds[i]);
	build_and_place(w);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		row_table_lookup(w->arena, &w->object, TEXT_BEGIN + i, &found);
		assert_memory_equal(&found, &kinds[i], sizeof(found));
	}
	context_free(w);
}

/* AArch64's frame pointer is no one's on this machine, and the other way round. */
static void both_machines(void **state)
{
	static const struct unwind_rule kinds[] = {
		{ .cfa = RULE_CFA_REG, .cfa_reg = 31, .ra = RULE_RA_REG, .ra_reg = 30 },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 29,
		  .cfa_off = 16,
		  .fp = RULE_FP_DEREF,
		  .fp_reg = 29,
		  .ra_off = -8 },
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = 6,
		  .fp = RULE_FP_DEREF,
		  .fp_reg = 6,
		  .ra_off = -8 },
	};
	struct context *w = context_new(0x400000, 0x10000);
	struct fake_span *span = add_span(w, 0, TEXT_BEGIN, ARRAY_SIZE(kinds));
	struct unwind_rule found;

	(void)state;
	unwind_info_free(w->info);
	w->info = make_info(EM_AARCH64);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		add_row(w, span, TEXT_BEGIN + i, kinds[i]);
	build_and_place(w);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		row_table_lookup(w->arena, &w->object, TEXT_BEGIN + i, &found);
		assert_memory_equal(&found, &kinds[i], sizeof(found));
	}
	context_free(w);
}

/* The weight decides who gets a code; a table is the same each time. */
static void heavy_rules_have_codes(void **state)
{
	struct context *w = context_new(0x400000, 0x200000);
	struct fake_span *span = add_span(w, 0, TEXT_BEGIN, 0x2000);

	(void)state;
	for (uint32_t i = 0; i < 600; i++)
		add_row(w, span, TEXT_BEGIN + 2 * i, rule_number(i, false));
	for (uint32_t i = 0; i < 600; i++)
		add_row(w, span, TEXT_BEGIN + 1200 + i, rule_number(400 + i % 200, false));
	build_and_place(w);
	/* 400 rules of one row each, 200 of four; so 54 of the light ones have codes. */
	assert_int_equal(row_table_stats(w->table)->n_rules, 600);
	assert_true(row_table_stats(w->table)->n_escapes >= 346 &&
		    row_table_stats(w->table)->n_escapes <= 346 + 40);
	check_every_address(w);
	context_free(w);
}

static struct unwind_rule any_of(uint64_t i)
{
	return rule_number((uint32_t)(i & 1), false);
}

/* More rows than a page can number: none is wrong. */
static void row_for_each_byte(void **state)
{
	enum { N = 3 * 65536 };
	struct context *w = context_new(0x400000, 0x200000);
	struct fake_row *rows = calloc(N, sizeof(*rows));
	struct fake_span span = { 0x400000, N, rows, N };
	struct unwind_rule found;
	uint64_t n_none = 0;

	(void)state;
	assert_non_null(rows);
	for (uint64_t i = 0; i < N; i++)
		rows[i] = (struct fake_row){ span.begin + i, any_of(i) };
	assert_true(fake_source_add(w->info, &span, 1));
	assert_int_equal(row_table_build(w->info, w->elf, MAX_BYTES, &w->table), 0);
	assert_int_equal(row_table_place(w->table, w->arena, &w->object), 0);
	for (uint64_t i = 0; i < N; i++) {
		row_table_lookup(w->arena, &w->object, span.begin + i, &found);
		if (found.cfa == RULE_CFA_NONE)
			n_none++;
		else
			assert_memory_equal(&found, &rows[i].rule, sizeof(found));
	}
	/* The last two bytes of each page. */
	assert_int_equal(n_none, 6);
	assert_int_equal(row_table_stats(w->table)->n_dropped_rows, 6);
	free(rows);
	context_free(w);
}

/* So many rules without a code that their escapes do not fit a segment. */
static void too_many_escapes(void **state)
{
	enum { N = 200000, RULES = 60000 };
	struct context *w = context_new(0x400000, 0x400000);
	struct fake_row *rows = calloc(N, sizeof(*rows));
	struct fake_span span = { 0x400000, N * 4, rows, N };
	struct unwind_rule found;
	uint64_t n_none = 0;

	(void)state;
	assert_non_null(rows);
	for (uint32_t i = 0; i < N; i++)
		rows[i] = (struct fake_row){ span.begin + (uint64_t)i * 4,
					     rule_number(i % RULES, false) };
	assert_true(fake_source_add(w->info, &span, 1));
	assert_int_equal(row_table_build(w->info, w->elf, MAX_BYTES, &w->table), 0);
	assert_int_equal(row_table_place(w->table, w->arena, &w->object), 0);
	assert_int_equal(w->object.n_escapes, WIRE_MAX_ESCAPES);
	for (uint32_t i = 0; i < N; i++)
		for (uint64_t d = 0; d < 4; d += 3) {
			row_table_lookup(w->arena, &w->object, rows[i].vaddr + d, &found);
			if (found.cfa == RULE_CFA_NONE)
				n_none++;
			else
				assert_memory_equal(&found, &rows[i].rule, sizeof(found));
		}
	assert_true(n_none > 100000);
	assert_true(row_table_stats(w->table)->n_dropped_rows >= n_none / 2);
	free(rows);
	context_free(w);
}

/* More distinct rules than there are numbers, all of them kept in full: more words than a segment has. */
static void too_many_rules(void **state)
{
	enum { N = 70000 };
	struct context *w = context_new(0x400000, 0x400000);
	struct fake_row *rows = calloc(N, sizeof(*rows));
	struct fake_span span = { 0x400000, N * 4, rows, N };
	struct unwind_rule found;
	uint64_t n_found = 0;

	(void)state;
	assert_non_null(rows);
	for (uint32_t i = 0; i < N; i++)
		rows[i] = (struct fake_row){ span.begin + (uint64_t)i * 4, rule_number(i, true) };
	assert_true(fake_source_add(w->info, &span, 1));
	assert_int_equal(row_table_build(w->info, w->elf, MAX_BYTES, &w->table), 0);
	assert_int_equal(row_table_place(w->table, w->arena, &w->object), 0);
	for (uint32_t i = 0; i < N; i++) {
		row_table_lookup(w->arena, &w->object, rows[i].vaddr, &found);
		if (found.cfa == RULE_CFA_NONE)
			continue;
		n_found++;
		assert_memory_equal(&found, &rows[i].rule, sizeof(found));
	}
	assert_true(n_found > 32000 && n_found < 33000);
	assert_true(row_table_stats(w->table)->n_dropped_rows >= N - n_found);
	free(rows);
	context_free(w);
}

/* What lies 4 GiB and more behind the first row, or outside of the text, is not in the table. */
static void far_text(void **state)
{
	struct context *w = context_new(0x400000, (uint64_t)6 << 30);
	struct unwind_rule found;
	struct fake_span *span;

	(void)state;
	span = add_span(w, 0, 0x1000, 64);
	add_row(w, span, span->begin, rule_number(1, false));
	span = add_span(w, 0, 0x400080, 64);
	add_row(w, span, span->begin, rule_number(2, false));
	span = add_span(w, 0, 0x400000 + ((uint64_t)1 << 32) - 64, 128);
	add_row(w, span, span->begin, rule_number(3, false));
	add_row(w, span, span->begin + 64, rule_number(4, false));
	span = add_span(w, 0, 0x400000 + ((uint64_t)5 << 30), 64);
	add_row(w, span, span->begin, rule_number(5, false));
	build_and_place(w);
	assert_int_equal(w->object.base_vaddr, 0x400000);
	assert_int_equal(w->object.n_buckets, 1u << 24);
	row_table_lookup(w->arena, &w->object, 0x1000, &found);
	assert_int_equal(found.cfa, RULE_CFA_NONE);
	check_address(w, 0x400080);
	check_address(w, 0x400000 + ((uint64_t)1 << 32) - 1);
	check_address(w, 0x400000 + ((uint64_t)1 << 32) - 65);
	row_table_lookup(w->arena, &w->object, 0x400000 + ((uint64_t)1 << 32), &found);
	assert_int_equal(found.cfa, RULE_CFA_NONE);
	/* The one that is cut, and the one beyond. */
	assert_int_equal(row_table_stats(w->table)->n_dropped_rows, 2);
	check_foreach(w);
	context_free(w);
}

/* A span that others cut into many pieces is not read that many times. */
static void span_in_shreds(void **state)
{
	struct context *w = context_new(0x400000, 0x200000);
	struct unwind_rule found;
	struct fake_span *span = add_span(w, 1, 0x400000, 0x100000);

	(void)state;
	add_row(w, span, span->begin, rule_number(7, false));
	for (uint32_t i = 0; i < MAX_SPANS; i++) {
		span = add_span(w, 0, 0x400100 + i * 0x100, 16);
		add_row(w, span, span->begin, rule_number(8, false));
	}
	build_and_place(w);
	assert_int_equal(row_table_stats(w->table)->n_dropped_rows, 1);
	assert_int_equal(row_table_stats(w->table)->n_raw_rows, MAX_SPANS + ROW_PIECES_OF_SPAN);
	for (uint64_t i = 0; i < MAX_SPANS; i++) {
		check_address(w, 0x400100 + i * 0x100);
		row_table_lookup(w->arena, &w->object, 0x400180 + i * 0x100, &found);
		assert_int_equal(found.cfa,
				 i + 1 < ROW_PIECES_OF_SPAN ? RULE_CFA_REG : RULE_CFA_NONE);
	}
	context_free(w);
}

/* Each ceiling is either enough, or told; what is built under one that is just enough is the same. */
static void ceilings(void **state)
{
	struct context *w = context_new(0x400000, 0x2000000);
	struct row_table *table = NULL;
	size_t n_small = 0;

	(void)state;
	w->random = 3;
	fill_random(w, &random_rows[8], 0);
	assert_int_equal(build(w), 0);
	uint64_t n_bytes = row_table_stats(w->table)->n_bytes;
	for (size_t max = 0; max < n_bytes * 12; max += 1 + n_bytes / 16) {
		int r = row_table_build(w->info, w->elf, max, &table);

		if (r == ROW_TABLE_TOO_LARGE) {
			n_small++;
			continue;
		}
		assert_int_equal(r, 0);
		assert_true(row_table_stats(table)->n_bytes <= max);
		assert_memory_equal(row_table_stats(table), row_table_stats(w->table),
				    sizeof(struct row_table_stats));
		row_table_free(table);
	}
	assert_true(n_small > 16);
	((struct fake_source *)unwind_info_source(w->info, 0))->is_too_large = true;
	assert_int_equal(row_table_build(w->info, w->elf, MAX_BYTES, &table), ROW_TABLE_TOO_LARGE);
	context_free(w);
}

#define HELD_BYTES ((size_t)8 << 20)

static int spans_of_a_holder(struct unwind_source *s, struct unwind_spans *spans,
			     struct unwind_source_stats *stats)
{
	spans->held_bytes = HELD_BYTES;
	return fake_spans(s, spans, stats);
}

/* What a source holds while the table is built is part of what building takes. */
static void counts_what_sources_hold(void **state)
{
	struct context *w = context_new(0x400000, 0x1000);
	struct row_table *table = NULL;

	(void)state;
	add_row(w, add_span(w, 0, 0x400100, 0x80), 0x400100, rule_number(1, false));
	assert_int_equal(build(w), 0);
	assert_int_equal(row_table_build(w->info, w->elf, HELD_BYTES - 1, &table), 0);
	row_table_free(table);
	unwind_info_source(w->info, 0)->spans = spans_of_a_holder;
	assert_int_equal(row_table_build(w->info, w->elf, HELD_BYTES - 1, &table),
			 ROW_TABLE_TOO_LARGE);
	assert_int_equal(row_table_build(w->info, w->elf, 2 * HELD_BYTES, &table), 0);
	row_table_free(table);
	context_free(w);
}

/* Whatever little room there is: all or nothing. */
static void no_room(void **state)
{
	struct context *w = context_new(0x400000, 0x2000000);
	struct kernel_arena_options o = { .segments_fd = -1, .max_segments = 1 };
	struct wire_object object = { 0 };
	size_t n_placed = 0;
	size_t n_refused = 0;

	(void)state;
	w->random = 5;
	fill_random(w, &random_rows[11], 0);
	assert_int_equal(build(w), 0);
	uint32_t n_words = (uint32_t)(row_table_stats(w->table)->n_bytes / 8);
	assert_true(n_words > 100);
	for (uint32_t room = 1; room < n_words + 50; room += 1 + n_words / 97) {
		struct kernel_arena *arena = NULL;
		uint32_t at;

		assert_int_equal(kernel_arena_new(&o, &arena), 0);
		assert_int_equal(kernel_arena_take(arena, WIRE_SEGMENT_WORDS - 1 - room, &at), 0);
		uint64_t used = kernel_arena_used_bytes(arena);
		int r = row_table_place(w->table, arena, &object);
		if (r < 0) {
			n_refused++;
			assert_int_equal(r, -ENOSPC);
			assert_int_equal(object.n_buckets, 0);
		} else {
			n_placed++;
			row_table_remove(arena, &object);
			assert_int_equal(kernel_arena_used_bytes(arena), used + n_words * 8);
			kernel_arena_reclaim(arena, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
			object = (struct wire_object){ 0 };
		}
		assert_int_equal(kernel_arena_used_bytes(arena), used);
		/* Every word of it can be had again. */
		assert_int_equal(kernel_arena_take(arena, room, &at), 0);
		assert_int_equal(kernel_arena_take(arena, 1, &at), -ENOSPC);
		kernel_arena_free(arena);
	}
	assert_true(n_placed > 0 && n_refused > 90);
	context_free(w);
}

/* How many words the only segment of an arena has to give. */
static uint32_t words_to_give(const struct kernel_arena_options *o)
{
	struct kernel_arena *arena = NULL;
	uint32_t n_words = WIRE_SEGMENT_BYTES / WIRE_WORD_BYTES;
	uint32_t at;

	assert_int_equal(kernel_arena_new(o, &arena), 0);
	while (kernel_arena_take(arena, n_words, &at) < 0)
		n_words--;
	kernel_arena_free(arena);
	return n_words;
}

/*
 * Each part of a table in turn is the last one of its segment, where four rows cannot be read at once. The last row of a page holds in the
 * buckets that follow: the search begins with it.
 */
static void last_of_a_segment(void **state)
{
	struct context *w = context_new(0x400000, 0x100000);
	struct kernel_arena_options o = { .segments_fd = -1, .max_segments = 1 };
	size_t n_placed = 0;

	(void)state;
	w->random = 5;
	fill_random(w, &random_rows[0], 0);
	add_row(w, add_span(w, 0, TEXT_BEGIN + 0xf000, 0x40000), TEXT_BEGIN + 0xf000,
		rule_number(1, false));
	assert_int_equal(build(w), 0);
	uint32_t n_words = (uint32_t)(row_table_stats(w->table)->n_bytes / 8);
	for (uint32_t room = 1; room < n_words; room++) {
		uint32_t first, rest;

		kernel_arena_free(w->arena);
		assert_int_equal(kernel_arena_new(&o, &w->arena), 0);
		assert_int_equal(kernel_arena_take(w->arena, n_words - room, &first), 0);
		assert_int_equal(kernel_arena_take(w->arena, words_to_give(&o) - n_words, &rest),
				 0);
		kernel_arena_give_unseen(w->arena, first, n_words - room);
		if (row_table_place(w->table, w->arena, &w->object) < 0)
			continue;
		n_placed++;
		check_borders(w);
	}
	assert_true(n_placed > 1);
	context_free(w);
}

/* Places that were others' before hold nothing of them; one table's removal leaves the other alone. */
static void placed_twice(void **state)
{
	struct context *w = context_new(0x400000, 0x2000000);
	struct wire_object first;

	(void)state;
	w->random = 9;
	fill_random(w, &random_rows[9], 0);
	build_and_place(w);
	first = w->object;
	assert_int_equal(row_table_place(w->table, w->arena, &w->object), 0);
	assert_int_not_equal(first.pages_at, w->object.pages_at);
	memset(kernel_arena_ptr(w->arena, first.rules_at), 0xa5, 64);
	row_table_remove(w->arena, &first);
	kernel_arena_reclaim(w->arena, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
	check_borders(w);
	assert_int_equal(row_table_place(w->table, w->arena, &w->object), 0);
	check_borders(w);
	context_free(w);
}

static int stop_at_once(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	(void)vaddr;
	(void)rule;
	++*(int *)data;
	return -ECANCELED;
}

static void foreach_stops(void **state)
{
	struct context *w = context_new(0x400000, 0x2000000);
	int n = 0;

	(void)state;
	w->random = 9;
	fill_random(w, &random_rows[0], 0);
	build_and_place(w);
	assert_int_equal(row_table_foreach(w->arena, &w->object, stop_at_once, &n), -ECANCELED);
	assert_int_equal(n, 1);
	context_free(w);
}

static const struct unit_test tests[] = {
	TEST_ROWS(random_tables, random_rows, name),
	TEST(pages_of_escapes),
	TEST(every_kind_of_rule),
	TEST(rules_of_go_are_full),
	TEST(both_machines),
	TEST(nothing_at_all),
	TEST(span_without_rows),
	TEST(constant_pages),
	TEST(long_escape),
	TEST(row_for_each_byte),
	TEST(heavy_rules_have_codes),
	TEST(too_many_escapes),
	TEST(too_many_rules),
	TEST(far_text),
	TEST(span_in_shreds),
	TEST(ceilings),
	TEST(counts_what_sources_hold),
	TEST(no_room),
	TEST(last_of_a_segment),
	TEST(placed_twice),
	TEST(foreach_stops),
};

TEST_MAIN(tests)
