/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the kernel's functions that were asked for lately, by their numbers: an interval asks for nearly those of the one before, and
 * each would be unpacked with 127 others.
 *
 * Slots by a hash of the number, four to choose from; names behind each other. When there is no room for a name all are forgotten.
 */
#ifndef XAGENT_AGENT_SYMBOL_KALLSYMS_RECENT_H
#define XAGENT_AGENT_SYMBOL_KALLSYMS_RECENT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"

/* A busy host is seen in some 600 of the kernel's functions within a minute, 23 bytes each. */
#define KALLSYMS_RECENT_SLOTS_BITS 11
#define KALLSYMS_RECENT_TEXT_BYTES ((size_t)48 * 1024)
#define KALLSYMS_RECENT_BYTES             \
	(KALLSYMS_RECENT_TEXT_BYTES + 1 + \
	 ((size_t)1 << KALLSYMS_RECENT_SLOTS_BITS) * sizeof(struct kallsyms_recent_slot))

struct kallsyms_recent_slot {
	uint32_t number; /* + 1; 0: free */
	uint32_t at;	 /* in `text` */
};

struct kallsyms_recent {
	struct kallsyms_recent_slot *slots; /* owned; NULL: none yet, or there is no room */
	struct buf text;		    /* NUL after each name */
};

/* Nothing is kept where max_bytes is less than KALLSYMS_RECENT_BYTES. */
void kallsyms_recent_init(struct kallsyms_recent *recent, size_t max_bytes);
void kallsyms_recent_fini(struct kallsyms_recent *recent);
/* Borrowed until the next put; NULL: it is not known. */
const char *kallsyms_recent_get(const struct kallsyms_recent *recent, uint32_t number);
/* One that is not known. When memory is out it stays so. */
void kallsyms_recent_put(struct kallsyms_recent *recent, uint32_t number, const char *name);
size_t kallsyms_recent_bytes(const struct kallsyms_recent *recent);

#endif
