/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind table of one object: the way from sources to a packed table.
 *
 *	spans of all sources → pieces, region by region → rows, collected and merged → rules in order of weight → pages
 *
 * Spans are sorted by their sources, rows never: they come in order.
 */
#include "agent/unwind/row_table.h"

#include "agent/unwind/row_collect.h"
#include "agent/unwind/row_table_internal.h"
#include "agent/util/macro.h"

struct build {
	struct unwind_info *info;
	struct elf *elf;
	struct row_budget budget;
	struct unwind_spans spans[UNWIND_INFO_MAX_SOURCES];
	size_t n_sources;
	bool too_large;
	struct unwind_source_stats source_stats;
	struct row_text text;
	const struct row_regions *regions; /* borrowed */
	bool is_begun;
	uint64_t reach;	     /* behind the last place that the table may have */
	uint64_t n_left_out; /* spans */
	struct row_collect collect;
};

static void build_release_spans(struct build *b)
{
	for (size_t i = 0; i < b->n_sources; i++) {
		unwind_spans_fini(&b->spans[i]);
		unwind_info_source(b->info, i)->release(unwind_info_source(b->info, i));
	}
	b->n_sources = 0;
}

static void build_fini(struct build *b)
{
	build_release_spans(b);
	row_collect_fini(&b->collect);
}

/* A source holds as much again as its spans take, and what it tells. */
static int build_spans_of(struct build *b, size_t i)
{
	struct unwind_source *source = unwind_info_source(b->info, i);
	struct unwind_spans *spans = &b->spans[i];

	*spans = (struct unwind_spans){ .max_bytes =
						(b->budget.max_bytes - b->budget.used_bytes) / 2 };
	b->n_sources = i + 1;
	int r = source->spans(source, spans, &b->source_stats);
	if (r < 0)
		return r;
	if (r == UNWIND_SOURCE_TOO_LARGE) {
		b->too_large = true;
		return -E2BIG;
	}
	return row_budget_charge(&b->budget,
				 2 * spans->cap * sizeof(*spans->items) + spans->held_bytes);
}

static int build_spans(struct build *b)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < unwind_info_n_sources(b->info); i++)
		r = build_spans_of(b, i);
	return r;
}

/* Places are what is counted in. */
static void place_text(struct build *b)
{
	row_text_init(&b->text, b->elf);
	for (size_t i = 0; i < b->text.n; i++) {
		uint64_t n_bytes = b->text.ranges[i].end - b->text.ranges[i].begin;

		b->text.ranges[i].begin = row_regions_place(b->regions, b->text.ranges[i].begin);
		b->text.ranges[i].end = b->text.ranges[i].begin + n_bytes;
	}
}

/* 0, -E2BIG, -errno. */
static int begin_table(struct build *b, uint64_t place)
{
	int r = row_collect_init(&b->collect, unwind_info_abi(b->info), &b->text, place,
				 &b->budget);
	uint64_t left = UINT64_MAX - b->collect.base_vaddr;

	b->reach = b->collect.base_vaddr + MIN_OF(left, ROW_MAX_SPREAD);
	b->is_begun = r == 0;
	return r;
}

/* Rows far from all others (debug information of functions that the linker has thrown away) would only make the table long. */
static int collect_region(struct build *b, const struct row_region *region)
{
	struct row_pieces pieces;
	struct row_piece piece;
	int r = 0;

	row_pieces_init(&pieces, b->spans, b->n_sources, region->begin, region->end);
	while (r == 0 && row_pieces_next(&pieces, &piece)) {
		if (!b->is_begun)
			r = begin_table(b, piece.begin + region->shift);
		if (r < 0 || piece.begin + region->shift >= b->reach)
			break;
		pieces.end = MIN_OF(pieces.end, b->reach - region->shift);
		piece.end = MIN_OF(piece.end, pieces.end);
		b->collect.shift = region->shift;
		r = row_collect_piece(&b->collect, unwind_info_source(b->info, piece.source),
				      &piece, &b->source_stats);
	}
	b->n_left_out += pieces.n_left_out;
	return r;
}

/* 0, ROW_TABLE_NONE, -E2BIG, -errno. */
static int build_rows(struct build *b)
{
	int r = 0;

	place_text(b);
	for (size_t i = 0; i < b->regions->n && r == 0; i++)
		r = collect_region(b, &b->regions->items[i]);
	if (r < 0 || !b->is_begun)
		return r < 0 ? r : ROW_TABLE_NONE;
	r = row_collect_finish(&b->collect);
	if (r < 0)
		return r;
	return b->collect.n_rows == 0 ? ROW_TABLE_NONE : 0;
}

