/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the label sanitizer did to labels, each label once: for a log, where a line for every series would bury what it says.
 *
 * A component keeps one for as long as it runs, whatever target sets come and go. Loop thread only.
 */
#ifndef XAGENT_AGENT_TARGET_LABEL_SANITIZER_NOTES_H
#define XAGENT_AGENT_TARGET_LABEL_SANITIZER_NOTES_H

#include <stdbool.h>

#include "agent/target/label_sanitizer.h"
#include "agent/util/hash.h"

/* Who copies all labels of his pods has some dozen; what comes after these is counted (labels_dropped), but not told. */
#define LABEL_SANITIZER_NOTES_MAX 256

struct label_sanitizer_note;

struct label_sanitizer_notes {
	struct hash_table known;
	struct label_sanitizer_note *
		next; /* of known; those that were not handed out, in the order in which they came */
	struct label_sanitizer_note **last; /* NULL: &next */
};

void label_sanitizer_notes_fini(struct label_sanitizer_notes *notes); /* of zeroes, or used */
#define _cleanup_label_sanitizer_notes_ _cleanup_(label_sanitizer_notes_fini)

/* A listener's function; `notes` is a struct label_sanitizer_notes. What is known already, or has no room, is not noted. */
void label_sanitizer_notes_take(const struct label_sanitizer_change *change, void *notes);

/* What has been noted since the last call, one after the other; false: no more. The texts are borrowed until fini. */
bool label_sanitizer_notes_next(struct label_sanitizer_notes *notes,
				struct label_sanitizer_change *ret_change);

#endif
