/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates, as Go's regexp package expands them: $1, ${1}, $name, ${name}, $$. A name is as long as it can be ($1x is ${1x}); one
 * that no group has is empty; a dollar sign that begins none of these is itself. Pure.
 */
#ifndef XAGENT_AGENT_TARGET_RELABEL_TEMPLATE_H
#define XAGENT_AGENT_TARGET_RELABEL_TEMPLATE_H

#include "agent/target/relabel_regex.h"

struct relabel_template {
	struct relabel_part *parts;
	size_t n_parts;
	char *text;
};

/* 0 or -ENOMEM; to be emptied by relabel_template_fini(), also after a failure. */
int relabel_template_init(struct relabel_template *t, const char *text);
void relabel_template_fini(struct relabel_template *t);

/* Without anything to expand it is a text; else NULL. */
const char *relabel_template_text(const struct relabel_template *t);

/* 0, -ENOBUFS, -ENOMEM. */
int relabel_template_append(const struct relabel_template *t, const struct relabel_regex *re,
			    const char *source, const struct relabel_spans *spans, struct buf *out);

#endif
