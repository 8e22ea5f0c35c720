/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for one received profile. */
#include "agent/store/ingest/ingest_memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* From here on a block of its own: an arena wastes what is left of a chunk. */
#define LARGE_BYTES ((size_t)8 * 1024)

/* Before each piece of memory; 16 bytes, so that what follows is aligned for anything. */
struct block_head {
	struct large_block *large; /* NULL: in the arena */
	size_t unused;
};

struct large_block {
	struct list node;
	size_t n;
	size_t unused;
	struct block_head head;
};

_Static_assert(sizeof(struct block_head) == 16 && sizeof(struct large_block) % 16 == 0,
	       "alignment");

void ingest_memory_init(struct ingest_memory *m, size_t max_bytes)
{
	*m = (struct ingest_memory){ .max_bytes = max_bytes };
	/* Its ceiling is kept here, together with that of the large blocks. */
	arena_init(&m->arena, SIZE_MAX);
	list_init(&m->blocks);
}

void ingest_memory_fini(struct ingest_memory *m)
{
	LIST_FOREACH (&m->blocks, node)
		free(LIST_ENTRY(node, struct large_block, node));
	list_init(&m->blocks);
	m->used_bytes = 0;
	arena_fini(&m->arena);
}

static bool has_room(struct ingest_memory *m, size_t n)
{
	size_t used = m->used_bytes + m->arena.used_bytes;

	if (n <= m->max_bytes && used <= m->max_bytes - n)
		return true;
	m->full = true;
	return false;
}

static void *alloc_large(struct ingest_memory *m, size_t n)
{
	struct large_block *block = malloc(sizeof(*block) + n);

	if (!block)
		return NULL;
	block->n = n;
	block->head = (struct block_head){ .large = block };
	list_push_back(&m->blocks, &block->node);
	m->used_bytes += n;
	return block + 1;
}

static void *alloc_small(struct ingest_memory *m, size_t n)
{
	struct block_head *head = arena_alloc(&m->arena, sizeof(*head) + n);

	if (!head)
		return NULL;
	head->large = NULL;
	return head + 1;
}

void *ingest_memory_alloc(struct ingest_memory *m, size_t n)
{
	if (!has_room(m, n))
		return NULL;
	void *p = n >= LARGE_BYTES ? alloc_large(m, n) : alloc_small(m, n);
	m->out |= !p;
	return p;
}

void *ingest_memory_calloc(struct ingest_memory *m, size_t n, size_t item_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, item_bytes, &bytes))
		return NULL;
	void *p = ingest_memory_alloc(m, bytes);
	if (p)
		memset(p, 0, bytes);
	return p;
}

void ingest_memory_free(struct ingest_memory *m, void *p)
{
	if (!p)
		return;
	struct large_block *large = ((struct block_head *)p - 1)->large;

	if (!large)
		return;
	assert(m->used_bytes >= large->n);
	m->used_bytes -= large->n;
	list_remove(&large->node);
	free(large);
}
