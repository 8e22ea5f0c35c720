/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct row_table: the parts of bpf/table.h on the heap. */
#ifndef XAGENT_AGENT_UNWIND_ROW_TABLE_INTERNAL_H
#define XAGENT_AGENT_UNWIND_ROW_TABLE_INTERNAL_H

#include "agent/unwind/row_rules.h"
#include "agent/unwind/row_table.h"

struct row_collect;

struct row_table {
	struct row_table_stats stats;
	struct row_regions regions;
	uint64_t base_vaddr;
	uint32_t n_buckets;
	uint32_t n_pages;
	uint32_t *
		pages; /* WIRE_PAGE_CONST | code, or the word of `blocks` where its block begins; owned */
	uint64_t *blocks; /* one behind the other; owned */
	size_t n_block_words;
	size_t cap_block_words;
	struct row_words rules;
	struct wire_escape *escapes; /* ascending; owned */
	size_t n_escapes;
	size_t cap_escapes;
};

/* Packs what was collected into an empty table; the rules are packed already. 0, -E2BIG, -ENOMEM; the table is in any case to be freed. */
int row_pack(const struct row_collect *c, struct row_table *t, struct row_budget *budget);

static inline uint32_t row_page_buckets(uint32_t n_buckets, uint32_t page)
{
	uint32_t left = n_buckets - (page << 8);

	return left > 256 ? 256 : left;
}

/* Words of a block: first_row[k + 1] and its rows. */
static inline uint32_t row_page_block_words(uint32_t n_page_buckets, uint32_t n_rows)
{
	return ((n_page_buckets + 1 + n_rows) * (uint32_t)sizeof(uint16_t) + WIRE_WORD_BYTES - 1) /
	       WIRE_WORD_BYTES;
}

#endif
