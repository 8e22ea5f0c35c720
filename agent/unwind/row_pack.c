/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collected rows into the blocks of bpf/table.h.
 *
 * What the form cannot hold becomes "no rule" from there on, and is counted: rows of a page whose number does not fit 16 bits, escapes
 * beyond a segment of them, rules beyond a segment of words.
 */
#include "agent/unwind/row_collect.h"
#include "agent/unwind/row_table_internal.h"
#include "agent/util/macro.h"

/* first_row[k] is the number of rows. */
#define MAX_BLOCK_ROWS 65535

/* The page under way. */
struct page {
	const struct row_collect *collect;
	struct row_table *table;
	struct row_budget *budget;
	const uint32_t *rows; /* those that begin in it */
	size_t n;
	uint32_t number;
	uint32_t n_buckets;
	uint16_t *first_row; /* of the block */
	uint16_t *out;	     /* rows of the block */
	uint32_t n_out;
	uint32_t escape; /* index of the rule in force if it has no code, else 0 */
	uint16_t carry;	 /* id in force at the page's begin, then behind its last row */
};

static uint32_t index_of(const struct page *p, uint16_t id)
{
	return p->table->rules.index_of[id];
}

static uint16_t id_of(uint32_t row)
{
	return (uint16_t)(row >> 16);
}

static uint32_t off_of(uint32_t row)
{
	return row & (ROW_PAGE_BYTES - 1);
}

/* False: no room, the row becomes "no rule". */
static bool has_room_for(const struct page *p, uint32_t index)
{
	if (p->n_out + 1 >= MAX_BLOCK_ROWS)
		return false;
	return index < WIRE_CODE_ESCAPE || p->table->n_escapes < WIRE_MAX_ESCAPES;
}

static int add_escape(struct page *p, uint32_t off, uint32_t index)
{
	struct row_table *t = p->table;
	int r = row_budget_grow(p->budget, &t->escapes, &t->cap_escapes, sizeof(*t->escapes),
				t->n_escapes + 1);

	if (r == 0)
		t->escapes[t->n_escapes++] =
			(struct wire_escape){ p->number * ROW_PAGE_BYTES + off, index };
	return r;
}

/* The row of a rule that has no code. */
static int put_escape(struct page *p, uint32_t off, uint32_t index)
{
	p->out[p->n_out++] = (uint16_t)(WIRE_CODE_ESCAPE << 8 | (off & 0xff));
	p->escape = index;
	return add_escape(p, off, index);
}

static int put(struct page *p, uint32_t off, uint32_t index)
{
	if (p->n_out == MAX_BLOCK_ROWS) {
		p->table->stats.n_dropped_rows++;
		return 0;
	}
	if (index != 0 && !has_room_for(p, index)) {
		p->table->stats.n_dropped_rows++;
		index = 0;
	}
	if (index >= WIRE_CODE_ESCAPE)
		return put_escape(p, off, index);
	p->out[p->n_out++] = (uint16_t)(index << 8 | (off & 0xff));
	p->escape = 0;
	return 0;
}

/* The rows of bucket g from row i on. */
static int put_bucket(struct page *p, uint32_t g, size_t *i)
{
	uint32_t begin = g * ROW_BUCKET_BYTES;
	int r = 0;

	p->first_row[g] = (uint16_t)p->n_out;
	/* An escape is found by its address, so it begins anew in each bucket; in the first one rows[0] does. */
	if (p->escape && g > 0 && !(*i < p->n && off_of(p->rows[*i]) == begin))
		r = put(p, begin, p->escape);
	for (; r == 0 && *i < p->n && off_of(p->rows[*i]) < begin + ROW_BUCKET_BYTES; ++*i)
		r = put(p, off_of(p->rows[*i]), index_of(p, id_of(p->rows[*i])));
	return r;
}

