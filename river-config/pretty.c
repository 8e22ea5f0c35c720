/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnostics with an excerpt of their source.
 *
 * The excerpt runs from a line before the range to a line after it. A range on one line is
 * underlined; a longer one gets a rail at its left and a marker under its first and last line.
 * Where the markers begin and end, and that tabs are never marked, follows the reference exactly:
 * tools compare this text.
 */
#include "river-config/river.h"

#include <string.h>

#include "river-config/diag.h"
#include "river-config/unicode.h"

#define TAB_WIDTH 4

#define SGR_BOLD "\033[1m"
#define SGR_BOLD_RED "\033[31;1m"
#define SGR_BOLD_YELLOW "\033[33;1m"
#define SGR_RESET "\033[0m"

struct excerpt {
	struct river_out *out;
	struct river_pos start;
	struct river_pos end;
	bool multi; /* several lines */
	unsigned int width;
};

/* One line of the source, without its newline. */
struct line {
	const char *text;
	size_t len;
	uint32_t number;
};

static unsigned int decimal_width(uint32_t n)
{
	unsigned int width = 1;

	for (; n >= 10; n /= 10)
		width++;
	return width;
}

static void put_source(struct river_out *out, const struct line *line)
{
	uint32_t c;
	size_t step;

	for (size_t i = 0; i < line->len; i += step) {
		step = river_utf8_decode(line->text + i, line->len - i, &c);
		if (c == '\t' || c == '\v')
			river_out_repeat(out, ' ', TAB_WIDTH);
		else if (c != '\r')
			river_out_rune(out, c);
	}
}

static bool is_marked(const struct excerpt *x, uint32_t line, size_t column)
{
	return !(line == x->start.line && column < x->start.column) &&
	       !(line == x->end.line && column > x->end.column);
}

static void put_marks(const struct excerpt *x, const struct line *line)
{
	char blank = x->multi ? '_' : ' ';
	uint32_t c;
	size_t step;

	for (size_t i = 0; i < line->len; i += step) {
		if (line->number == x->end.line && i + 1 > x->end.column)
			break;
		step = river_utf8_decode(line->text + i, line->len - i, &c);
		if (c == '\t' || c == '\v')
			river_out_repeat(x->out, blank, TAB_WIDTH);
		else
			river_out_repeat(x->out, is_marked(x, line->number, i + 1) ? '^' : blank,
					 1);
	}
	river_out_str(x->out, "\n");
}

static void put_line(const struct excerpt *x, const struct line *line)
{
	bool is_start = line->number == x->start.line;
	bool is_end = line->number == x->end.line;
	bool has_rail = line->number > x->start.line && line->number <= x->end.line;

	river_out_number(x->out, line->number, x->width);
	river_out_str(x->out, " | ");
	if (x->multi)
		river_out_str(x->out, has_rail ? "| " : "  ");
	put_source(x->out, line);
	river_out_str(x->out, "\n");
	if (!is_start && !is_end)
		return;
	river_out_repeat(x->out, ' ', x->width);
	river_out_str(x->out, !x->multi ? " | " : is_start ? " |  _" : " | |_");
	put_marks(x, line);
}

/* Offset of the first byte of the line that `offset` lies on. */
static size_t line_start(const struct river_source *source, size_t offset)
{
	const char *newline = offset ? memrchr(source->text, '\n', offset) : NULL;

	return newline ? (size_t)(newline - source->text) + 1 : 0;
}

/* The line at *offset; moves on to the next. False behind the last one. */
static bool line_next(const struct river_source *source, size_t *offset, bool *at_end,
		      struct line *line)
{
	const char *newline;

	if (*at_end)
		return false;
	line->text = source->text + *offset;
	newline = *offset < source->len ? memchr(line->text, '\n', source->len - *offset) : NULL;
	*at_end = !newline;
	line->len = newline ? (size_t)(newline - line->text) : source->len - *offset;
	*offset += line->len + 1;
	line->number++;
	return true;
}

static uint32_t last_line(const struct river_source *source, size_t offset, uint32_t from,
			  uint32_t want)
{
	struct line line = { .number = from - 1 };
	bool at_end = false;

	while (line.number < want && line_next(source, &offset, &at_end, &line))
		;
	return line.number;
}

static void put_excerpt(struct river_out *out, const struct river_source *source,
			const struct river_range *range)
{
	struct excerpt x = { .out = out, .start = range->start, .end = range->end };
	size_t offset = range->start.offset < source->len ? range->start.offset : source->len;
	struct line line = { .number = range->start.line - 1 };
	bool at_end = false;
	uint32_t last;

	if (!x.end.line || x.end.line < x.start.line)
		x.end = x.start;
	x.multi = x.start.line != x.end.line;
	offset = line_start(source, offset);
	if (offset > 0) {
		offset = line_start(source, offset - 1);
		line.number--;
	}
	last = last_line(source, offset, line.number + 1, x.end.line + 1);
	x.width = decimal_width(last);
	while (line.number < last && line_next(source, &offset, &at_end, &line))
		put_line(&x, &line);
}

static void put_header(struct river_out *out, const struct river_diag *diag, bool color)
{
	bool is_error = diag->severity == RIVER_SEVERITY_ERROR;

	if (color)
		river_out_str(out, is_error ? SGR_BOLD_RED : SGR_BOLD_YELLOW);
	river_out_str(out, is_error ? "Error: " : "Warning: ");
	if (color)
		river_out_str(out, SGR_RESET SGR_BOLD);
	river_diag_put(out, diag);
	river_out_str(out, "\n");
	if (color)
		river_out_str(out, SGR_RESET);
}

static const struct river_source *find_source(const struct river_source *sources, size_t n_sources,
					      const char *file)
{
	for (size_t i = 0; file && i < n_sources; i++)
		if (strcmp(sources[i].file, file) == 0)
			return &sources[i];
	return NULL;
}

void river_diags_write_pretty(const struct river_diags *d, const struct river_source *sources,
			      size_t n_sources, bool color, river_write_fn write, void *ctx)
{
	struct river_out out = RIVER_OUT_INIT(write, ctx);

	for (size_t i = 0; i < d->n_items; i++) {
		const struct river_diag *diag = &d->items[i];
		const struct river_source *source =
			find_source(sources, n_sources, diag->range.file);

		if (i > 0)
			river_out_str(&out, "\n");
		put_header(&out, diag, color);
		if (!source || !source->text || !diag->range.start.line)
			continue;
		river_out_str(&out, "\n");
		put_excerpt(&out, source, &diag->range);
	}
	if (d->n_dropped > 0) {
		river_out_str(&out, "\n(and ");
		river_out_number(&out, d->n_dropped, 0);
		river_out_str(&out, " more diagnostics)\n");
	}
	river_out_flush(&out);
}
