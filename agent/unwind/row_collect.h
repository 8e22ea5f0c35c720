/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of all pieces, ascending, merged, by page; not packed yet. Addresses in here are places in the table (row_regions.h).
 *
 * Four bytes a row, because a large object has a million: the low 16 bits of its distance from base_vaddr, and the id of its rule.
 */
#ifndef XAGENT_AGENT_UNWIND_ROW_COLLECT_H
#define XAGENT_AGENT_UNWIND_ROW_COLLECT_H

#include "agent/unwind/row_pieces.h"
#include "agent/unwind/row_rules.h"
#include "agent/unwind/row_text.h"

#define ROW_BUCKET_BYTES 256u
#define ROW_PAGE_BYTES 65536u
/* Distances from base_vaddr have 32 bits. */
#define ROW_MAX_SPREAD ((uint64_t)1 << 32)

struct row_collect {
	struct row_rules rules;
	struct row_budget *budget;   /* borrowed */
	const struct row_text *text; /* borrowed */
	uint64_t base_vaddr;	     /* a multiple of ROW_BUCKET_BYTES */
	uint64_t shift;	    /* place in the table − address, of the pieces that come now */
	uint64_t end_vaddr; /* of the last piece */
	uint32_t *rows;	    /* off | id << 16; owned */
	size_t n_rows;
	size_t cap_rows;
	uint32_t *first_row; /* of each page; owned */
	size_t n_pages;
	size_t cap_pages;
	uint64_t n_raw_rows;
	uint64_t n_covered_bytes;
	/* The row under way: rows at or below its address replace its rule, which is how a piece that is cut out of a span begins. */
	uint64_t pending_vaddr;
	uint64_t piece_end;
	uint16_t pending_id;
	/* The last row that was written. */
	uint16_t last_id;
	uint64_t last_vaddr;
	uint64_t covered_from; /* where the run of rules began that it is part of */
};

/* 0, -E2BIG, -ENOMEM, with all released. `base_vaddr` need not be rounded. */
int row_collect_init(struct row_collect *c, const struct dwarf_abi *abi,
		     const struct row_text *text, uint64_t base_vaddr, struct row_budget *budget);
void row_collect_fini(struct row_collect *c);

/* The next piece's rows; after the last one row_collect_finish(). 0, -E2BIG, -errno. */
int row_collect_piece(struct row_collect *c, struct unwind_source *source,
		      const struct row_piece *piece, struct unwind_source_stats *stats);
int row_collect_finish(struct row_collect *c);

static inline uint32_t row_collect_n_buckets(const struct row_collect *c)
{
	return (uint32_t)((c->end_vaddr - c->base_vaddr + ROW_BUCKET_BYTES - 1) / ROW_BUCKET_BYTES);
}

#endif
