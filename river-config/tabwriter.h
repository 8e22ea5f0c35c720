/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text in lines of cells, each column as wide as its widest cell and one blank: what Go's text/tabwriter makes with minimum width 0,
 * padding 1 and the flags DiscardEmptyColumns and TabIndent.
 *
 * A column is a run of consecutive lines that all have that cell and another one behind it. Line breaks within a cell are part of it.
 */
#ifndef XAGENT_RIVER_CONFIG_TABWRITER_H
#define XAGENT_RIVER_CONFIG_TABWRITER_H

#include "river-config/text.h"
#include "river-config/vec.h"

struct river_tabwriter {
	struct river_text *out;	  /* borrowed */
	struct river_text text;	  /* of all pending cells */
	struct river_vec cells;	  /* pending, those of all lines in a row */
	struct river_vec lines;	  /* pending, the last one is being written */
	struct river_vec columns; /* while they are measured */
	bool failed;
};

/* Both live in `out`'s arena. */
void river_tabwriter_init(struct river_tabwriter *w, struct river_text *out);
/* Appends to the present cell. */
void river_tabwriter_text(struct river_tabwriter *w, const char *bytes, size_t n);
/* Empty cells at the beginning of the present line, each a tab; more where a cell above them is wider. */
void river_tabwriter_indent(struct river_tabwriter *w, unsigned int n_tabs);
/* The present cell ends. `discards`: a column of such cells alone, all empty, has no width. */
void river_tabwriter_cell(struct river_tabwriter *w, bool discards);
/* The present line ends; `flush`: and with it all columns. */
void river_tabwriter_line(struct river_tabwriter *w, bool flush);
/* Writes what is pending. 0 or -ENOMEM. */
int river_tabwriter_finish(struct river_tabwriter *w);

#endif
