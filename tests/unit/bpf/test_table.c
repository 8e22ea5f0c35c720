/* SPDX-License-Identifier: Apache-2.0 */
/* The look-up of bpf/table.h in tables laid out by hand, against going through all rows. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define UNWIND_INLINE static inline
#define UNWIND_SEGMENT(ctx, index) segment_of((ctx), (index))
static inline const char *segment_of(void *ctx, uint32_t index);
#include "bpf/table.h"

#define N_SEGMENTS 3
#define SEGMENT_WORDS (WIRE_SEGMENT_BYTES / WIRE_WORD_BYTES)
#define BASE 0x7f0000401200ULL
#define MAX_ROWS 8000
#define MAX_RULES 600
#define FIRST_WIDE 300 /* rules from here on do not fit into a word */

struct row {
	uint32_t off; /* from BASE */
	uint32_t rule;
};

/* Rows ascending, the first one at 0: rule i of `rules` from there on. */
struct fake {
	char *segments[N_SEGMENTS]; /* owned */
	uint32_t used[N_SEGMENTS];  /* words */
	struct wire_object object;
	struct row rows[MAX_ROWS];
	uint32_t n_rows;
	struct unwind_rule rules[MAX_RULES];
	uint32_t n_rules;
	struct wire_escape *escapes; /* owned */
	uint32_t n_escapes;
	uint64_t seed;
};

static inline const char *segment_of(void *ctx, uint32_t index)
{
	const struct fake *t = ctx;

	return index < N_SEGMENTS ? t->segments[index] : NULL;
}

static uint32_t random_below(struct fake *t, uint32_t n)
{
	return (uint32_t)(hash_u64(t->seed++) % n);
}

static struct fake *fake_new(uint64_t seed)
{
	struct fake *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->seed = seed;
	t->escapes = calloc(4 * MAX_ROWS, sizeof(*t->escapes));
	assert_non_null(t->escapes);
	for (size_t i = 0; i < N_SEGMENTS; i++) {
		t->segments[i] = malloc(WIRE_SEGMENT_BYTES);
		assert_non_null(t->segments[i]);
		/* What lies beside a table is not 0. */
		memset(t->segments[i], 0x99, WIRE_SEGMENT_BYTES);
		t->used[i] = 1 + random_below(t, 50);
	}
	return t;
}

static void fake_free(struct fake *t)
{
	for (size_t i = 0; i < N_SEGMENTS; i++)
		free(t->segments[i]);
	free(t->escapes);
	free(t);
}

DEFINE_CLEANUP(struct fake *, fake_free);

/* Room in some segment. */
static uint32_t take(struct fake *t, uint32_t n_words, void **ret_memory)
{
	uint32_t segment = random_below(t, N_SEGMENTS);
	uint32_t word = t->used[segment];

	assert_true(word + n_words <= SEGMENT_WORDS);
	t->used[segment] += n_words;
	*ret_memory = t->segments[segment] + (size_t)word * WIRE_WORD_BYTES;
	memset(*ret_memory, 0, (size_t)n_words * WIRE_WORD_BYTES);
	return segment * SEGMENT_WORDS + word;
}

/* Rule 0 is none; each other one is another one. */
static void make_rules(struct fake *t, uint32_t n)
{
	t->n_rules = n;
	for (uint32_t i = 1; i < n; i++) {
		bool full = i >= FIRST_WIDE;

		t->rules[i] = (struct unwind_rule){
			.cfa = RULE_CFA_REG,
			.cfa_reg = WIRE_ABI_SP,
			.cfa_off = (int32_t)i * 8,
			.fp = RULE_FP_CFA,
			.fp_off = full ? -100000 - (int32_t)i : -16,
			.ra = RULE_RA_CFA,
			.ra_off = -8,
		};
	}
}

