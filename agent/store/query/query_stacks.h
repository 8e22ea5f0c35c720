/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes into one profile.proto: tables in which everything is once, and stacks over them; for query*.c only.
 *
 * Rows are numbered from 0 in the order in which they came; ids in the profile begin with 1. Mapping 0 is an empty one for locations
 * that have none, as the real server makes it.
 */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_STACKS_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_STACKS_H

#include "agent/store/query/query_private.h"

struct stacks_mapping {
	uint64_t start, limit, file_off;
	uint32_t filename, build_id; /* strings */
	uint32_t has_functions, has_filenames, has_lines, has_inlines;
};

struct stacks_function {
	uint32_t name, system_name, filename; /* strings */
	uint32_t start_line;
};

struct stacks_line {
	uint32_t function, line;
};

/* Followed by its lines. */
struct stacks_location {
	uint64_t address;
	uint32_t mapping;
	uint32_t n_lines;
};

struct query_stacks {
	struct query_memory *memory;
	struct query_intern strings, mappings, functions, locations; /* string 0 is "" */
	struct call_tree *tree; /* its names are numbers of locations, four bytes each */
	const char *type, *unit, *period_type,
		*period_unit; /* of the first series; NULL: nothing was there */
	int64_t period;
	struct query_nodes nodes; /* of the segment that is added */
};

int query_stacks_init(struct query_stacks *s, struct query_memory *memory);
void query_stacks_fini(struct query_stacks *s);
/* 0, -ENOMEM, -ENOBUFS; a query_part_fn. */
int query_stacks_add(void *stacks, const struct query_part *part);
/* A function without a place, for what was left out. */
int query_stacks_other(struct query_stacks *s, uint32_t *ret_location);

/* Appends the profile. */
int query_stacks_encode(struct query_stacks *s, const struct query *q, struct buf *out);

#endif
