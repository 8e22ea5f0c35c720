/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that only the graph understands: declare, argument, export, and the use of a declare. Private to the graph's files. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_MODULE_KINDS_H
#define XAGENT_AGENT_COMPONENT_GRAPH_MODULE_KINDS_H

#include "agent/component/graph/node.h"

struct argument_args {
	bool optional;
	const struct river_value *def;
	const char *comment;
	const struct river_value *value; /* what the module got, else def; never NULL */
};

struct export_args {
	const struct river_value *value;
};

struct declared_args {
	const struct river_value *values; /* an object: one member an attribute */
};

extern const struct component_kind declare_kind, argument_kind, export_kind, declared_kind;

/* For a kind that has no work of its own. */
int idle_build(struct component *c, const void *args, struct buf *why);
int idle_run(struct component *c, struct buf *why);
int idle_update(struct component *c, const void *args, struct buf *why);
void idle_stop(struct component *c);

/* The schema decodes what is written; to compare, the value counts, too. */
extern const struct river_schema argument_whole_schema;

/* The value is taken from the module's owner. RIVER_OK, RIVER_INVALID or -ENOMEM. */
int argument_decode(struct node *node, const struct node_source *source,
		    const struct river_scope *scope, struct river_diags *diags);

/* Any attribute, no block. */
int declared_decode(const struct river_stmt *block, const struct river_scope *scope,
		    struct river_arena *arena, struct river_diags *diags,
		    struct declared_args *ret);

#endif
