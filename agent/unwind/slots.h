/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices of a table that the kernel half reads. One that is given back is given out again after the grace time only, the one free for
 * longest first. Pure bookkeeping.
 */
#ifndef XAGENT_AGENT_UNWIND_SLOTS_H
#define XAGENT_AGENT_UNWIND_SLOTS_H

#include <stdint.h>

#include "agent/unwind/kernel_arena.h"

struct slots {
	uint32_t first; /* those below are never given out */
	uint32_t n;
	uint32_t n_fresh;	  /* from first on, were given out at least once */
	struct slot_freed *queue; /* a ring of n; owned */
	uint32_t head;
	uint32_t n_queued;
};

int slots_init(struct slots *s, uint32_t first, uint32_t n);
void slots_fini(struct slots *s);
/* 0 when there is none, now. */
uint32_t slots_take(struct slots *s, uint64_t now_ns);
void slots_give(struct slots *s, uint32_t slot, uint64_t now_ns);

#endif
