/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal bytes, equal number: 0, 1, 2 … in the order in which they came.
 *
 * The hash is seeded: what goes in is chosen by others. Not thread-safe; one user at a time.
 */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_INTERN_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "agent/store/query/query_memory.h"
#include "agent/util/arena.h"
#include "agent/util/id_slots.h"

struct query_intern_item {
	const char *bytes; /* aligned to 16, a NUL behind them */
	uint32_t n;
	uint32_t hash;
};

struct query_intern {
	struct query_memory *memory;
	struct query_intern_item *items;
	size_t n, cap;
	struct id_slots slots; /* at most half full */
	uint64_t seed;
	struct arena arena;
	size_t n_unpaid_bytes; /* of the arena, that are not in the account */
	size_t max_bytes;
};

/* Within both: the account of the question (NULL: none), and a ceiling of its own. */
void query_intern_init(struct query_intern *in, struct query_memory *memory, size_t max_bytes);
void query_intern_fini(struct query_intern *in);

/* 0; -ENOMEM, for which memory->full may be the reason; -ENOBUFS: max_bytes. */
int query_intern_add(struct query_intern *in, const void *bytes, size_t n, uint32_t *ret_number);
/* ID_NONE: it is not there. */
uint32_t query_intern_find(const struct query_intern *in, const void *bytes, size_t n);
size_t query_intern_bytes(const struct query_intern *in);

uint64_t query_intern_new_seed(void);

#endif
