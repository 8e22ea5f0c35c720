/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of a JSON path: expressions that are true or not for a value.
 *
 *	filter   = or
 *	or       = and { "||" and }
 *	and      = compare { "&&" compare }
 *	compare  = sum { ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "empty" | "has" | "exists" | "=~" | "~=" ) sum }
 *	sum      = product { ( "+" | "-" ) product }
 *	product  = unary { ( "*" | "/" ) unary }
 *	unary    = "!" unary | "(" or ")" | path | number | text | list | "/" pattern "/"
 *	         | "true" | "false" | "null" | "Nothing"
 *	         | ( "length" | "count" ) "(" or ")" | ( "match" | "search" ) "(" or "," or ")"
 */
#ifndef XAGENT_RIVER_CONFIG_JSON_PATH_FILTER_H
#define XAGENT_RIVER_CONFIG_JSON_PATH_FILTER_H

#include "river-config/json_path.h"

enum river_filter_op {
	RIVER_FILTER_CONSTANT,
	RIVER_FILTER_NOTHING,
	RIVER_FILTER_PATH,
	RIVER_FILTER_NOT,
	RIVER_FILTER_OR,
	RIVER_FILTER_AND,
	RIVER_FILTER_EQ,
	RIVER_FILTER_NE,
	RIVER_FILTER_LT,
	RIVER_FILTER_LE,
	RIVER_FILTER_GT,
	RIVER_FILTER_GE,
	RIVER_FILTER_IN,
	RIVER_FILTER_EMPTY,
	RIVER_FILTER_HAS,
	RIVER_FILTER_MATCHES,
	RIVER_FILTER_ADD,
	RIVER_FILTER_SUB,
	RIVER_FILTER_MUL,
	RIVER_FILTER_DIV,
	RIVER_FILTER_LENGTH,
	RIVER_FILTER_COUNT,
	RIVER_FILTER_MATCH,
	RIVER_FILTER_SEARCH,
};

struct river_path_filter {
	enum river_filter_op op;
	const struct river_value *constant;
	struct river_path path;
	const struct river_path_filter *left;
	const struct river_path_filter *right;
	unsigned int
		height; /* of the tree, filters inside of paths included; at most RIVER_DEPTH_MAX */
};

bool river_path_filter_matches(struct river_path_search *search,
			       const struct river_path_filter *filter, const struct river_value *v);

enum river_regex_mode {
	RIVER_REGEX_SEARCH, /* anywhere */
	RIVER_REGEX_WHOLE,
};

/* Whether the pattern compiles; NULL, or what is wrong with it. */
const char *river_regex_check(const char *pattern, size_t len, struct river_arena *arena);

/* A pattern that does not compile, or takes too long, matches nothing. */
bool river_regex_matches(const struct river_value *pattern, const struct river_value *text,
			 enum river_regex_mode mode);

#endif
