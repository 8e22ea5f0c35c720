/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated code that made way for later code at the same addresses: for samples that were taken before. The newest are kept, and looked
 * through one by one, which happens only where an address has been used twice between a sample and its naming. Pure.
 */
#ifndef XAGENT_AGENT_SYMBOL_CODE_PAST_H
#define XAGENT_AGENT_SYMBOL_CODE_PAST_H

#include <stddef.h>
#include <stdint.h>

struct code_range {
	uint64_t begin;
	uint64_t name_off; /* of the entry in its file */
	uint32_t n_bytes;
	uint32_t order; /* the later the larger */
};

struct code_past {
	struct code_range *items; /* owned; by the time when they were displaced */
	size_t n;
	size_t cap;
};

void code_past_fini(struct code_past *p);
/* Beyond `max` the oldest half goes. What finds no memory is not kept. */
void code_past_add(struct code_past *p, const struct code_range *range, size_t max);
/* The latest that held the pc before `order`; NULL: none. Borrowed until the next add. */
const struct code_range *code_past_find(const struct code_past *p, uint64_t pc, uint32_t order);

#endif
