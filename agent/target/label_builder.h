/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of a target under construction: what a source tells, one after the other.
 *
 * Errors are kept and told once, by label_builder_make(). Pure; one user at a time.
 */
#ifndef XAGENT_AGENT_TARGET_LABEL_BUILDER_H
#define XAGENT_AGENT_TARGET_LABEL_BUILDER_H

#include <stddef.h>

#include "agent/target/label.h"
#include "agent/util/arena.h"

struct label_builder {
	struct label items[LABELS_RAW_MAX];
	size_t n;
	int error; /* the first one */
	struct arena texts;
};

void label_builder_init(struct label_builder *b);
void label_builder_fini(struct label_builder *b);
#define _cleanup_label_builder_ _cleanup_(label_builder_fini)

/* Both texts are copied; a NULL or empty value is no label. */
void label_builder_add(struct label_builder *b, const char *name, const char *value);
/* `key` is somebody else's word, such as a Docker label's name: each code point of it that may not be in a label's name becomes '_'. */
void label_builder_add_key(struct label_builder *b, const char *prefix, const char *key,
			   const char *value);
/* What was added after the first n (a value of b->n before) is forgotten: targets of one container share most. */
void label_builder_cut(struct label_builder *b, size_t n);

/* Of equal names the last wins. 0, -E2BIG, -ENOMEM. */
int label_builder_make(struct label_builder *b, struct labels **ret_labels);

#endif
