/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web page, as it lies in the program: its files, and one file that holds a flame graph and all that shows it.
 *
 * The files are those of this folder, unchanged. Pure.
 */
#ifndef XAGENT_AGENT_PAGE_PAGE_H
#define XAGENT_AGENT_PAGE_PAGE_H

#include <stddef.h>

#include "agent/util/buf.h"

struct page_file {
	const char *name; /* "page.css"; "index.html" is the page */
	const char *content_type;
	const char *bytes;
	size_t n;
};

/* NULL: there is no such file. */
const struct page_file *page_find(const char *name);
const struct page_file *page_files(size_t *ret_n);

/* One flame graph to be looked at without a server. */
struct page_profile {
	const char *title;	      /* plain text */
	const char *unit;	      /* of values: "samples", "nanoseconds" */
	const char *flamebearer_json; /* as flamebearer_json() writes it */
};

/* A whole HTML file that needs no other: styles, scripts and data are in it. Texts are escaped for where they stand. 0 or -errno. */
int page_standalone(const struct page_profile *profile, struct buf *out);

#endif
