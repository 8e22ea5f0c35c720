/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of all pieces, ascending, merged, by page. */
#include "agent/unwind/row_collect.h"

#include "agent/unwind/row_table.h"
#include "agent/util/macro.h"

int row_collect_init(struct row_collect *c, const struct dwarf_abi *abi,
		     const struct row_text *text, uint64_t base_vaddr, struct row_budget *budget)
{
	*c = (struct row_collect){
		.budget = budget,
		.text = text,
		.base_vaddr = base_vaddr & ~(uint64_t)(ROW_BUCKET_BYTES - 1),
	};
	c->last_vaddr = c->end_vaddr = c->base_vaddr;
	return row_rules_init(&c->rules, abi, budget);
}

void row_collect_fini(struct row_collect *c)
{
	row_rules_fini(&c->rules);
	free(c->rows);
	free(c->first_row);
}

static int enter_page(struct row_collect *c, size_t page)
{
	int r = row_budget_grow(c->budget, &c->first_row, &c->cap_pages, sizeof(*c->first_row),
				page + 1);

	if (r < 0)
		return r;
	while (c->n_pages <= page)
		c->first_row[c->n_pages++] = (uint32_t)c->n_rows;
	return 0;
}

/* Room for one row more, and its page entered. */
static int make_room(struct row_collect *c, size_t page)
{
	int r = 0;

	if (page >= c->n_pages)
		r = enter_page(c, page);
	if (r == 0 && c->n_rows == c->cap_rows)
		r = row_budget_grow(c->budget, &c->rows, &c->cap_rows, sizeof(*c->rows),
				    c->n_rows + 1);
	return r;
}

/* Where a run of rules begins, or ends. */
static void cover(struct row_collect *c, uint64_t vaddr, uint16_t id)
{
	if (c->last_id == ROW_RULES_NONE)
		c->covered_from = vaddr;
	else if (id == ROW_RULES_NONE)
		c->n_covered_bytes += row_text_overlap(c->text, c->covered_from, vaddr);
}

/* An escape is repeated in each bucket that it reaches into. */
static void weigh_last(struct row_collect *c, uint64_t vaddr)
{
	c->rules.weight[c->last_id] +=
		1 + vaddr / ROW_BUCKET_BYTES - c->last_vaddr / ROW_BUCKET_BYTES;
}

static inline int add_row(struct row_collect *c, uint64_t vaddr, uint16_t id)
{
	uint64_t off = vaddr - c->base_vaddr;

	if (id == c->last_id)
		return 0;
	weigh_last(c, vaddr);
	if (c->last_id == ROW_RULES_NONE || id == ROW_RULES_NONE)
		cover(c, vaddr, id);
	c->last_id = id;
	c->last_vaddr = vaddr;
	if (off / ROW_PAGE_BYTES >= c->n_pages || c->n_rows == c->cap_rows) {
		int r = make_room(c, off / ROW_PAGE_BYTES);

		if (r < 0)
			return r;
	}
	c->rows[c->n_rows++] = (uint32_t)(off % ROW_PAGE_BYTES) | (uint32_t)id << 16;
	return 0;
}

static int on_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct row_collect *c = data;
	int r = 0;

	vaddr += c->shift;
	c->n_raw_rows++;
	if (vaddr >= c->piece_end)
		return 0;
	if (vaddr > c->pending_vaddr) {
		r = add_row(c, c->pending_vaddr, c->pending_id);
		c->pending_vaddr = vaddr;
	}
	return r < 0 ? r : row_rules_id(&c->rules, rule, &c->pending_id);
}

/* What holds between the last piece and this one is told only where the gap is more than padding. */
static int end_last_piece(struct row_collect *c, uint64_t next_begin)
{
	if (next_begin - c->end_vaddr < ROW_TABLE_GAP_BYTES)
		return 0;
	return add_row(c, c->end_vaddr, ROW_RULES_NONE);
}

int row_collect_piece(struct row_collect *c, struct unwind_source *source,
		      const struct row_piece *piece, struct unwind_source_stats *stats)
{
	int r = end_last_piece(c, piece->begin + c->shift);

	if (r < 0)
		return r;
	c->pending_vaddr = piece->begin + c->shift;
	c->pending_id = ROW_RULES_NONE;
	c->piece_end = piece->end + c->shift;
	c->end_vaddr = c->piece_end;
	if (piece->span)
		r = source->rows(source, piece->span, on_row, c, stats);
	return r < 0 ? r : add_row(c, c->pending_vaddr, c->pending_id);
}

int row_collect_finish(struct row_collect *c)
{
	/* At the end of the last bucket there is nobody left to be told. */
	if (c->end_vaddr % ROW_BUCKET_BYTES != 0)
		return add_row(c, c->end_vaddr, ROW_RULES_NONE);
	weigh_last(c, c->end_vaddr);
	if (c->last_id != ROW_RULES_NONE)
		c->n_covered_bytes += row_text_overlap(c->text, c->covered_from, c->end_vaddr);
	return 0;
}
