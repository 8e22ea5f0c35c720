/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table into the arena, and out of it; and what tells whether two are the same there.
 *
 * Each block is a place of its own, so that a table fits wherever there is room. What a placed block takes is read off it when it is given
 * back.
 */
#include <string.h>

#include "agent/unwind/row_table_internal.h"
#include "agent/util/macro.h"

/* What has been taken so far. */
struct placing {
	struct kernel_arena *arena;
	const struct row_table *table;
	struct wire_object object;
	uint32_t *pages; /* in the arena; 0 where no block was placed yet */
};

static uint32_t pages_words(uint32_t n_buckets)
{
	uint32_t n_pages = (n_buckets + 255) / 256;

	return (n_pages * (uint32_t)sizeof(uint32_t) + WIRE_WORD_BYTES - 1) / WIRE_WORD_BYTES;
}

static uint32_t block_words(const uint64_t *block, uint32_t n_page_buckets)
{
	const uint16_t *first_row = (const uint16_t *)block;

	return row_page_block_words(n_page_buckets, first_row[n_page_buckets]);
}

typedef void (*give_fn)(struct kernel_arena *arena, uint32_t at, uint32_t n_words);

static void give_blocks(struct kernel_arena *arena, const struct wire_object *o, give_fn give)
{
	const uint32_t *pages = kernel_arena_ptr(arena, o->pages_at);

	for (uint32_t page = 0; page << 8 < o->n_buckets; page++) {
		uint32_t at = pages[page];

		if (at != 0 && !(at & WIRE_PAGE_CONST))
			give(arena, at,
			     block_words(kernel_arena_ptr(arena, at),
					 row_page_buckets(o->n_buckets, page)));
	}
}

static void give_all(struct kernel_arena *arena, const struct wire_object *o, give_fn give)
{
	if (o->pages_at) {
		give_blocks(arena, o, give);
		give(arena, o->pages_at, pages_words(o->n_buckets));
	}
	if (o->rules_at)
		give(arena, o->rules_at, o->n_rule_words);
	if (o->n_escapes)
		give(arena, o->escapes_at, o->n_escapes);
}

/* Room, filled; `from` NULL: with 0. */
static int place(struct kernel_arena *arena, const void *from, uint32_t n_words, uint32_t *ret_at)
{
	uint32_t at;
	int r = kernel_arena_take(arena, n_words, &at);

	if (r < 0)
		return r;
	if (from)
		memcpy(kernel_arena_ptr(arena, at), from, (size_t)n_words * WIRE_WORD_BYTES);
	else
		memset(kernel_arena_ptr(arena, at), 0, (size_t)n_words * WIRE_WORD_BYTES);
	*ret_at = at;
	return 0;
}

static int place_pages(struct placing *p)
{
	const struct row_table *t = p->table;
	int r = place(p->arena, NULL, pages_words(t->n_buckets), &p->object.pages_at);

	if (r < 0)
		return r;
	p->pages = kernel_arena_ptr(p->arena, p->object.pages_at);
	for (uint32_t page = 0; r == 0 && page < t->n_pages; page++) {
		const uint64_t *block = t->blocks + t->pages[page];

		if (t->pages[page] & WIRE_PAGE_CONST)
			p->pages[page] = t->pages[page];
		else
			r = place(p->arena, block,
				  block_words(block, row_page_buckets(t->n_buckets, page)),
				  &p->pages[page]);
	}
	return r;
}

static int place_all(struct placing *p)
{
	const struct row_table *t = p->table;
	struct wire_object *o = &p->object;
	int r = place(p->arena, t->rules.words, t->rules.n_words, &o->rules_at);

	if (r == 0 && t->n_escapes > 0)
		r = place(p->arena, t->escapes, (uint32_t)t->n_escapes, &o->escapes_at);
	/* Counted only now: what was not taken is not given back. */
	if (r == 0)
		o->n_escapes = (uint32_t)t->n_escapes;
	return r < 0 ? r : place_pages(p);
}

int row_table_place(const struct row_table *table, struct kernel_arena *arena,
		    struct wire_object *ret_object)
{
	struct placing p = {
		.arena = arena,
		.table = table,
		.object = { .base_vaddr = table->base_vaddr,
			    .n_buckets = table->n_buckets,
			    .n_rule_words = table->rules.n_words },
	};
	int r = place_all(&p);

	if (r < 0)
		give_all(arena, &p.object, kernel_arena_give_unseen);
	else
		*ret_object = p.object;
	return r;
}

/* Numbers first, so that what follows can be read in one way only. Places in `pages` are of this table, and equal where the blocks are. */
void row_table_hash(const struct row_table *t, struct siphash *s)
{
	const uint64_t head[] = { t->base_vaddr - t->regions.bias, t->n_buckets, t->n_block_words,
				  t->rules.n_words, t->n_escapes };

	siphash_words(s, head, ARRAY_SIZE(head));
	siphash_padded(s, t->pages, (size_t)t->n_pages * sizeof(*t->pages));
	siphash_words(s, t->blocks, t->n_block_words);
	siphash_words(s, t->rules.words, t->rules.n_words);
	siphash_words(s, t->escapes, t->n_escapes);
}

void row_table_remove(struct kernel_arena *arena, const struct wire_object *object)
{
	give_all(arena, object, kernel_arena_give);
}
