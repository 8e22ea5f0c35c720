/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes labels fit to be sent: names and values that every Pyroscope server takes, and not more of
 * them than it takes.
 *
 * - Internal names: those that begin with "__" are dropped, but __name__ and __delta__.
 * - Names: [a-zA-Z_][a-zA-Z0-9_]*, at most LABEL_NAME_MAX. Any other character becomes '_', a
 *   leading digit gets one in front. A name that is empty, or internal only after the repair, is
 *   dropped.
 * - Values: valid UTF-8 without control characters, cut at LABEL_VALUE_MAX on the border of a code
 *   point. An empty value is no label.
 * - __name__: its value is [a-zA-Z_:][a-zA-Z0-9_:]*, by the same repair. A profile gets it when it is
 *   delivered (bpf/events.h); so what CPU profiles are called anyway, process_cpu, is no label here,
 *   and sets that mean the same are equal.
 * - Equal names: one that needed no repair wins over a repaired one, else the last wins.
 * - Too many: __name__, service_name and host stay, then the first by name, up to LABELS_MAX with
 *   __name__, which has its place also where there is none yet.
 *
 * Whoever adds labels to a clean set (external_labels) cleans the result again. Pure: no input, no
 * output, any thread.
 */
#ifndef XAGENT_AGENT_TARGET_LABEL_SANITIZER_H
#define XAGENT_AGENT_TARGET_LABEL_SANITIZER_H

#include <stddef.h>

#include "agent/target/label.h"

/* A whole target and the labels that every series gets (service_name, host). */
#define LABEL_SANITIZER_ITEMS_MAX (LABELS_RAW_MAX + 2)

struct label_sanitizer_report {
	unsigned int n_internal; /* dropped by contract: nobody loses anything */
	unsigned int n_renamed;	 /* names repaired */
	unsigned int n_repaired; /* values repaired or cut */
	unsigned int n_dropped;	 /* no usable name, a name that came twice, or one too many */
};

/* X(what, text): what may become of a label, for people. */
#define LABEL_SANITIZER_CHANGES(X)                                                                 \
	X(RENAMED, "servers do not take such a name")                                              \
	X(VALUE_CHANGED, "its value was too long, or not valid UTF-8, or held control characters") \
	X(NO_NAME, "nothing is left of its name that servers take")                                \
	X(TWICE, "another label has this name by now")                                             \
	X(TOO_MANY, "servers take 30 labels a series")

enum label_sanitizer_what {
#define LABEL_SANITIZER_ENUM(what, text) LABEL_SANITIZER_##what,
	LABEL_SANITIZER_CHANGES(LABEL_SANITIZER_ENUM)
#undef LABEL_SANITIZER_ENUM
};

struct label_sanitizer_change {
	enum label_sanitizer_what what;
	const char *name;   /* as it was given; borrowed */
	const char *became; /* "": the label was dropped; borrowed */
};

const char *label_sanitizer_what_text(enum label_sanitizer_what what);

/* Told of each change of a name, a value, or both. It must not keep the texts. */
struct label_sanitizer_listener {
	void (*fn)(const struct label_sanitizer_change *change, void *data);
	void *data;
};

/* What does not reach the server as it was given: n_renamed + n_repaired + n_dropped. */
unsigned int label_sanitizer_changes(const struct label_sanitizer_report *report);

/* Both results are set only on success. -E2BIG beyond LABEL_SANITIZER_ITEMS_MAX, -ENOMEM. */
int label_sanitizer_clean(const struct label *items, size_t n,
			  struct label_sanitizer_report *ret_report, struct labels **ret_labels);

/* The same, and `listener` (may be NULL) hears what became of whom. */
int label_sanitizer_clean_telling(const struct label *items, size_t n,
				  const struct label_sanitizer_listener *listener,
				  struct label_sanitizer_report *ret_report,
				  struct labels **ret_labels);

#endif
