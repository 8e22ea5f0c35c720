/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for the items of an index, many at a time: each lives as long as an outage, and one by one they would lie between what comes and goes,
 * and keep the pages of the heap in which that was. Zeroed memory is an empty one. Inside of spool.
 */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_INDEX_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_INDEX_H

#include <stddef.h>

struct spool_item;
struct spool_block;

struct spool_room {
	struct spool_block *blocks;
	struct spool_item *unused;
	size_t n_used;
};

/* Zeroed. NULL: no memory. */
struct spool_item *spool_room_take(struct spool_room *room);
/* The last one gives all of it back. */
void spool_room_give(struct spool_room *room, struct spool_item *item);
void spool_room_fini(struct spool_room *room);

#endif
