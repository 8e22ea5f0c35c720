/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the mapping events of one process may cost: so many bytes of records a second. Who makes more (mmap and munmap in a loop) has the rest
 * left out, and only its own mappings are then not known.
 *
 * Records of a process are counted under its own number alone, so nobody is blamed for another. There is room for so many processes a
 * window; of those beyond, who made least is forgotten and begins anew.
 */
#ifndef XAGENT_AGENT_PROCESS_EVENT_BUDGET_H
#define XAGENT_AGENT_PROCESS_EVENT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* Some 9,000 mappings of usual paths: a program that starts with thousands of libraries, or one that becomes another by exec every few
 * milliseconds, needs a fifth of it. The kernel makes 15 MB a second for a process that does nothing else. */
#define EVENT_BUDGET_BYTES ((size_t)1 << 20)
#define EVENT_BUDGET_WINDOW_NS (1000000000ULL)
/* So many sets of places, one of which a process has by its number; 24 bytes a place. */
#define EVENT_BUDGET_SETS 128
#define EVENT_BUDGET_WAYS 8

struct event_budget;

/* max_bytes: of one process in a window. 0: EVENT_BUDGET_BYTES. 0 or -ENOMEM. */
int event_budget_new(size_t max_bytes, struct event_budget **ret_budget);
void event_budget_free(struct event_budget *b); /* NULL-safe */
DEFINE_CLEANUP(struct event_budget *, event_budget_free);

/* Forgets what was counted when the window is over; what was left out and not yet told is kept. */
void event_budget_begin(struct event_budget *b, uint64_t now_ns);

enum event_budget_answer {
	EVENT_BUDGET_TAKE,
	EVENT_BUDGET_FIRST, /* to be left out, and the first one of its process in this window */
	EVENT_BUDGET_LEAVE,
};
/* A record of n_bytes, of something that happened at time_ns. */
enum event_budget_answer event_budget_charge(struct event_budget *b, uint32_t pid, size_t n_bytes,
					     uint64_t time_ns);

/* Tells of each process that had records left out since the last call when the last of these happened. */
void event_budget_report(struct event_budget *b,
			 void (*fn)(uint32_t pid, uint64_t last_ns, void *data), void *data);

#endif
