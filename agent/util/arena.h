/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator with a ceiling: everything of one interval or one load, freed at once. Not thread-safe; one user at a time. */
#ifndef XAGENT_AGENT_UTIL_ARENA_H
#define XAGENT_AGENT_UTIL_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *head;
	size_t used_bytes; /* chunks allocated, headers included */
	size_t max_bytes;
};

void arena_init(struct arena *a, size_t max_bytes);
void arena_fini(struct arena *a);

/* Uninitialised memory aligned to 16 bytes; NULL when the ceiling is reached or memory is out. */
void *arena_alloc(struct arena *a, size_t n);
char *arena_strndup(struct arena *a, const char *s, size_t n);

#endif