/* | none | a word a rule … | three words of each full one | */
static void lay_rules(struct fake *t)
{
	uint32_t n_full = t->n_rules > FIRST_WIDE ? t->n_rules - FIRST_WIDE : 0;
	uint32_t full_at = t->n_rules;
	void *memory;

	t->object.n_rule_words = t->n_rules + 3 * n_full;
	t->object.rules_at = take(t, t->object.n_rule_words, &memory);
	for (uint32_t i = 1; i < t->n_rules; i++) {
		struct wire_rule packed = { .cfa = RULE_CFA_REG << 5 | WIRE_ABI_SP,
					    .fp_ra = RULE_FP_CFA | WIRE_RA_CFA_8 << 4,
					    .fp_off = -16,
					    .cfa_off = t->rules[i].cfa_off };

		if (i >= FIRST_WIDE) {
			packed = (struct wire_rule){ .cfa = WIRE_RULE_FULL,
						     .cfa_off = (int32_t)full_at };
			memcpy((uint64_t *)memory + full_at, &t->rules[i], sizeof(t->rules[i]));
			full_at += 3;
		}
		memcpy((uint64_t *)memory + i, &packed, sizeof(packed));
	}
}

/* The last row at or before off. */
static const struct row *naive_row(const struct fake *t, uint32_t off)
{
	uint32_t i = 0;

	while (i + 1 < t->n_rows && t->rows[i + 1].off <= off)
		i++;
	return &t->rows[i];
}

static uint16_t code_of(struct fake *t, uint32_t off, uint32_t rule)
{
	if (rule < WIRE_CODE_ESCAPE)
		return (uint16_t)(rule << 8 | (off & 255));
	t->escapes[t->n_escapes++] = (struct wire_escape){ off, rule };
	return (uint16_t)(WIRE_CODE_ESCAPE << 8 | (off & 255));
}

/* The rows of a page as they come; an escape in force is repeated at the begin of each bucket. */
static uint32_t page_rows(struct fake *t, uint32_t page, uint32_t k, uint16_t *first_row,
			  uint16_t *rows)
{
	uint32_t begin = page << 16;
	const struct row *row = naive_row(t, begin);
	uint32_t n = 0;

	rows[n++] = code_of(t, begin, row->rule);
	for (uint32_t g = 0; g < k; g++) {
		uint32_t bucket = begin + g * 256;
		bool repeated = g > 0 && row->rule >= WIRE_CODE_ESCAPE &&
				!(row + 1 < t->rows + t->n_rows && row[1].off == bucket);

		first_row[g] = (uint16_t)n;
		if (repeated)
			rows[n++] = code_of(t, bucket, row->rule);
		for (; row + 1 < t->rows + t->n_rows && row[1].off < bucket + 256; row++)
			rows[n++] = code_of(t, row[1].off, row[1].rule);
	}
	first_row[k] = (uint16_t)n;
	return n;
}

/* One rule from the page's first byte to its last. */
static bool page_is_const(const struct fake *t, uint32_t page, uint32_t *ret_code)
{
	const struct row *row = naive_row(t, page << 16);

	*ret_code = row->rule;
	return row->rule < WIRE_CODE_ESCAPE && naive_row(t, (page << 16) + 0xffff) == row;
}

static uint32_t lay_page(struct fake *t, uint32_t page)
{
	static uint16_t rows[70000];
	uint16_t first_row[257];
	uint32_t left = t->object.n_buckets - (page << 8);
	uint32_t k = left > 256 ? 256 : left;
	uint32_t code;
	void *memory;

	if (page_is_const(t, page, &code))
		return WIRE_PAGE_CONST | code;
	uint32_t n = page_rows(t, page, k, first_row, rows);
	uint32_t at = take(t, ((k + 1 + n) * 2 + 7) / 8, &memory);
	memcpy(memory, first_row, (k + 1) * sizeof(*first_row));
	memcpy((uint16_t *)memory + k + 1, rows, n * sizeof(*rows));
	return at;
}

static void lay_out(struct fake *t, uint32_t n_buckets)
{
	uint32_t n_pages = (n_buckets + 255) / 256;
	void *memory;

	t->object.base_vaddr = BASE;
	t->object.n_buckets = n_buckets;
	lay_rules(t);
	t->object.pages_at = take(t, (n_pages + 1) / 2, &memory);
	for (uint32_t page = 0; page < n_pages; page++)
		((uint32_t *)memory)[page] = lay_page(t, page);
	t->object.n_escapes = t->n_escapes;
	if (t->n_escapes == 0)
		return;
	t->object.escapes_at = take(t, t->n_escapes, &memory);
	memcpy(memory, t->escapes, t->n_escapes * sizeof(*t->escapes));
}

