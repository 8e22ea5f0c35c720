/* SPDX-License-Identifier: Apache-2.0 */
/* Which index ranges of an array are free: first fit, merged when given back. Pure bookkeeping; knows nothing of what lies there. */
#ifndef XAGENT_AGENT_UNWIND_EXTENT_H
#define XAGENT_AGENT_UNWIND_EXTENT_H

#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t first;
	uint32_t n;
};

struct extents {
	struct extent *free; /* ascending, never adjacent; owned */
	size_t n_free;
	size_t cap;
	uint32_t used;
};

int extents_init(struct extents *e, uint32_t n);
void extents_fini(struct extents *e);

/* 0, or -ENOSPC when no gap is large enough. n > 0. */
int extents_take(struct extents *e, uint32_t n, uint32_t *ret_first);
/* What was taken; -ENOMEM leaves the range unusable but everything consistent. */
int extents_give(struct extents *e, uint32_t first, uint32_t n);

#endif
