/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens one after the other, the white space that is wished for between them, and the comments that belong there.
 *
 * Wishes are kept until the next token comes: if there are comments before it, line breaks are those of the source, and the wishes for some are
 * dropped. Comments are placed by their offsets, so a token that has none (a comma, an equal sign) never has a comment before it.
 */
#ifndef XAGENT_RIVER_CONFIG_FORMAT_WRITER_H
#define XAGENT_RIVER_CONFIG_FORMAT_WRITER_H

#include "river-config/tabwriter.h"

enum format_gap {
	FORMAT_BLANK,
	FORMAT_CELL,	/* the equal signs of a run stand below each other */
	FORMAT_LINE,	/* a line break within a run */
	FORMAT_NEW_RUN, /* a line break that ends it */
	FORMAT_INDENT,
	FORMAT_UNINDENT,
};

/* Between two tokens there are never more wishes: the end of an element, a blank line, the begin of the next one. */
#define FORMAT_MAX_GAPS 16

struct format_writer {
	struct river_tabwriter tabs;
	const struct river_comment *comments; /* in source order */
	size_t n_comments;
	size_t next_comment;
	enum format_gap gaps[FORMAT_MAX_GAPS];
	size_t n_gaps;
	unsigned int indent;
	uint32_t last_line; /* of the source, where the last token or comment ended */
	bool line_begun;    /* the present line has its indentation */
	bool begun;
};

void format_writer_init(struct format_writer *w, const struct river_comment *comments,
			size_t n_comments, struct river_text *out);
void format_wish(struct format_writer *w, enum format_gap gap);
/* `at` may be NULL; else comments that stand before it are written first. `end_line`: where the token ends, 0: on the line of its begin. */
void format_token(struct format_writer *w, const struct river_pos *at, uint32_t end_line,
		  const char *text, size_t n);
void format_str(struct format_writer *w, const struct river_pos *at, const char *text);
/* A token that may not come to stand on another line than the one before it: comments that end the line come behind it. */
void format_on_line(struct format_writer *w, const struct river_pos *at, const char *text,
		    size_t n);
/* Comments behind the last token, and what is pending. 0 or -ENOMEM. */
int format_finish(struct format_writer *w);

#endif
