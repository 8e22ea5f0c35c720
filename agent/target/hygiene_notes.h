/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hygiene did to labels, each label once: for a log, where a line for every series would bury what it says.
 *
 * A component keeps one for as long as it runs, whatever target sets come and go. Loop thread only.
 */
#ifndef XAGENT_AGENT_TARGET_HYGIENE_NOTES_H
#define XAGENT_AGENT_TARGET_HYGIENE_NOTES_H

#include <stdbool.h>

#include "agent/target/hygiene.h"
#include "agent/util/hash.h"

/* Who copies all labels of his pods has some dozen; what comes after these is counted (labels_dropped), but not told. */
#define HYGIENE_NOTES_MAX 256

struct hygiene_note;

struct hygiene_notes {
	struct hash_table known;
	struct hygiene_note *
		next; /* of known; those that were not handed out, in the order in which they came */
	struct hygiene_note **last; /* NULL: &next */
};

void hygiene_notes_fini(struct hygiene_notes *notes); /* of zeroes, or used */
#define _cleanup_hygiene_notes_ _cleanup_(hygiene_notes_fini)

/* A listener's function; `notes` is a struct hygiene_notes. What is known already, or has no room, is not noted. */
void hygiene_notes_take(const struct hygiene_change *change, void *notes);

/* What has been noted since the last call, one after the other; false: no more. The texts are borrowed until fini. */
bool hygiene_notes_next(struct hygiene_notes *notes, struct hygiene_change *ret_change);

#endif
