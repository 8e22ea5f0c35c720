/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML text as a tree of nodes, each with its place: the one reader of YAML, for from_yaml and for who reads files of others.
 *
 * All is of an arena, whose ceiling bounds it. Nothing is expanded: an alias is a node that points to another one, so who follows aliases
 * bounds how often, and a node may be below itself.
 */
#ifndef XAGENT_RIVER_CONFIG_YAML_NODE_H
#define XAGENT_RIVER_CONFIG_YAML_NODE_H

#include "river-config/river.h"

/* People have a handful. Names are looked up in chains, so this bounds the work of an alias. */
#define RIVER_YAML_ANCHORS_MAX 10000

enum river_yaml_kind {
	RIVER_YAML_SCALAR,
	RIVER_YAML_SEQUENCE,
	RIVER_YAML_MAPPING,
	RIVER_YAML_ALIAS,
};

struct river_yaml_node {
	enum river_yaml_kind kind;
	bool quoted;   /* a scalar in any style but the plain one */
	bool entered;  /* for who follows aliases */
	uint32_t line; /* from 1, as the column */
	uint32_t column;
	const char *tag; /* short ("!!int"), or NULL: none was given, or "!" alone */

	const char *text; /* of a scalar, with a NUL behind; of an alias its name */
	size_t len;
	struct river_yaml_node **items; /* of a sequence; keys and values of a mapping by turns */
	size_t n_items;
	struct river_yaml_node *target; /* of an alias */
};

struct river_yaml_problem {
	const char *text; /* of the arena */
	size_t line;
	size_t column;
};

/*
 * The first document; NULL where there is none. At most `max_nodes`, RIVER_DEPTH_MAX within each other. RIVER_OK, RIVER_INVALID with
 * *ret_problem set, or -ENOMEM.
 */
int river_yaml_parse(const char *s, size_t n, size_t max_nodes, struct river_arena *arena,
		     struct river_yaml_node **ret_node, struct river_yaml_problem *ret_problem);

/* What an alias stands for; any other node is itself. NULL-safe. */
const struct river_yaml_node *river_yaml_resolve(const struct river_yaml_node *node);

/* A plain ~ or null, or nothing at all. */
bool river_yaml_is_null(const struct river_yaml_node *node);

/* The value of the first key that `compare` (as strcmp) finds equal, resolved; NULL: none, or no mapping. NULL-safe. */
const struct river_yaml_node *river_yaml_get(const struct river_yaml_node *map, const char *key,
					     int (*compare)(const char *, const char *));

/* The n-th item of a sequence, resolved. */
const struct river_yaml_node *river_yaml_item(const struct river_yaml_node *list, size_t n);

/* The text of a scalar, resolved; NULL: there is none. */
const char *river_yaml_text(const struct river_yaml_node *node);

#endif
