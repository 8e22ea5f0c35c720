/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned columns. */
#include "river-config/tabwriter.h"

#include <errno.h>

#define PADDING 1
#define TAB_WIDTH 8

struct tab_cell {
	size_t begin, n_bytes; /* of the text */
	size_t width;	       /* code points */
	size_t column;	       /* index of its column; the last one of a line has none */
	bool ended;	       /* another one is behind it */
	bool discards;
};

struct tab_line {
	size_t first; /* cell */
	size_t n_cells;
};

struct tab_column {
	size_t width;
	bool is_empty; /* all of its cells may be discarded */
};

static struct tab_cell *cell_at(struct river_tabwriter *w, size_t i)
{
	return (struct tab_cell *)w->cells.data + i;
}

static struct tab_line *line_at(struct river_tabwriter *w, size_t i)
{
	return (struct tab_line *)w->lines.data + i;
}

static struct tab_column *column_at(struct river_tabwriter *w, size_t i)
{
	return (struct tab_column *)w->columns.data + i;
}

static bool push(struct river_tabwriter *w, struct river_vec *v, const void *item)
{
	if (river_vec_push(v, w->out->arena, item) < 0)
		w->failed = true;
	return !w->failed;
}

static void begin_cell(struct river_tabwriter *w)
{
	struct tab_cell cell = { .begin = w->text.len };

	if (push(w, &w->cells, &cell))
		line_at(w, w->lines.n_items - 1)->n_cells++;
}

static void begin_line(struct river_tabwriter *w)
{
	struct tab_line line = { .first = w->cells.n_items };

	if (push(w, &w->lines, &line))
		begin_cell(w);
}

void river_tabwriter_init(struct river_tabwriter *w, struct river_text *out)
{
	*w = (struct river_tabwriter){
		.out = out,
		.text = RIVER_TEXT_INIT(out->arena),
		.cells = RIVER_VEC_INIT(struct tab_cell),
		.lines = RIVER_VEC_INIT(struct tab_line),
		.columns = RIVER_VEC_INIT(struct tab_column),
	};
	begin_line(w);
}

static size_t count_code_points(const char *bytes, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return count;
}

void river_tabwriter_text(struct river_tabwriter *w, const char *bytes, size_t n)
{
	if (w->failed)
		return;
	struct tab_cell *cell = cell_at(w, w->cells.n_items - 1);
	river_text_append(&w->text, bytes, n);
	cell->n_bytes += n;
	cell->width += count_code_points(bytes, n);
}

void river_tabwriter_cell(struct river_tabwriter *w, bool discards)
{
	if (w->failed)
		return;
	struct tab_cell *cell = cell_at(w, w->cells.n_items - 1);
	cell->ended = true;
	cell->discards = discards;
	begin_cell(w);
}

void river_tabwriter_indent(struct river_tabwriter *w, unsigned int n_tabs)
{
	for (unsigned int i = 0; i < n_tabs; i++)
		river_tabwriter_cell(w, false);
}

static void measure_cell(struct river_tabwriter *w, const struct tab_cell *above,
			 struct tab_cell *cell)
{
	struct tab_column new_column = { .is_empty = true };

	if (above)
		cell->column = above->column;
	else if (!push(w, &w->columns, &new_column))
		return;
	else
		cell->column = w->columns.n_items - 1;
	struct tab_column *column = column_at(w, cell->column);
	if (cell->width + PADDING > column->width)
		column->width = cell->width + PADDING;
	column->is_empty &= cell->width == 0 && cell->discards;
}

/* Each cell belongs to the column of the one above it, if that one has another behind it. */
static void measure(struct river_tabwriter *w)
{
	w->columns.n_items = 0;
	for (size_t i = 0; i < w->lines.n_items; i++) {
		const struct tab_line *line = line_at(w, i);
		const struct tab_line *above = i > 0 ? line_at(w, i - 1) : NULL;

		for (size_t k = 0; !w->failed && k + 1 < line->n_cells; k++)
			measure_cell(w,
				     above && k + 1 < above->n_cells ? cell_at(w, above->first + k)
								     : NULL,
				     cell_at(w, line->first + k));
	}
}

static void trim(struct river_text *out, size_t from)
{
	while (out->len > from &&
	       (out->data[out->len - 1] == ' ' || out->data[out->len - 1] == '\t'))
		out->len--;
}

/* Empty cells at the beginning of a line are tabs. */
static void pad(struct river_tabwriter *w, const struct tab_cell *cell, bool is_leading)
{
	const struct tab_column *column = column_at(w, cell->column);

	if (column->is_empty)
		return;
	if (is_leading)
		river_text_repeat(w->out, '\t', (column->width + TAB_WIDTH - 1) / TAB_WIDTH);
	else
		river_text_repeat(w->out, ' ', column->width - cell->width);
}

static void write_line(struct river_tabwriter *w, const struct tab_line *line)
{
	/* What a cell ends with is kept, what was put between cells is not. */
	size_t solid = w->out->len;
	bool is_leading = true;

	for (size_t k = 0; k < line->n_cells; k++) {
		const struct tab_cell *cell = cell_at(w, line->first + k);

		river_text_append(w->out, w->text.data + cell->begin, cell->n_bytes);
		is_leading &= cell->n_bytes == 0;
		if (cell->n_bytes > 0)
			solid = w->out->len;
		if (cell->ended)
			pad(w, cell, is_leading);
	}
	if (!w->out->failed)
		trim(w->out, solid);
}

static void flush(struct river_tabwriter *w, size_t n_lines, bool with_last_break)
{
	if (w->failed || w->text.failed)
		return;
	measure(w);
	for (size_t i = 0; !w->failed && i < n_lines; i++) {
		write_line(w, line_at(w, i));
		if (i + 1 < n_lines || with_last_break)
			river_text_char(w->out, '\n');
	}
	w->cells.n_items = 0;
	w->lines.n_items = 0;
	w->text.len = 0;
}

void river_tabwriter_line(struct river_tabwriter *w, bool flush_columns)
{
	if (w->failed)
		return;
	/* A line of one cell is in no column, and ends those above. */
	if (flush_columns || line_at(w, w->lines.n_items - 1)->n_cells == 1)
		flush(w, w->lines.n_items, true);
	begin_line(w);
}

int river_tabwriter_finish(struct river_tabwriter *w)
{
	if (!w->failed)
		flush(w, w->lines.n_items, false);
	return w->failed || w->text.failed || w->out->failed ? -ENOMEM : 0;
}
