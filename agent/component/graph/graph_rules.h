/* SPDX-License-Identifier: Apache-2.0 */
/* What a block is, before there is a node for it. Private to graph_blocks.c and graph_rules.c. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_GRAPH_RULES_H
#define XAGENT_AGENT_COMPONENT_GRAPH_GRAPH_RULES_H

#include "agent/component/graph/graph_private.h"

struct found {
	const struct component_kind *kind; /* NULL: nothing, or nothing here; which was reported */
	enum node_role role;
	enum graph_class class;
};

/* 0 or -ENOMEM. */
int building_identify(struct building *b, const struct module *m, const struct river_stmt *block,
		      struct found *ret_found);

/* declare, import.file …: what other blocks may be called after, or only the graph understands. */
bool block_is_special(const struct river_stmt *block);

/* From the start of a range, as long as so many bytes. */
struct river_range range_first_bytes(const struct river_range *of, size_t n);
struct river_range block_name_range(const struct river_stmt *block);

#endif
