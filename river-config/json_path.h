/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths into JSON, in the dialect of Go's ojg/jp, which is close to RFC 9535.
 *
 *	path     = [ "$" | "@" | name ] { fragment }
 *	fragment = "." name | "." "*" | "*" | ".." [ name ] | "[" bracket "]"
 *	bracket  = "*" | item { "," item } | slice | "?" filter
 *	item     = quoted text | integer
 *	slice    = [ integer ] ":" [ integer ] [ ":" [ integer ] ]
 *
 * Filters are in json_path_filter.h.
 */
#ifndef XAGENT_RIVER_CONFIG_JSON_PATH_H
#define XAGENT_RIVER_CONFIG_JSON_PATH_H

#include "river-config/text.h"
#include "river-config/value.h"
#include "river-config/vec.h"

enum river_path_kind {
	RIVER_PATH_ROOT,    /* $ */
	RIVER_PATH_AT,	    /* @ */
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
};

/* RIVER_OK, RIVER_INVALID with *ret_problem set, or -ENOMEM. */
int river_path_parse(const char *s, size_t n, struct river_arena *arena, struct river_path *ret,
		     const char **ret_problem);

/* One look-up: what all of its parts share. */
struct river_path_search {
	struct river_arena *arena;
	const struct river_value *root;
	size_t n_steps; /* spent; see RIVER_PATH_STEPS_MAX */
	bool failed;	/* memory is out */
};

/* Values visited and comparisons made by one look-up; some 100 ms. What a person writes takes some thousand. */
#define RIVER_PATH_STEPS_MAX 2000000

/* True: one more step may be made. */
bool river_path_step(struct river_path_search *search);

/* Appends the matches below `v` (pointers to values) in the order of the reference. */
void river_path_get(struct river_path_search *search, const struct river_path *path,
		    const struct river_value *v, struct river_vec *matches);

#endif
