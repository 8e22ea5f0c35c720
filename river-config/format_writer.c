/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, white space and comments. */
#include "river-config/format_writer.h"

#include <assert.h>
#include <string.h>

void format_writer_init(struct format_writer *w, const struct river_comment *comments,
			size_t n_comments, struct river_text *out)
{
	*w = (struct format_writer){ .comments = comments, .n_comments = n_comments };
	river_tabwriter_init(&w->tabs, out);
}

void format_wish(struct format_writer *w, enum format_gap gap)
{
	assert(w->n_gaps < FORMAT_MAX_GAPS);
	w->gaps[w->n_gaps++] = gap;
}

static void end_line(struct format_writer *w, bool ends_run)
{
	river_tabwriter_line(&w->tabs, ends_run);
	w->line_begun = false;
}

static void write_text(struct format_writer *w, const char *text, size_t n)
{
	if (!w->line_begun)
		river_tabwriter_indent(&w->tabs, w->indent);
	w->line_begun = true;
	w->begun = true;
	river_tabwriter_text(&w->tabs, text, n);
}

static void apply(struct format_writer *w, enum format_gap gap)
{
	switch (gap) {
	case FORMAT_BLANK:
		if (w->line_begun)
			river_tabwriter_text(&w->tabs, " ", 1);
		break;
	case FORMAT_CELL:
		river_tabwriter_cell(&w->tabs, true);
		break;
	case FORMAT_LINE:
	case FORMAT_NEW_RUN:
		end_line(w, gap == FORMAT_NEW_RUN);
		break;
	case FORMAT_INDENT:
		w->indent++;
		break;
	case FORMAT_UNINDENT:
		w->indent--;
		break;
	}
}

static bool is_break(enum format_gap gap)
{
	return gap == FORMAT_LINE || gap == FORMAT_NEW_RUN;
}

static bool is_level(enum format_gap gap)
{
	return gap == FORMAT_INDENT || gap == FORMAT_UNINDENT;
}

static void drop_gaps(struct format_writer *w, size_t n)
{
	w->n_gaps -= n;
	memmove(w->gaps, w->gaps + n, w->n_gaps * sizeof(w->gaps[0]));
}

/* One for the next line, two for a blank one between. */
static void break_lines(struct format_writer *w, uint32_t from, uint32_t to, bool ends_run)
{
	end_line(w, ends_run);
	if (to > from + 1)
		end_line(w, ends_run);
}

/* What opens a level before the line break holds for the comment as well; what closes one does not. */
static void begin_own_line(struct format_writer *w, const struct river_comment *comment)
{
	size_t n = 0;

	while (n < w->n_gaps && !is_break(w->gaps[n]) && w->gaps[n] != FORMAT_UNINDENT) {
		if (is_level(w->gaps[n]))
			apply(w, w->gaps[n]);
		n++;
	}
	/* Closed behind one element, opened before the next: the comment is among them. */
	if (n + 1 < w->n_gaps && w->gaps[n] == FORMAT_UNINDENT && w->gaps[n + 1] == FORMAT_INDENT)
		n += 2;
	n += n < w->n_gaps && is_break(w->gaps[n]);
	drop_gaps(w, n);
	break_lines(w, w->last_line, comment->range.start.line, true);
}

static void write_comment(struct format_writer *w, const struct river_comment *comment,
			  uint32_t next_line)
{
	if (w->begun && comment->range.start.line != w->last_line)
		begin_own_line(w, comment);
	else if (w->begun && comment->range.start.line == next_line)
		river_tabwriter_text(&w->tabs, " ", 1);
	else if (w->begun)
		river_tabwriter_cell(&w->tabs, false);
	write_text(w, comment->text, strlen(comment->text));
	w->last_line = comment->range.end.line;
}

/* Behind the last comment before a token: lines as in the source. */
static void end_comments(struct format_writer *w, uint32_t next_line)
{
	bool ends_run = false, breaks = false;
	size_t n = 0;

	for (size_t i = 0; i < w->n_gaps; i++) {
		ends_run |= w->gaps[i] == FORMAT_NEW_RUN;
		breaks |= is_break(w->gaps[i]);
	}
	if (next_line == w->last_line && breaks)
		return;
	for (; n < w->n_gaps; n++)
		if (is_level(w->gaps[n]))
			apply(w, w->gaps[n]);
	w->n_gaps = 0;
	if (next_line == w->last_line)
		format_wish(w, FORMAT_BLANK);
	else
		break_lines(w, w->last_line, next_line, ends_run);
}

static bool breaks_line(const struct river_comment *comment)
{
	return comment->text[1] == '/' || comment->range.start.line != comment->range.end.line;
}

/* The next comment, if it stands before `at`; `stays`: and does not break the line. */
static const struct river_comment *comment_before(const struct format_writer *w,
						  const struct river_pos *at, bool stays)
{
	const struct river_comment *comment = &w->comments[w->next_comment];

	if (w->next_comment == w->n_comments || comment->range.start.offset >= at->offset ||
	    (stays && breaks_line(comment)))
		return NULL;
	return comment;
}

static void write_comments(struct format_writer *w, const struct river_pos *before)
{
	const struct river_comment *comment = comment_before(w, before, false);
	bool any = comment;

	while (comment) {
		w->next_comment++;
		const struct river_comment *next = comment_before(w, before, false);

		write_comment(w, comment, next ? next->range.start.line : before->line);
		comment = next;
	}
	if (any)
		end_comments(w, before->line);
}

/* Wherever they stood, here they stand in one line. */
static void write_comments_on_line(struct format_writer *w, const struct river_pos *before)
{
	const struct river_comment *comment;

	while ((comment = comment_before(w, before, true))) {
		w->next_comment++;
		river_tabwriter_text(&w->tabs, " ", 1);
		write_text(w, comment->text, strlen(comment->text));
	}
}

static void write_token(struct format_writer *w, const char *text, size_t n)
{
	for (size_t i = 0; i < w->n_gaps; i++)
		apply(w, w->gaps[i]);
	w->n_gaps = 0;
	write_text(w, text, n);
}

void format_token(struct format_writer *w, const struct river_pos *at, uint32_t end_line,
		  const char *text, size_t n)
{
	if (at)
		write_comments(w, at);
	write_token(w, text, n);
	if (at)
		w->last_line = end_line ? end_line : at->line;
}

void format_str(struct format_writer *w, const struct river_pos *at, const char *text)
{
	format_token(w, at, 0, text, strlen(text));
}

void format_on_line(struct format_writer *w, const struct river_pos *at, const char *text, size_t n)
{
	write_comments_on_line(w, at);
	write_token(w, text, n);
	w->last_line = at->line;
}

int format_finish(struct format_writer *w)
{
	while (w->next_comment < w->n_comments)
		write_comment(w, &w->comments[w->next_comment++], 0);
	return river_tabwriter_finish(&w->tabs);
}
