/* SPDX-License-Identifier: Apache-2.0 */
/* A rule made ready; for relabel.c and relabel_rule.c only. */
#ifndef XAGENT_AGENT_TARGET_RELABEL_RULE_H
#define XAGENT_AGENT_TARGET_RELABEL_RULE_H

#include "agent/target/relabel.h"
#include "agent/target/relabel_template.h"
#include "agent/util/str.h"

struct relabel_rule {
	enum relabel_action action;
	char **sources;
	size_t n_sources;
	char *separator;
	struct relabel_regex *regex;
	uint64_t modulus;
	struct relabel_template target, replacement;
};

struct relabel_rules {
	struct relabel_rule *items;
	size_t n;
	struct buf source, name, value; /* of the rule at work */
};

#endif
