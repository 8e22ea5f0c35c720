/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a profile in a request of /ingest, as a Pyroscope server reads it. Pure.
 *
 *	name  = app [ "{" [ key "=" value { "," key "=" value } ] "}" ]
 *	app   = letters, digits, '_', '.', '-', '/'
 *	key   = letters, digits, '_', '.'
 *	value = anything but ',' and '}', without blanks around it
 *
 * A pair that is not ended is left out; of equal keys the last wins; a key __name__ takes the place of the app.
 */
#ifndef XAGENT_AGENT_RECEIVE_INGEST_NAME_H
#define XAGENT_AGENT_RECEIVE_INGEST_NAME_H

#include "agent/target/label.h"
#include "agent/util/arena.h"
#include "agent/util/buf.h"

struct ingest_name {
	const char *app;
	struct label items[LABELS_MAX]; /* without __name__ */
	size_t n;
};

/* Texts are in the arena. 0; -EINVAL with a sentence in `why`; -ENOMEM. */
int ingest_name_parse(const char *text, struct arena *arena, struct ingest_name *ret_name,
		      struct buf *why);
/* NULL: it has none. */
const char *ingest_name_label(const struct ingest_name *name, const char *key);

#endif
