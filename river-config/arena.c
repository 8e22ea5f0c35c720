/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: chunks in a list, memory handed out from the newest. */
#include "river-config/river.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/*
 * Chunks double from the first on: one block's arguments take the first, a usual file some of the
 * last.
 */
#define ARENA_FIRST_BYTES 1024
#define ARENA_CHUNK_BYTES 16384

struct river_arena_chunk {
	struct river_arena_chunk *next;
	size_t cap;
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

struct river_arena_deferred {
	struct river_arena_deferred *next;
	void (*fn)(void *data);
	void *data;
};

void river_arena_init(struct river_arena *a, size_t max_bytes)
{
	*a = (struct river_arena){ .max_bytes = max_bytes };
}

void river_arena_fini(struct river_arena *a)
{
	for (struct river_arena_deferred *d = a->deferred; d; d = d->next)
		d->fn(d->data);
	a->deferred = NULL;
	while (a->head) {
		struct river_arena_chunk *next = a->head->next;

		free(a->head);
		a->head = next;
	}
	a->used_bytes = 0;
}

static size_t chunk_bytes(const struct river_arena *a)
{
	if (a->used_bytes < ARENA_FIRST_BYTES)
		return ARENA_FIRST_BYTES;
	return a->used_bytes < ARENA_CHUNK_BYTES ? a->used_bytes : ARENA_CHUNK_BYTES;
}

static struct river_arena_chunk *chunk_add(struct river_arena *a, size_t n)
{
	size_t usual = chunk_bytes(a);
	size_t cap = n > usual / 4 ? n : usual - sizeof(struct river_arena_chunk);
	size_t total = sizeof(struct river_arena_chunk) + cap;
	struct river_arena_chunk *c;

	if (total < cap || a->used_bytes > a->max_bytes || total > a->max_bytes - a->used_bytes)
		return NULL;
	c = calloc(1, total);
	if (!c)
		return NULL;
	c->cap = cap;
	a->used_bytes += total;
	return c;
}

/*
 * A large piece gets a chunk of its own behind the head, so that the rest of the head stays in use.
 */
static void chunk_link(struct river_arena *a, struct river_arena_chunk *c, bool large)
{
	if (large && a->head) {
		c->next = a->head->next;
		a->head->next = c;
		return;
	}
	c->next = a->head;
	a->head = c;
}

void *river_arena_alloc(struct river_arena *a, size_t n)
{
	const size_t align = alignof(max_align_t);
	struct river_arena_chunk *c = a->head;
	size_t size;

	if (n > SIZE_MAX - align)
		return NULL;
	size = n ? (n + align - 1) / align * align : align;
	if (!c || c->cap - c->used < size) {
		c = chunk_add(a, size);
		if (!c)
			return NULL;
		chunk_link(a, c, c->cap == size);
	}
	c->used += size;
	return c->data + c->used - size;
}

char *river_arena_strndup(struct river_arena *a, const char *s, size_t n)
{
	char *copy = n < SIZE_MAX ? river_arena_alloc(a, n + 1) : NULL;

	if (copy && n)
		memcpy(copy, s, n);
	return copy;
}

int river_arena_defer(struct river_arena *a, void (*fn)(void *data), void *data)
{
	struct river_arena_deferred *d = river_arena_alloc(a, sizeof(*d));

	if (!d)
		return -ENOMEM;
	*d = (struct river_arena_deferred){ .next = a->deferred, .fn = fn, .data = data };
	a->deferred = d;
	return 0;
}
