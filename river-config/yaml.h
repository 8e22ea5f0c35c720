/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML to values, with the types that Go's yaml.v3 gives to what has none of its own.
 *
 *	text ─► events (libyaml) ─► nodes ─► values
 */
#ifndef XAGENT_RIVER_CONFIG_YAML_H
#define XAGENT_RIVER_CONFIG_YAML_H

#include "river-config/text.h"
#include "river-config/value.h"
#include "river-config/yaml_node.h"

/*
 * The first document; null where there is none. RIVER_OK, RIVER_INVALID with *ret_problem set
 * ("yaml: line 2: …"), or -ENOMEM. A map whose keys are not all texts is a capsule, which nobody can
 * look into.
 */
int river_yaml_read(const char *s, size_t n, struct river_arena *arena,
		    struct river_value **ret_value, const char **ret_problem);

/* What a scalar is. */
enum river_yaml_type {
	RIVER_YAML_NULL,
	RIVER_YAML_BOOL,
	RIVER_YAML_INT,
	RIVER_YAML_FLOAT,
	RIVER_YAML_TIMESTAMP,
	RIVER_YAML_STRING,
	RIVER_YAML_MERGE, /* the key << */
};

/*
 * A scalar as a value; a timestamp as text in the form of RFC 3339. RIVER_OK, RIVER_INVALID (the text
 * is not of the type that its tag says) or -ENOMEM.
 */
int river_yaml_scalar(const struct river_yaml_node *node, struct river_arena *arena,
		      struct river_value **ret_value, const char **ret_problem);

/* What it is, whatever the tag says, a plain one that has none. */
enum river_yaml_type river_yaml_scalar_type(const struct river_yaml_node *node,
					    struct river_arena *arena);

/* Appends "\n  line 2: …" for each key of a mapping that was there before. RIVER_OK or -ENOMEM. */
int river_yaml_check_keys(const struct river_yaml_node *node, struct river_arena *arena,
			  struct river_text *mistakes);

/* Dates, and dates with a time, into RFC 3339; false for all else. */
bool river_yaml_timestamp(const char *s, size_t n, struct river_text *t);

#endif
