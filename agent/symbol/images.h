/* SPDX-License-Identifier: Apache-2.0 */
/* All images, those of equal content once: who uses them, and what they hold together. */
#ifndef XAGENT_AGENT_SYMBOL_IMAGES_H
#define XAGENT_AGENT_SYMBOL_IMAGES_H

#include "agent/symbol/image.h"

struct images {
	struct hash_table by_digest;
	struct list all;
	size_t n;
	size_t bytes;
	size_t source_bytes; /* of them, what can be dropped at any time */
};

void images_init(struct images *t);
/* All users are gone. */
void images_fini(struct images *t);

/* The image of that digest, or NULL. The caller becomes a user. */
struct image *images_find(struct images *t, uint64_t digest);
/* Takes `image`, with the caller as its only user; digest 0: it is nobody else's. 0 or -ENOMEM (not taken). */
int images_add(struct images *t, struct image *image, uint64_t digest);
/* The last user frees it. */
void images_release(struct images *t, struct image *image);

/* Around whatever changes what an image holds. */
void images_begin_change(struct images *t, const struct image *image);
void images_end_change(struct images *t, const struct image *image);

/* Drops sources, those that are needed least first, down to max_bytes. `keep` (may be NULL) is left alone. How many images lost
 * theirs. */
size_t images_evict_sources(struct images *t, size_t max_bytes, const struct image *keep,
			    uint64_t interval);
void images_end_interval(struct images *t, uint64_t interval);
void images_drop_names(struct images *t);

#endif
