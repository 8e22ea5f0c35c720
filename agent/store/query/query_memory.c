/* SPDX-License-Identifier: Apache-2.0 */
/* The account of one question. */
#include "agent/store/query/query_memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before each block; 16 bytes, so that what follows is aligned for anything. */
struct block {
	struct query_memory *owner;
	size_t n;
};

_Static_assert(sizeof(struct block) == 16, "alignment");

bool query_memory_take(struct query_memory *m, size_t n)
{
	if (!m)
		return true;
	if (n > query_memory_left(m)) {
		m->full = true;
		return false;
	}
	m->used_bytes += n;
	return true;
}

void query_memory_give(struct query_memory *m, size_t n)
{
	assert(!m || n <= m->used_bytes);
	if (m)
		m->used_bytes -= n;
}

size_t query_memory_left(const struct query_memory *m)
{
	assert(!m || m->used_bytes <= m->max_bytes);
	return m ? m->max_bytes - m->used_bytes : SIZE_MAX;
}

/* With its head. False: no size has so many bytes, which no account has either. */
static bool block_bytes(struct query_memory *m, size_t n, size_t item_bytes, size_t *ret_bytes)
{
	if (!__builtin_mul_overflow(n, item_bytes, ret_bytes) &&
	    !__builtin_add_overflow(*ret_bytes, sizeof(struct block), ret_bytes))
		return true;
	if (m)
		m->full = true;
	return false;
}

static void *adopt(struct query_memory *m, struct block *b, size_t bytes)
{
	if (!b) {
		query_memory_give(m, bytes);
		return NULL;
	}
	*b = (struct block){ m, bytes };
	return b + 1;
}

void *query_malloc(struct query_memory *m, size_t n, size_t item_bytes)
{
	size_t bytes;

	if (!block_bytes(m, n, item_bytes, &bytes) || !query_memory_take(m, bytes))
		return NULL;
	return adopt(m, malloc(bytes), bytes);
}

void *query_calloc(struct query_memory *m, size_t n, size_t item_bytes)
{
	size_t bytes;

	if (!block_bytes(m, n, item_bytes, &bytes) || !query_memory_take(m, bytes))
		return NULL;
	return adopt(m, calloc(1, bytes), bytes);
}

void *query_realloc(struct query_memory *m, void *p, size_t n, size_t item_bytes)
{
	struct block *old = p ? (struct block *)p - 1 : NULL;
	size_t before = old ? old->n : 0, bytes;

	assert(!old || old->owner == m);
	if (!block_bytes(m, n, item_bytes, &bytes) ||
	    (bytes > before && !query_memory_take(m, bytes - before)))
		return NULL;
	struct block *b = realloc(old, bytes);
	if (!b && bytes > before)
		query_memory_give(m, bytes - before);
	if (!b)
		return NULL;
	if (bytes < before)
		query_memory_give(m, before - bytes);
	*b = (struct block){ m, bytes };
	return b + 1;
}

char *query_strdup(struct query_memory *m, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = query_malloc(m, n, 1);

	return copy ? memcpy(copy, text, n) : NULL;
}

void query_free(void *p)
{
	if (!p)
		return;
	struct block *b = (struct block *)p - 1;

	query_memory_give(b->owner, b->n);
	free(b);
}
