/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths into JSON: what configurations use of the dialect of Go's ojg/jp, which is close to RFC 9535.
 *
 *	path      = [ "$" | "@" ] [ name | "*" ] { fragment }
 *	fragment  = "." name | "." "*" | ".." ( name | "*" | bracket ) | bracket
 *	bracket   = "[" ( "*" | item { "," item } | slice | "?" or ) "]"
 *	item      = quoted text | integer
 *	slice     = [ integer ] ":" [ integer ] [ ":" [ integer ] ]
 *	or        = and { "||" and }
 *	and       = condition { "&&" condition }
 *	condition = "!" condition | "(" or ")" | operand [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) operand ]
 *	operand   = ( "$" | "@" ) { "." name | "[" item "]" } | number | quoted text | "true" | "false" | "null"
 *
 * A path alone is a condition: that it finds something.
 */
#ifndef XAGENT_RIVER_CONFIG_JSON_PATH_H
#define XAGENT_RIVER_CONFIG_JSON_PATH_H

#include "river-config/text.h"
#include "river-config/value.h"
#include "river-config/vec.h"

enum river_path_kind {
	RIVER_PATH_UNION,   /* members and items, one or more */
	RIVER_PATH_ALL,	    /* * */
	RIVER_PATH_DESCENT, /* .. */
	RIVER_PATH_SLICE,
	RIVER_PATH_FILTER,
};

struct river_path_item {
	const char *name; /* NULL: an index */
	int64_t index;	  /* negative: from the end */
};

struct river_path_filter;

struct river_path_fragment {
	enum river_path_kind kind;
	struct river_path_item *items; /* UNION */
	size_t n_items;
	int64_t start, end, step; /* SLICE */
	const struct river_path_filter *filter;
};

/* At most RIVER_DEPTH_MAX fragments. */
struct river_path {
	const struct river_path_fragment *fragments;
	size_t n_fragments;
	bool is_empty; /* there is not even a "$": it finds nothing */
};

enum river_filter_op {
	RIVER_FILTER_OR,
	RIVER_FILTER_AND,
	RIVER_FILTER_NOT,
	RIVER_FILTER_FOUND, /* what `a` says is there */
	RIVER_FILTER_EQ,
	RIVER_FILTER_NE,
	RIVER_FILTER_LT,
	RIVER_FILTER_LE,
	RIVER_FILTER_GT,
	RIVER_FILTER_GE,
};

struct river_path_operand {
	const struct river_value
		*constant; /* NULL: the path, whose fragments are of one item each */
	bool from_root;
	struct river_path path;
};

struct river_path_filter {
	enum river_filter_op op;
	const struct river_path_filter *left, *right; /* OR, AND; NOT has a left one */
	struct river_path_operand a, b;
};

struct river_path_parser {
	const char *s;
	size_t n;
	size_t i; /* next byte */
	unsigned int
		n_conditions; /* at most RIVER_DEPTH_MAX in a path: evaluation recurses over them */
	bool in_filter;
	struct river_arena *arena;
	const char *problem;
	bool failed; /* memory is out */
};

/* RIVER_OK, RIVER_INVALID with *ret_problem set, or -ENOMEM. */
int river_path_parse(const char *s, size_t n, struct river_arena *arena, struct river_path *ret,
		     const char **ret_problem);

/* For the two halves of the parser. "what at N in PATH"; false. The first problem stays. */
bool river_path_fail(struct river_path_parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The next byte that is no blank, not taken; 0 at the end. */
char river_path_peek(struct river_path_parser *p);
/* Behind blanks; taken if it is there. */
bool river_path_accept(struct river_path_parser *p, const char *text);
/* From a quote on, up to the same. NULL: it failed. */
const char *river_path_text(struct river_path_parser *p, size_t *ret_len);
/* As many fragments as there are. */
bool river_path_fragments(struct river_path_parser *p, struct river_path *ret);
/* Behind the "?", up to the bracket. */
bool river_path_filter(struct river_path_parser *p, const struct river_path_filter **ret);

/* One look-up: what all of its parts share. */
struct river_path_search {
	struct river_arena *arena;
	const struct river_value *root;
	size_t n_steps; /* spent; see RIVER_SYMLINK_WALK_MAX */
	bool failed;	/* memory is out */
};

/* Values visited and comparisons made by one look-up; some 100 ms. What a person writes takes some thousand. */
#define RIVER_SYMLINK_WALK_MAX 2000000

/* True: one more step may be made. */
bool river_path_step(struct river_path_search *search);
/* What the item names of `v`, or NULL. */
const struct river_value *river_path_pick(const struct river_value *v,
					  const struct river_path_item *item);
bool river_path_matches(struct river_path_search *search, const struct river_path_filter *filter,
			const struct river_value *v);

#endif
