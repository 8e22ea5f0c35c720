/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays under one common ceiling. */
#include "agent/unwind/row_budget.h"

#include <string.h>

#include "agent/util/macro.h"

#define MIN_ITEMS 64

int row_budget_grow(struct row_budget *b, void *items, size_t *cap, size_t item_bytes, size_t need)
{
	size_t grown_cap = MAX_OF(*cap, (size_t)MIN_ITEMS);
	void *old, *grown;

	if (need <= *cap)
		return 0;
	while (grown_cap < need)
		grown_cap *= 2;
	int r = row_budget_charge(b, (grown_cap - *cap) * item_bytes);
	if (r < 0)
		return r;
	memcpy(&old, items, sizeof(old));
	grown = reallocarray(old, grown_cap, item_bytes);
	if (!grown) {
		row_budget_release(b, (grown_cap - *cap) * item_bytes);
		return -ENOMEM;
	}
	memcpy(items, &grown, sizeof(grown));
	*cap = grown_cap;
	return 0;
}
