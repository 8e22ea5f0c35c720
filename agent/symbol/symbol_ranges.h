/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of one file's addresses, as far as they were asked for: ranges of text, each with a name or with the fact that it has none.
 *
 * Ascending and without overlaps, so one binary search answers. Names are handed out and stay where they are until they are dropped.
 */
#ifndef XAGENT_AGENT_SYMBOL_SYMBOL_RANGES_H
#define XAGENT_AGENT_SYMBOL_SYMBOL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/str.h"

struct symbol_range {
	uint64_t begin; /* vaddr */
	uint64_t end;
	uint64_t function_begin; /* where the function begins, also one without a name */
	bool has_function;	 /* else function_begin is unset */
	bool is_passing; /* not all sources could be asked: dropped when the interval ends */
	uint32_t name_bytes;
	char name[]; /* "": there is none */
};

struct symbol_ranges {
	struct symbol_range **items; /* owned, each too */
	size_t n;
	size_t cap;
	size_t bytes; /* held */
	size_t n_passing;
	size_t n_nameless;
};

void symbol_ranges_fini(struct symbol_ranges *s);

/* The range that holds the address, or NULL. */
const struct symbol_range *symbol_ranges_find(const struct symbol_ranges *s, uint64_t vaddr);
/* Adds one around `vaddr`, which none holds; what others hold is cut off. 0 or -ENOMEM. */
int symbol_ranges_add(struct symbol_ranges *s, uint64_t vaddr, const struct symbol_range *range,
		      struct str name, const struct symbol_range **ret_range);

void symbol_ranges_drop_passing(struct symbol_ranges *s);
void symbol_ranges_drop_nameless(struct symbol_ranges *s);

#endif
