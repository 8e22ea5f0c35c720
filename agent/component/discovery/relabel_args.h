/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks `rule` of any component that relabels, and how they become rules of agent/target. */
#ifndef XAGENT_AGENT_COMPONENT_DISCOVERY_RELABEL_ARGS_H
#define XAGENT_AGENT_COMPONENT_DISCOVERY_RELABEL_ARGS_H

#include "agent/target/relabel.h"
#include "river-config/river.h"

/* The capsule's type name in the configuration language. */
#define RELABEL_RULES_CAPSULE "relabel.Rules"

/* What `rules` exports: it stays where it is through updates, and has the rules of now. Its owner is the component. */
struct relabel_export {
	struct relabel_rules *rules;
};

struct relabel_rule_args {
	struct river_strings source_labels;
	const char *separator, *regex;
	uint64_t modulus;
	const char *target_label, *replacement, *action;
};

extern const struct river_schema relabel_rule_schema;

/* For the row of the blocks (struct river_blocks). */
const char *relabel_rules_validate(const void *field, struct river_arena *arena);
bool relabel_rules_args_equal(const struct river_blocks *a, const struct river_blocks *b);

/* Of blocks that were decoded without an error: 0 or -ENOMEM. */
int relabel_rules_of_args(const struct river_blocks *blocks, struct relabel_rules **ret_rules);

#endif
