/* SPDX-License-Identifier: Apache-2.0 */
/* foreach: a template for every item of a collection. Private to the graph's files. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_FOREACH_H
#define XAGENT_AGENT_COMPONENT_GRAPH_FOREACH_H

#include "agent/component/graph/node.h"

struct foreach_args {
	const struct river_value *collection; /* an array */
	const char *var;
	bool enable_metrics; /* accepted: those of the components are shown in any case */
	const char *id; /* the field of an item that tells it from others; "": the whole item */
	bool hash_string_id;
};

extern const struct component_kind foreach_kind;

int foreach_decode(const struct river_stmt *block, const struct river_scope *scope,
		   struct river_arena *arena, struct river_diags *diags, struct foreach_args *ret);

/* The block `template`; NULL: there is none. */
const struct river_stmt *foreach_template(const struct river_stmt *block);

/* "foreach_<item>_", to which a number belongs: the how many-th of its like it is. */
int foreach_child_id(const struct foreach_args *args, const struct river_value *item,
		     struct buf *ret_id);

#endif
