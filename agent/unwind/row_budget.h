/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays under one common ceiling. */
#ifndef XAGENT_AGENT_UNWIND_ROW_BUDGET_H
#define XAGENT_AGENT_UNWIND_ROW_BUDGET_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct row_budget {
	size_t used_bytes;
	size_t max_bytes;
	bool exceeded; /* a growth was refused; it returned -E2BIG */
};

static inline int row_budget_charge(struct row_budget *b, size_t n_bytes)
{
	if (n_bytes > b->max_bytes - b->used_bytes) {
		b->exceeded = true;
		return -E2BIG;
	}
	b->used_bytes += n_bytes;
	return 0;
}

static inline void row_budget_release(struct row_budget *b, size_t n_bytes)
{
	b->used_bytes -= n_bytes;
}

/* Room for `need` items in the array at *items (a pointer to a pointer). 0, -E2BIG, -ENOMEM. */
int row_budget_grow(struct row_budget *b, void *items, size_t *cap, size_t item_bytes, size_t need);

#endif
