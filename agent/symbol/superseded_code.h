/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated code that made way for later code at the same addresses: for samples that were taken before. The newest are kept, and looked
 * through one by one, which happens only where an address has been used twice between a sample and its naming. Pure.
 */
#ifndef XAGENT_AGENT_SYMBOL_SUPERSEDED_CODE_H
#define XAGENT_AGENT_SYMBOL_SUPERSEDED_CODE_H

#include <stddef.h>
#include <stdint.h>

struct code_range {
	uint64_t begin;
	uint64_t name_off; /* of the entry in its file */
	uint32_t n_bytes;
	uint32_t order; /* the later the larger */
};

struct superseded_code {
	struct code_range *items; /* owned; by the time when they were displaced */
	size_t n;
	size_t cap;
};

void superseded_code_fini(struct superseded_code *p);
/* Beyond `max` the oldest half goes. What finds no memory is not kept. */
void superseded_code_add(struct superseded_code *p, const struct code_range *range, size_t max);
/* The latest that held the pc before `order`; NULL: none. Borrowed until the next add. */
const struct code_range *superseded_code_find(const struct superseded_code *p, uint64_t pc,
					      uint32_t order);

#endif
