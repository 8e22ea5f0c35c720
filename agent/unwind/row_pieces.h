/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which source's span holds where: the spans of all sources laid over each other, a later source's only where no earlier one has any.
 * Pure.
 *
 *	source 0	  ├─a─┤        ├──b──┤
 *	source 1	├────────c────────┤    ├d┤
 *	pieces		├c┼─a─┼───c────┼──b──┤ ├d┤
 */
#ifndef XAGENT_AGENT_UNWIND_ROW_PIECES_H
#define XAGENT_AGENT_UNWIND_ROW_PIECES_H

#include <stdbool.h>

#include "agent/object/rules/unwind_info.h"

/* A span's rows are asked for once for each of its pieces. Known files cut a span into up to a few dozen; cutting one more often is
 * what a hostile file does to make work. The rest of it is then left out. */
#define ROW_PIECES_OF_SPAN 64

struct row_piece {
	uint64_t begin;
	uint64_t end;
	size_t source;
	const struct unwind_span
		*span; /* borrowed; reaches beyond begin and end where it was cut */
};

struct row_pieces {
	const struct unwind_spans *spans; /* borrowed: n_sources of them */
	size_t n_sources;
	uint64_t at;  /* where the next piece is looked for */
	uint64_t end; /* no piece reaches beyond it */
	size_t cursor[UNWIND_INFO_MAX_SOURCES];
	unsigned int n_of_span[UNWIND_INFO_MAX_SOURCES];
	uint64_t n_left_out; /* spans */
};

void row_pieces_init(struct row_pieces *p, const struct unwind_spans *spans, size_t n_sources,
		     uint64_t begin, uint64_t end);
/* Ascending; false at the end. */
bool row_pieces_next(struct row_pieces *p, struct row_piece *ret_piece);

#endif