static void check_off(struct fake *t, uint32_t off)
{
	const struct unwind_rule *expected = &t->rules[naive_row(t, off)->rule];
	struct unwind_rule found;

	table_lookup(t, &t->object, BASE + off, &found);
	assert_memory_equal(&found, expected, sizeof(found));
}

/* Around each row, around each bucket, and anywhere. */
static void check_all(struct fake *t)
{
	uint32_t n_bytes = t->object.n_buckets * 256;
	struct unwind_rule none = { 0 };
	struct unwind_rule found;

	for (uint32_t i = 0; i < t->n_rows; i += 1 + t->n_rows / 500)
		for (int d = -1; d <= 1; d++)
			if (t->rows[i].off + (uint32_t)d < n_bytes)
				check_off(t, t->rows[i].off + (uint32_t)d);
	for (uint32_t g = 0; g < t->object.n_buckets; g += 1 + t->object.n_buckets / 300) {
		check_off(t, g * 256);
		check_off(t, g * 256 + 255);
	}
	for (unsigned int i = 0; i < 500; i++)
		check_off(t, random_below(t, n_bytes));
	check_off(t, n_bytes - 1);
	table_lookup(t, &t->object, BASE + n_bytes, &found);
	assert_memory_equal(&found, &none, sizeof(found));
	table_lookup(t, &t->object, BASE - 1, &found);
	assert_memory_equal(&found, &none, sizeof(found));
	table_lookup(t, &t->object, BASE + (1ULL << 40), &found);
	assert_memory_equal(&found, &none, sizeof(found));
}

static void add_row(struct fake *t, uint32_t off, uint32_t rule)
{
	assert_true(t->n_rows < MAX_ROWS && rule < MAX_RULES);
	t->rows[t->n_rows++] = (struct row){ off, rule };
}

struct shape {
	const char *name;
	uint32_t n_buckets;
	uint32_t spacing; /* of rows, at most */
	uint32_t n_rules;
};

static const struct shape shapes[] = {
	{ "one_bucket", 1, 40, 5 },
	{ "one_bucket_a_row_a_byte", 1, 1, 200 },
	{ "seven_rows_or_eight", 40, 35, 30 },
	{ "a_page", 256, 100, 254 },
	{ "a_page_and_a_bucket", 257, 100, 255 },
	{ "a_page_less_a_bucket", 255, 100, 256 },
	{ "escapes", 300, 60, 300 },
	{ "wide_rules", 300, 60, MAX_RULES },
	{ "a_row_a_byte", 28, 1, MAX_RULES },
	{ "rows_far_apart", 256 * 20 + 17, 60000, 20 },
	{ "escapes_far_apart", 256 * 20 + 17, 60000, MAX_RULES },
	{ "pages_of_one_rule", 256 * 100 + 3, 400000, 10 },
};

static void test_shape(void **state)
{
	const struct shape *shape = *state;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		_cleanup_(fake_freep) struct fake *t = fake_new(seed * 1000);

		make_rules(t, shape->n_rules);
		add_row(t, 0, random_below(t, shape->n_rules));
		for (uint32_t off = 0; t->n_rows < MAX_ROWS;) {
			off += 1 + random_below(t, shape->spacing);
			if (off >= shape->n_buckets * 256)
				break;
			add_row(t, off, random_below(t, shape->n_rules));
		}
		lay_out(t, shape->n_buckets);
		check_all(t);
	}
}

/* Every number of rows in a bucket, with the searched byte at every place. */
static void test_every_number_of_rows(void **state)
{
	(void)state;
	for (uint32_t n = 0; n <= 256; n += n < 20 ? 1 : 13) {
		_cleanup_(fake_freep) struct fake *t = fake_new(n);

		make_rules(t, 254);
		add_row(t, 0, 1);
		for (uint32_t i = 0; i < n; i++)
			add_row(t, 256 + i * 256 / n, 2 + i % 250);
		add_row(t, 512, 0);
		lay_out(t, 3);
		for (uint32_t off = 0; off < 3 * 256; off++)
			check_off(t, off);
	}
}

