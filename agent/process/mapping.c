/* SPDX-License-Identifier: Apache-2.0 */
/* Executable mappings of a process: shared, immutable, searched. */
#include "agent/process/mapping.h"

#include <assert.h>

struct mappings *mappings_ref(struct mappings *m)
{
	m->n_refs++;
	return m;
}

void mappings_unref(struct mappings *m)
{
	if (!m)
		return;
	assert(m->n_refs > 0);
	if (--m->n_refs > 0)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		mapped_file_unref(m->items[i].file);
	free(m);
}

uint32_t mappings_first_ending_after(const struct mappings *m, uint64_t addr)
{
	uint32_t low = 0;
	uint32_t high = m->n;

	/* Invariant: items below `low` end at or before addr, items from `high` on after it. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (addr >= m->items[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t pc)
{
	uint32_t at = m ? mappings_first_ending_after(m, pc) : 0;

	return m && at < m->n && m->items[at].begin <= pc ? &m->items[at] : NULL;
}
