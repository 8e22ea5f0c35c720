/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels under change: a set, what was removed from it and what was added.
 *
 * Who walks over them sees the labels of the set first, by name, then those that were added or changed, in the order in which that
 * happened; and sees all of them as they were when the walk began. Of two labels that a rule gives one name the later wins, so the
 * order shows. Pure.
 */
#ifndef XAGENT_AGENT_TARGET_RELABEL_LABELS_H
#define XAGENT_AGENT_TARGET_RELABEL_LABELS_H

#include "agent/target/label.h"
#include "agent/util/arena.h"

/* Every value at its longest, a few times over. */
#define RELABEL_ARENA_BYTES ((size_t)64 << 20)

struct relabel_labels {
	const struct labels *base;
	bool hidden[LABELS_RAW_MAX]; /* of the base: removed or changed */
	struct label added[LABELS_RAW_MAX];
	size_t n_added;
	struct arena strings; /* of `added` */
};

/* Borrows `base`, which has at most LABELS_RAW_MAX labels, as every set does. */
void relabel_labels_init(struct relabel_labels *l, const struct labels *base);
void relabel_labels_fini(struct relabel_labels *l);

/* "" when absent. */
const char *relabel_labels_get(const struct relabel_labels *l, const char *name);
/* Copies; an empty value removes. 0, -E2BIG (LABELS_RAW_MAX added), -ENOMEM. */
int relabel_labels_set(struct relabel_labels *l, const char *name, const char *value);
void relabel_labels_remove(struct relabel_labels *l, const char *name);

/* Borrowed labels, as they are now; ret_items holds 2 * LABELS_RAW_MAX. Returns how many. */
size_t relabel_labels_list(const struct relabel_labels *l, struct label *ret_items);

/* A reference to the base when nothing changed. 0, -E2BIG, -ENOMEM. */
int relabel_labels_finish(const struct relabel_labels *l, struct labels **ret_labels);

#endif