static void test_const_pages(void **state)
{
	_cleanup_(fake_freep) struct fake *t = fake_new(1);
	const uint32_t *pages;

	(void)state;
	make_rules(t, 300);
	add_row(t, 0, 254);
	add_row(t, 1 << 16, 0);	  /* a page without rules */
	add_row(t, 2 << 16, 299); /* an escape is no code of a page */
	add_row(t, (3 << 16) + 5, 3);
	add_row(t, 4 << 16, 7);
	lay_out(t, 5 * 256);
	pages = (const uint32_t *)(segment_of(t, TABLE_SEGMENT_OF(t->object.pages_at)) +
				   TABLE_BYTE_OF(t->object.pages_at));
	assert_int_equal(pages[0], WIRE_PAGE_CONST | 254);
	assert_int_equal(pages[1], WIRE_PAGE_CONST);
	assert_int_equal(pages[2] & WIRE_PAGE_CONST, 0);
	assert_int_equal(pages[4], WIRE_PAGE_CONST | 7);
	check_all(t);
}

/* As many escapes as a segment holds, of text that reaches far beyond 2^31. */
static uint32_t escape_off(uint32_t i)
{
	return i < WIRE_MAX_ESCAPES / 2 ? i * 2 : 3000000000u + i * 2;
}

static void test_most_escapes(void **state)
{
	_cleanup_(fake_freep) struct fake *t = fake_new(1);
	struct wire_escape *escapes = (struct wire_escape *)t->segments[1];
	struct wire_object object = { .escapes_at = SEGMENT_WORDS + 1,
				      .n_escapes = WIRE_MAX_ESCAPES };

	(void)state;
	for (uint32_t i = 0; i < WIRE_MAX_ESCAPES; i++)
		escapes[1 + i] = (struct wire_escape){ escape_off(i), 1 + i };
	for (uint32_t i = 0; i < WIRE_MAX_ESCAPES; i += 1 + i % 50)
		assert_int_equal(table_escape(t, &object, escape_off(i)), 1 + i);
	assert_int_equal(table_escape(t, &object, escape_off(WIRE_MAX_ESCAPES - 1)),
			 WIRE_MAX_ESCAPES);
	/* Rows that have none. */
	assert_int_equal(table_escape(t, &object, 1), 0);
	assert_int_equal(table_escape(t, &object, 2000000000), 0);
	assert_int_equal(table_escape(t, &object, UINT32_MAX), 0);
	object.n_escapes = 0;
	assert_int_equal(table_escape(t, &object, 0), 0);
}

struct packed_case {
	const char *name;
	struct wire_rule packed;
	struct unwind_rule rule;
};

#define REG(reg) (RULE_CFA_REG << 5 | (reg))

