/* SPDX-License-Identifier: Apache-2.0 */
/* The forms in which `xagent profile` writes its result: their names, and the names of their files. Pure. */
#ifndef XAGENT_AGENT_CLI_PROFILE_PROFILE_FORMAT_H
#define XAGENT_AGENT_CLI_PROFILE_PROFILE_FORMAT_H

#include <stdbool.h>

#include "agent/util/buf.h"

enum profile_format {
	PROFILE_FORMAT_UNSET,
	PROFILE_FOLDED,
	PROFILE_PPROF,
	PROFILE_TABLE,
	PROFILE_HTML,
	PROFILE_SVG,
	PROFILE_SPEEDSCOPE,
	PROFILE_OTLP,
	PROFILE_FORMAT_MAX
};

#define PROFILE_FORMAT_NAMES "folded, pprof, table, html, svg, speedscope or otlp"

bool profile_format_parse(const char *name, enum profile_format *ret_format);
const char *profile_format_name(enum profile_format format);

/* As the end of the file's name says; PROFILE_FOLDED where it says nothing. */
enum profile_format profile_format_of_file(const char *path);

/* The file for what a terminal cannot show, when no other was named; NULL: a terminal shows it. */
const char *profile_format_own_file(enum profile_format format);

/* One holds one event: of several each has a file of its own. */
bool profile_format_is_of_one_event(enum profile_format format);
/* "app.cpu.html" of "app.html" and "cpu". */
void profile_format_file_of(enum profile_format format, const char *path, const char *part,
			    struct buf *out);

/* All of it is one graph: it is written at the end, once. */
bool profile_format_is_graph(enum profile_format format);

#endif
