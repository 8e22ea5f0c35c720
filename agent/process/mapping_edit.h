/* SPDX-License-Identifier: Apache-2.0 */
/* How a `struct mappings` is made: a sorted set under construction, into which mappings are put as
 * mmap(2) puts them. */
#ifndef XAGENT_AGENT_PROCESS_MAPPING_EDIT_H
#define XAGENT_AGENT_PROCESS_MAPPING_EDIT_H

#include <stddef.h>

#include "agent/process/mapping.h"

struct mapping_edit {
	struct mapping *items; /* owned, with their references; ascending, never overlapping */
	size_t n;
	size_t cap;
};

/* Starts with what `from` holds (NULL: nothing). 0 or -ENOMEM. */
int mapping_edit_init(struct mapping_edit *e, const struct mappings *from);
void mapping_edit_fini(struct mapping_edit *e);
#define _cleanup_mapping_edit_ _cleanup_(mapping_edit_fini)

/* True when putting `m` would change nothing. */
bool mappings_cover(const struct mappings *set, const struct mapping *m);

/* True when an address of `m` holds something else in `set`: another file, or another part of one. Not where code that the set has elsewhere takes the place of memory without
 * a file: nothing that was there is called anything else. NULL-safe in `set`. */
bool mappings_differ(const struct mappings *set, const struct mapping *m);

/* Puts `m`, cutting what it covers; what sticks out on both sides is split. Consumes m->file on
 * success. Anonymous neighbours grow together, since JITs make them page by page. Beyond
 * MAPPINGS_MAX the highest addresses are dropped. 0 or -ENOMEM. */
int mapping_edit_put(struct mapping_edit *e, const struct mapping *m);

/* The set, with one reference; `e` is empty afterwards. 0 or -ENOMEM. */
int mapping_edit_finish(struct mapping_edit *e, struct mappings **ret_mappings);

#endif