static const struct packed_case packed_cases[] = {
	{ "usual",
	  { REG(WIRE_ABI_SP), RULE_FP_CFA | WIRE_RA_CFA_8 << 4, -16, 64 },
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = WIRE_ABI_SP,
	    .cfa_off = 64,
	    .fp = RULE_FP_CFA,
	    .fp_off = -16,
	    .ra = RULE_RA_CFA,
	    .ra_off = -8 } },
	{ "ra_beside_fp",
	  { REG(WIRE_ABI_FP), RULE_FP_CFA | WIRE_RA_FP_8 << 4, -32, 96 },
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = WIRE_ABI_FP,
	    .cfa_off = 96,
	    .fp = RULE_FP_CFA,
	    .fp_off = -32,
	    .ra = RULE_RA_CFA,
	    .ra_off = -24 } },
	{ "ra_in_link_register",
	  { REG(WIRE_ABI_SP), RULE_FP_SAME | WIRE_RA_LINK << 4, 0, 0 },
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = WIRE_ABI_SP,
	    .ra = RULE_RA_REG,
	    .ra_reg = RULE_ARM64_LR } },
	{ "outermost",
	  { REG(WIRE_ABI_SP), RULE_FP_SAME | WIRE_RA_UNDEFINED << 4, 0, 8 },
	  { .cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .cfa_off = 8, .ra = RULE_RA_UNDEFINED } },
	{ "signal",
	  { REG(WIRE_ABI_SP), RULE_FP_SAME | WIRE_RA_SIGNAL << 4, 0, 0 },
	  { .cfa = RULE_CFA_REG, .cfa_reg = WIRE_ABI_SP, .ra = RULE_RA_SIGNAL } },
	{ "plt",
	  { RULE_CFA_PLT << 5, RULE_FP_SAME, 0, 11 },
	  { .cfa = RULE_CFA_PLT, .cfa_off = 11, .ra = RULE_RA_CFA, .ra_off = -8 } },
	{ "deref_and_fp_deref",
	  { RULE_CFA_DEREF << 5 | WIRE_ABI_FP, RULE_FP_DEREF, 0, -8 },
	  { .cfa = RULE_CFA_DEREF,
	    .cfa_reg = WIRE_ABI_FP,
	    .cfa_off = -8,
	    .fp = RULE_FP_DEREF,
	    .fp_reg = WIRE_ABI_FP,
	    .ra = RULE_RA_CFA,
	    .ra_off = -8 } },
	{ "fp_undefined",
	  { REG(31), RULE_FP_UNDEFINED, 0, INT32_MAX },
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = 31,
	    .cfa_off = INT32_MAX,
	    .fp = RULE_FP_UNDEFINED,
	    .ra = RULE_RA_CFA,
	    .ra_off = -8 } },
	{ "switch",
	  { WIRE_RULE_SWITCH | REG(WIRE_ABI_FP), RULE_FP_CFA, INT16_MIN, INT32_MIN },
	  { .cfa = RULE_CFA_REG,
	    .cfa_reg = WIRE_ABI_FP,
	    .cfa_off = INT32_MIN,
	    .fp = RULE_FP_CFA,
	    .fp_off = INT16_MIN,
	    .ra = RULE_RA_CFA,
	    .ra_off = -8,
	    .flags = RULE_SWITCH } },
};

static void test_packed(void **state)
{
	const struct packed_case *c = *state;
	_cleanup_(fake_freep) struct fake *t = fake_new(1);
	struct wire_object object = { .rules_at = SEGMENT_WORDS * 2 + 100 };
	struct unwind_rule found;

	uint64_t word;

	memcpy(&word, &c->packed, sizeof(word));
	table_unpack(t, &object, word, &found);
	assert_memory_equal(&found, &c->rule, sizeof(found));
}

/* A table that points to segments which are not there says nothing. */
static void test_missing_segments(void **state)
{
	_cleanup_(fake_freep) struct fake *t = fake_new(1);
	struct unwind_rule none = { 0 };
	struct unwind_rule found;

	(void)state;
	make_rules(t, 400);
	add_row(t, 0, 399);
	add_row(t, 100, 2);
	lay_out(t, 2);
	check_off(t, 0);
	check_off(t, 200);
	for (size_t i = 0; i < N_SEGMENTS; i++) {
		free(t->segments[i]);
		t->segments[i] = NULL;
		table_lookup(t, &t->object, BASE, &found);
	}
	assert_memory_equal(&found, &none, sizeof(found));
}

/* All rows of the last bucket of a segment; behind them is its last word, and then nobody's memory. */
static void test_rows_at_the_end_of_a_segment(void **state)
{
	char *segment = malloc(WIRE_SEGMENT_BYTES);

	(void)state;
	assert_non_null(segment);
	for (uint32_t n = 1; n <= 256; n++) {
		uint32_t rows_byte = WIRE_SEGMENT_BYTES - WIRE_WORD_BYTES - n * 2;

		for (uint16_t i = 0; i < n; i++) {
			uint16_t row = (uint16_t)(i | (i + 1) << 8);

			memcpy(segment + rows_byte + i * 2, &row, sizeof(row));
		}
		for (uint32_t low = 0; low < 256; low++)
			assert_int_equal(table_search(segment, rows_byte, 1, n, low) & 0xff,
					 MIN_OF(low, n - 1));
	}
	free(segment);
}

static const struct unit_test tests[] = {
	TEST(test_every_number_of_rows),
	TEST(test_const_pages),
	TEST(test_most_escapes),
	TEST(test_missing_segments),
	TEST(test_rows_at_the_end_of_a_segment),
	TEST_ROWS(test_shape, shapes, name),
	TEST_ROWS(test_packed, packed_cases, name),
};

TEST_MAIN(tests)
