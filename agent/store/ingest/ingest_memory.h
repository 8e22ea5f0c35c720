/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for one received profile, with a ceiling: a message of few bytes can ask for a hundred times as many once it is unpacked. Inside of
 * agent/store.
 *
 * Small blocks lie in an arena and go at the end; large ones, among them what the unpacking needs for a moment, are given back at once.
 */
#ifndef XAGENT_AGENT_STORE_INGEST_INGEST_MEMORY_H
#define XAGENT_AGENT_STORE_INGEST_INGEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/arena.h"
#include "agent/util/list.h"

struct ingest_memory {
	struct arena arena;
	struct list blocks; /* the large ones */
	size_t used_bytes;  /* of these */
	size_t max_bytes;   /* of both */
	bool full;	    /* the ceiling was reached */
	bool out;	    /* memory was out */
};

void ingest_memory_init(struct ingest_memory *m, size_t max_bytes);
void ingest_memory_fini(struct ingest_memory *m);

/* Not zeroed. NULL: the ceiling, or no memory. */
void *ingest_memory_alloc(struct ingest_memory *m, size_t n);
/* n items, zeroed. */
void *ingest_memory_calloc(struct ingest_memory *m, size_t n, size_t item_bytes);
/* NULL-safe. */
void ingest_memory_free(struct ingest_memory *m, void *p);

#endif
