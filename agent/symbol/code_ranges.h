/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated code in one address space: which range holds a pc, and where the range's name is written.
 *
 * Addresses are used again: of ranges that overlap, what was added later wins for what it covers. Added ranges wait until they are
 * settled into one ascending, disjoint order; only settled ones are found. What they displaced is kept for a while, since a sample may be
 * older. Names stay in the file that told of them. Pure.
 */
#ifndef XAGENT_AGENT_SYMBOL_CODE_RANGES_H
#define XAGENT_AGENT_SYMBOL_CODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "agent/symbol/superseded_code.h"

/* Of a number of ranges, those that later ones have displaced. */
#define CODE_RANGES_PAST_SHARE 8

struct code_ranges {
	struct code_range *items; /* owned */
	size_t n;
	size_t n_settled; /* so many of them, at the front */
	size_t cap;
	size_t max;
	struct superseded_code past; /* what the settled ones have displaced */
	size_t max_past;
	uint32_t n_added;
	uint64_t n_dropped; /* the oldest, in favour of newer ones; also what is no range at all */
};

/* At most `max` ranges are kept, the newest, and a share of that of the past. */
void code_ranges_init(struct code_ranges *r, size_t max);
/* Holds from the next add on. */
void code_ranges_set_max(struct code_ranges *r, size_t max);
void code_ranges_fini(struct code_ranges *r);
/* Forgets all ranges, keeps `max` and `n_dropped`. */
void code_ranges_reset(struct code_ranges *r);

/* Ranges that are empty, larger than 4 GiB, or not below 2^63 (where no user code is) are dropped. 0 or -ENOMEM. */
int code_ranges_add(struct code_ranges *r, uint64_t begin, uint64_t n_bytes, uint64_t name_off);
/* 0 or -ENOMEM; then nothing has changed. */
int code_ranges_settle(struct code_ranges *r);
/* Among the settled ones; NULL: none. Borrowed until the next add or settle. O(log n). */
const struct code_range *code_ranges_find(const struct code_ranges *r, uint64_t pc);

/* What held the pc before `later` did; NULL: that is not known. Borrowed likewise. */
const struct code_range *code_ranges_find_before(const struct code_ranges *r,
						 const struct code_range *later, uint64_t pc);

/* For so many bytes of memory. */
size_t code_ranges_max_of(size_t n_bytes);
size_t code_ranges_bytes(const struct code_ranges *r);

#endif
