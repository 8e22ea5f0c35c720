/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one question may take: everything that is allocated between its bytes and its answer is in one account, so that no row of ceilings has to
 * be added up. Inside of agent/store. Not thread-safe; one user at a time.
 */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_MEMORY_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/cleanup.h"

struct query_memory {
	size_t used_bytes, max_bytes;
	bool full; /* something was refused for max_bytes */
};

/* `m` NULL: no account. What is allocated goes back to it with query_free(); it must not move before. NULL: no memory, or m->full. Overflows are
 * refused. */
void *query_malloc(struct query_memory *m, size_t n, size_t item_bytes);
void *query_calloc(struct query_memory *m, size_t n, size_t item_bytes); /* zeroed */
/* p may be NULL, else it is of this account; what failed leaves it as it was. */
void *query_realloc(struct query_memory *m, void *p, size_t n, size_t item_bytes);
char *query_strdup(struct query_memory *m, const char *text);
void query_free(void *p); /* NULL-safe */

static inline void query_freep(void *p)
{
	query_free(*(void **)p);
}
#define _cleanup_query_free_ _cleanup_(query_freep)

/* For what is allocated elsewhere. False: too much. */
bool query_memory_take(struct query_memory *m, size_t n);
void query_memory_give(struct query_memory *m, size_t n);
size_t query_memory_left(const struct query_memory *m);

#endif
