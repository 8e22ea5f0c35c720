/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label sets: sorted by name, unique names, no empty values. Immutable once made,
 * reference-counted, comparable by hash.
 *
 * A set holds what it was given, be it a target of discovery with hundreds of internal labels or a
 * finished series; only sets that come out of label_sanitizer_clean() are fit to be sent.
 *
 * Sets are made in the loop thread; any thread may read one, and take and drop references, while somebody holds one.
 */
#ifndef XAGENT_AGENT_TARGET_LABEL_H
#define XAGENT_AGENT_TARGET_LABEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* Pyroscope's limits (validation.max-label-names-per-series, -name, -value): 30, 1024 bytes, 2048
 * bytes. */
#define LABELS_MAX 30
#define LABEL_NAME_MAX 1024
#define LABEL_VALUE_MAX 2048
/* Discovery hands targets with many more (meta) labels than may be sent. */
#define LABELS_RAW_MAX 512

struct label {
	const char *name;
	const char *value;
};

struct labels {
	atomic_uint n_refs;
	uint64_t hash; /* over the sorted names and values */
	size_t n;
	struct labels *of[2]; /* references: sets that hold some of its texts; NULL: none */
	struct label items[]; /* texts of its own live behind the array */
};

/* Copies, sorts; of equal names the last wins; empty values are kept out (an empty label is no
 * label, so a last empty value removes the name). -E2BIG beyond LABELS_RAW_MAX, -ENOMEM. */
int labels_new(const struct label *items, size_t n, struct labels **ret_labels);

/* As labels_new(), for items of which many are those of `from`, name and value, or a name alone: such texts are not copied, `from` stays
 * as long as the new set. */
int labels_derive(struct labels *from, const struct label *items, size_t n,
		  struct labels **ret_labels);

/* All labels of both; of equal names those of `over` win. Texts are not copied, both stay as long as the new set. -E2BIG when the result is
 * beyond LABELS_RAW_MAX, -ENOMEM. */
int labels_merge(struct labels *base, struct labels *over, struct labels **ret_labels);

struct labels *labels_ref(struct labels *l);
void labels_unref(struct labels *l); /* NULL-safe */
DEFINE_CLEANUP(struct labels *, labels_unref);

/* One reference each, and the array; NULL-safe. */
void labels_array_free(struct labels **array, size_t n);

/* NULL when absent. */
const char *labels_get(const struct labels *l, const char *name);
bool labels_equal(const struct labels *a, const struct labels *b);

#endif
