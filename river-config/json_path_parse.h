/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of JSON paths, as its two halves see it. */
#ifndef XAGENT_RIVER_CONFIG_JSON_PATH_PARSE_H
#define XAGENT_RIVER_CONFIG_JSON_PATH_PARSE_H

#include "river-config/json_path_filter.h"

struct river_path_parser {
	const char *s;
	size_t n;
	size_t i; /* next byte */
	unsigned int depth;
	struct river_arena *arena;
	const char *problem;
	bool failed; /* memory is out */
};

/* "what at N in PATH"; false. The first problem stays. */
bool river_path_fail(struct river_path_parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The next byte, taken; 0 at the end. */
char river_path_take(struct river_path_parser *p);

/* The next byte that is no blank, taken; 0 at the end. */
char river_path_take_past_blanks(struct river_path_parser *p);

/* The same, not taken. */
char river_path_peek_past_blanks(struct river_path_parser *p);

/* Up to the quote `end`, escapes resolved. */
bool river_path_text(struct river_path_parser *p, char end, struct river_text *t);

/* As many fragments as there are. */
bool river_path_fragments(struct river_path_parser *p, struct river_path *ret);

/* Behind the "?"; up to the bracket. */
bool river_path_filter(struct river_path_parser *p, const struct river_path_filter **ret);

#endif
