/* SPDX-License-Identifier: Apache-2.0 */
/* What the label sanitizer did to labels, each label once. */
#include "agent/target/label_sanitizer_notes.h"

#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

struct label_sanitizer_note {
	struct hash_node node;
	struct label_sanitizer_note *next;
	struct label_sanitizer_change change; /* its texts are the note's own */
};

static void note_free(struct label_sanitizer_note *note)
{
	if (!note)
		return;
	free((char *)note->change.name);
	free((char *)note->change.became);
	free(note);
}
DEFINE_CLEANUP(struct label_sanitizer_note *, note_free);

void label_sanitizer_notes_fini(struct label_sanitizer_notes *notes)
{
	HASH_FOREACH (&notes->known, node) {
		hash_remove(&notes->known, node);
		note_free(CONTAINER_OF(node, struct label_sanitizer_note, node));
	}
	hash_fini(&notes->known);
	*notes = (struct label_sanitizer_notes){ 0 };
}

static uint64_t change_hash(const struct label_sanitizer_change *change)
{
	return hash_bytes(change->name, strlen(change->name), change->what);
}

static bool is_known(const struct label_sanitizer_notes *notes,
		     const struct label_sanitizer_change *change)
{
	HASH_FOREACH_MATCH (&notes->known, change_hash(change), node) {
		const struct label_sanitizer_note *n =
			CONTAINER_OF(node, struct label_sanitizer_note, node);

		if (n->change.what == change->what && strcmp(n->change.name, change->name) == 0)
			return true;
	}
	return false;
}

static struct label_sanitizer_note *note_new(const struct label_sanitizer_change *change)
{
	_cleanup_(note_freep) struct label_sanitizer_note *note = calloc(1, sizeof(*note));

	if (!note)
		return NULL;
	note->change.what = change->what;
	note->change.name = strdup(change->name);
	note->change.became = strdup(change->became);
	return note->change.name && note->change.became ? TAKE_PTR(note) : NULL;
}

void label_sanitizer_notes_take(const struct label_sanitizer_change *change, void *data)
{
	struct label_sanitizer_notes *notes = data;
	_cleanup_(note_freep) struct label_sanitizer_note *note = NULL;

	if (notes->known.n >= LABEL_SANITIZER_NOTES_MAX || is_known(notes, change))
		return;
	note = note_new(change);
	/* Without memory it is told another time. */
	if (!note || hash_insert(&notes->known, &note->node, change_hash(change)) < 0)
		return;
	*(notes->last ? notes->last : &notes->next) = note;
	notes->last = &note->next;
	note = NULL;
}

bool label_sanitizer_notes_next(struct label_sanitizer_notes *notes,
				struct label_sanitizer_change *ret_change)
{
	const struct label_sanitizer_note *note = notes->next;

	if (!note)
		return false;
	*ret_change = note->change;
	notes->next = note->next;
	if (!notes->next)
		notes->last = NULL;
	return true;
}