/* Spans of a region that reach to where the table does not. */
static uint64_t n_out_of_reach(const struct build *b, const struct row_region *region)
{
	uint64_t reach = b->reach - region->shift;
	uint64_t n = 0;

	if (b->reach >= region->end + region->shift)
		return 0;
	if (b->reach < region->begin + region->shift)
		reach = region->begin;
	for (size_t s = 0; s < b->n_sources; s++)
		for (size_t i = b->spans[s].n; i > 0; i--) {
			const struct unwind_span *span = &b->spans[s].items[i - 1];

			if (span->begin + span->n_bytes <= reach)
				break;
			n += span->begin < region->end;
		}
	return n;
}

static uint64_t n_dropped(const struct build *b)
{
	uint64_t n = b->n_left_out;

	for (size_t i = 0; i < b->regions->n; i++)
		n += n_out_of_reach(b, &b->regions->items[i]);
	return n;
}

static uint64_t n_without_word(const struct row_rules *rules, const struct row_words *words)
{
	uint64_t n = rules->n_refused;

	for (size_t id = 1; id < rules->distinct.n; id++)
		if (words->index_of[id] == 0)
			n += rules->weight[id];
	return n;
}

static uint64_t table_bytes(const struct row_table *t)
{
	uint64_t pages_words =
		((uint64_t)t->n_pages * sizeof(*t->pages) + WIRE_WORD_BYTES - 1) / WIRE_WORD_BYTES;

	return (pages_words + t->n_block_words + t->rules.n_words + t->n_escapes) * WIRE_WORD_BYTES;
}

static void table_stats(struct build *b, struct row_table *t)
{
	struct row_table_stats *s = &t->stats;

	s->n_raw_rows = b->collect.n_raw_rows;
	s->n_rules = b->collect.rules.distinct.n - 1;
	s->n_escapes = t->n_escapes;
	s->n_bytes = table_bytes(t);
	s->n_text_bytes = row_text_bytes(&b->text);
	s->n_covered_bytes = b->collect.n_covered_bytes;
	s->n_dropped_rows += n_without_word(&b->collect.rules, &t->rules);
	s->source = b->source_stats;
}

static int build_table(struct build *b, struct row_table *t, size_t max_bytes)
{
	struct row_budget budget = { .max_bytes = max_bytes };
	int r = row_rules_pack(&b->collect.rules, &t->rules);

	if (r == 0)
		r = row_pack(&b->collect, t, &budget);
	if (r < 0) {
		b->too_large = b->too_large || budget.exceeded;
		return r;
	}
	table_stats(b, t);
	return t->stats.n_bytes > max_bytes ? ROW_TABLE_TOO_LARGE : 0;
}

int row_table_build(struct unwind_info *info, struct elf *elf, size_t max_bytes,
		    struct row_table **ret_table)
{
	_cleanup_(row_table_freep) struct row_table *t = calloc(1, sizeof(*t));
	_cleanup_(build_fini) struct build b = {
		.info = info,
		.elf = elf,
		.regions = t ? &t->regions : NULL,
		.budget = { .max_bytes = max_bytes },
	};

	if (!t)
		return -ENOMEM;
	if (!row_regions_find(elf, &t->regions))
		return ROW_TABLE_TOO_LARGE;
	int r = build_spans(&b);
	if (r == 0)
		r = build_rows(&b);
	if (r == 0)
		t->stats.n_dropped_rows = n_dropped(&b);
	/* Rows are all that is needed from here on; a large file's spans and what they lie in take as much. */
	build_release_spans(&b);
	if (r == 0)
		r = build_table(&b, t, max_bytes);
	if (r < 0 && (b.too_large || b.budget.exceeded))
		r = ROW_TABLE_TOO_LARGE;
	if (r == 0)
		*ret_table = TAKE_PTR(t);
	return r;
}

void row_table_free(struct row_table *t)
{
	if (!t)
		return;
	row_words_fini(&t->rules);
	free(t->pages);
	free(t->blocks);
	free(t->escapes);
	free(t);
}

const struct row_table_stats *row_table_stats(const struct row_table *t)
{
	return &t->stats;
}

const struct row_regions *row_table_regions(const struct row_table *t)
{
	return &t->regions;
}
