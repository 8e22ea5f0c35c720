/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator with a ceiling. */
#include "agent/util/arena.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN 16
#define ARENA_CHUNK_BYTES ((size_t)64 * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t cap;
	_Alignas(ARENA_ALIGN) char bytes[];
};

void arena_init(struct arena *a, size_t max_bytes)
{
	*a = (struct arena){ .max_bytes = max_bytes };
}

void arena_fini(struct arena *a)
{
	while (a->head) {
		struct arena_chunk *next = a->head->next;

		free(a->head);
		a->head = next;
	}
	a->used_bytes = 0;
}

static struct arena_chunk *arena_grow(struct arena *a, size_t n)
{
	size_t cap = n > ARENA_CHUNK_BYTES ? n : ARENA_CHUNK_BYTES;
	size_t bytes = sizeof(struct arena_chunk) + cap;

	if (bytes > a->max_bytes || a->used_bytes > a->max_bytes - bytes)
		return NULL;
	struct arena_chunk *chunk = malloc(bytes);
	if (!chunk)
		return NULL;
	chunk->next = a->head;
	chunk->used = 0;
	chunk->cap = cap;
	a->head = chunk;
	a->used_bytes += bytes;
	return chunk;
}

void *arena_alloc(struct arena *a, size_t n)
{
	if (n > a->max_bytes)
		return NULL;
	n = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	struct arena_chunk *chunk = a->head;
	if (!chunk || chunk->cap - chunk->used < n)
		chunk = arena_grow(a, n);
	if (!chunk)
		return NULL;
	void *p = chunk->bytes + chunk->used;
	chunk->used += n;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}
