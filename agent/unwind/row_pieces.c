/* SPDX-License-Identifier: Apache-2.0 */
/* Which source's span holds where. */
#include "agent/unwind/row_pieces.h"

#include <assert.h>

#include "agent/util/macro.h"

void row_pieces_init(struct row_pieces *p, const struct unwind_spans *spans, size_t n_sources,
		     uint64_t begin, uint64_t end)
{
	assert(n_sources <= UNWIND_INFO_MAX_SOURCES);
	*p = (struct row_pieces){
		.spans = spans,
		.n_sources = n_sources,
		.at = begin,
		.end = end,
	};
}

static uint64_t span_end(const struct unwind_span *span)
{
	uint64_t end = span->begin + span->n_bytes;

	/* The last address of all is nobody's. */
	return end < span->begin ? UINT64_MAX : end;
}

static void pass(struct row_pieces *p, size_t source)
{
	p->cursor[source]++;
	p->n_of_span[source] = 0;
}

/* The first span of the source that reaches beyond `at`; NULL when there is none. */
static const struct unwind_span *span_at(struct row_pieces *p, size_t source)
{
	const struct unwind_spans *spans = &p->spans[source];

	for (; p->cursor[source] < spans->n; pass(p, source)) {
		const struct unwind_span *span = &spans->items[p->cursor[source]];

		if (span_end(span) > p->at)
			return span;
	}
	return NULL;
}

/* A part of the source's present span; not its rows if there were too many parts before. */
static struct row_piece piece_of(struct row_pieces *p, size_t source,
				 const struct unwind_span *span, uint64_t next)
{
	bool is_left_out = p->n_of_span[source] >= ROW_PIECES_OF_SPAN;

	p->n_left_out += p->n_of_span[source] == ROW_PIECES_OF_SPAN;
	p->n_of_span[source]++;
	return (struct row_piece){
		.begin = p->at,
		.end = MIN_OF(span_end(span), next),
		.source = source,
		.span = is_left_out ? NULL : span,
	};
}

/* The piece at p->at; else false, and the address where the next one may begin. */
static bool piece_here(struct row_pieces *p, struct row_piece *ret_piece, uint64_t *ret_next)
{
	uint64_t next = p->end;

	for (size_t i = 0; i < p->n_sources; i++) {
		const struct unwind_span *span = span_at(p, i);

		if (!span)
			continue;
		if (span->begin <= p->at) {
			*ret_piece = piece_of(p, i, span, next);
			return true;
		}
		next = MIN_OF(next, span->begin);
	}
	*ret_next = next;
	return false;
}

bool row_pieces_next(struct row_pieces *p, struct row_piece *ret_piece)
{
	while (p->at < p->end) {
		uint64_t next = p->end;

		if (piece_here(p, ret_piece, &next)) {
			p->at = ret_piece->end;
			return true;
		}
		p->at = next;
	}
	return false;
}
