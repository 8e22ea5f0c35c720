/* SPDX-License-Identifier: Apache-2.0 */
/* The points of one time series, while they are summed; for query*.c only. */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_POINTS_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/store/query/query.h"

struct query_sum {
	uint64_t step; /* 0: the start */
	double value;
	uint64_t n_profiles;
	struct query_exemplar *exemplar; /* of query_malloc(); NULL: none */
};

/* Whether `a` is the better example: larger, or as large and earlier. */
bool query_exemplar_better(const struct query_exemplar *a, const struct query_exemplar *b);

struct query_points {
	struct query_sum *items;
	size_t n, cap;
};

/* Adds to the sum of its step, and takes its example in any case. They come nearly in order. 0 or -ENOMEM. */
int query_points_add(struct query_points *p, const struct query_sum *sum,
		     struct query_memory *memory);
/* By time, each step once. */
void query_points_finish(struct query_points *p);
void query_points_fini(struct query_points *p);

#endif
