/* SPDX-License-Identifier: Apache-2.0 */
/* What the questions share; for query*.c only. */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_PRIVATE_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_PRIVATE_H

#include <assert.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "agent/store/query/query_intern.h"
#include "agent/store/query/query_memory.h"

/* A segment, and which of its series are asked for. */
struct query_part {
	const struct query *q;
	const struct segment *segment;
	const bool *takes; /* by series */
};

typedef int (*query_part_fn)(void *user, const struct query_part *part);

/* Calls for each segment that may have an answer, until the result is not 0, and returns that. */
int query_each_part(const struct query *q, query_part_fn fn, void *user);

/* Slots from `first` up to `end`. */
struct query_slots {
	size_t first, end;
};

/* Those of a series within the times; it has none when it is not asked for. */
struct query_slots query_slots(const struct query_part *part, size_t series);

/* By name, then value, as long as both have one; the shorter first. */
int query_labels_compare(const struct query_labels *a, const struct query_labels *b);

/* Label sets, each once. */
struct query_groups {
	struct query_memory *memory;
	struct query_intern keys; /* the texts of a set; its number is that of the set */
	struct query_labels *sets;
	size_t cap;
};

void query_groups_init(struct query_groups *g, struct query_memory *memory);
void query_groups_fini(struct query_groups *g);
/* The number of the set of a series, with `names` of these alone. 0, -ENOMEM, -ENOBUFS. */
int query_groups_add(struct query_groups *g, const struct segment *segment, size_t series,
		     const char *const *names, size_t n_names, uint32_t *ret_group);

/* The nodes of one segment after the other; the memory is kept. */
struct query_nodes {
	int64_t *values;  /* of each node; 0 outside of what is asked for */
	bool *used;	  /* it has a value, or a node below it has one; the root always */
	uint32_t *places; /* of used nodes in whatever the caller makes of them */
	size_t n, cap;
};

void query_nodes_fini(struct query_nodes *nodes);
int query_nodes_load(struct query_nodes *nodes, const struct query_part *part);

/* The first used node behind i, or n: most questions are about a small part of a segment. */
static inline uint32_t query_nodes_next(const struct query_nodes *nodes, uint32_t i)
{
	assert(i < nodes->n);

	const bool *next = memchr(nodes->used + i + 1, true, nodes->n - i - 1);

	return (uint32_t)(next ? (size_t)(next - nodes->used) : nodes->n);
}

/* Nodes whose stacks begin with the call site and have the frames that are asked for; NULL: all do. For query_free(). 0, -ENOMEM, -ETIMEDOUT. */
int query_within(const struct query_part *part, bool **ret_within);

#endif