/* Room for the largest block that these rows can become; its place. */
static int reserve_block(struct page *p)
{
	struct row_table *t = p->table;
	size_t most_rows = MIN_OF(p->n + 1 + p->n_buckets, (size_t)MAX_BLOCK_ROWS);
	size_t words = row_page_block_words(p->n_buckets, (uint32_t)most_rows);
	int r = row_budget_grow(p->budget, &t->blocks, &t->cap_block_words, sizeof(*t->blocks),
				t->n_block_words + words);

	if (r < 0)
		return r;
	p->first_row = (uint16_t *)&t->blocks[t->n_block_words];
	p->out = p->first_row + p->n_buckets + 1;
	return 0;
}

/* The last word may be used in part. */
static void finish_block(struct page *p)
{
	struct row_table *t = p->table;
	uint32_t words = row_page_block_words(p->n_buckets, p->n_out);

	p->first_row[p->n_buckets] = (uint16_t)p->n_out;
	for (uint16_t *rest = p->out + p->n_out;
	     rest < (uint16_t *)&t->blocks[t->n_block_words + words]; rest++)
		*rest = 0;
	t->pages[p->number] = (uint32_t)t->n_block_words;
	t->n_block_words += words;
	t->stats.n_rows += p->n_out;
}

static int pack_block(struct page *p)
{
	size_t i = 0;
	int r = reserve_block(p);

	/* A row at the page's very begin is rows[0] itself. */
	if (r == 0 && p->n > 0 && off_of(p->rows[0]) == 0)
		p->carry = id_of(p->rows[i++]);
	if (r == 0)
		r = put(p, 0, index_of(p, p->carry));
	for (uint32_t g = 0; r == 0 && g < p->n_buckets; g++)
		r = put_bucket(p, g, &i);
	if (r == 0)
		finish_block(p);
	return r;
}

/* One rule for all of the page, and it has a code. */
static bool is_const(const struct page *p, uint32_t *ret_code)
{
	uint16_t id = p->carry;

	if (p->n > 1 || (p->n == 1 && off_of(p->rows[0]) != 0))
		return false;
	if (p->n == 1)
		id = id_of(p->rows[0]);
	*ret_code = index_of(p, id);
	return *ret_code < WIRE_CODE_ESCAPE;
}

static int pack_page(struct page *p)
{
	uint32_t code;
	int r = 0;

	if (is_const(p, &code)) {
		p->table->pages[p->number] = WIRE_PAGE_CONST | code;
		p->table->stats.n_rows++;
	} else {
		r = pack_block(p);
	}
	if (p->n > 0)
		p->carry = id_of(p->rows[p->n - 1]);
	return r;
}

static struct page page_begin(const struct row_collect *c, struct row_table *t,
			      struct row_budget *budget, uint32_t number, uint16_t carry)
{
	size_t first = number < c->n_pages ? c->first_row[number] : c->n_rows;
	size_t last = number + 1 < c->n_pages ? c->first_row[number + 1] : c->n_rows;

	return (struct page){
		.collect = c,
		.table = t,
		.budget = budget,
		.rows = c->rows ? c->rows + first : NULL,
		.n = last - first,
		.number = number,
		.n_buckets = row_page_buckets(t->n_buckets, number),
		.carry = carry,
	};
}

int row_pack(const struct row_collect *c, struct row_table *t, struct row_budget *budget)
{
	uint16_t carry = ROW_RULES_NONE;
	int r;

	t->base_vaddr = c->base_vaddr;
	t->n_buckets = row_collect_n_buckets(c);
	t->n_pages = (t->n_buckets + 255) / 256;
	r = row_budget_charge(budget, (size_t)t->n_pages * sizeof(*t->pages));
	if (r < 0)
		return r;
	t->pages = calloc(t->n_pages, sizeof(*t->pages));
	if (!t->pages)
		return -ENOMEM;
	for (uint32_t number = 0; r == 0 && number < t->n_pages; number++) {
		struct page p = page_begin(c, t, budget, number, carry);

		r = pack_page(&p);
		carry = p.carry;
	}
	return r;
}
