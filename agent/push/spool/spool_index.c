/* SPDX-License-Identifier: Apache-2.0 */
/* Room for the items of an index. */
#include "agent/push/spool/spool_index.h"

#include <stdlib.h>

#include "agent/push/spool/spool_private.h"

/* 16 KiB of items. */
#define BLOCK_ITEMS 204

struct spool_block {
	struct spool_block *next;
	struct spool_item items[BLOCK_ITEMS];
};

static bool room_grow(struct spool_room *room)
{
	struct spool_block *block = malloc(sizeof(*block));

	if (!block)
		return false;
	block->next = room->blocks;
	room->blocks = block;
	for (size_t i = BLOCK_ITEMS; i-- > 0;) {
		block->items[i].next_unused = room->unused;
		room->unused = &block->items[i];
	}
	return true;
}

struct spool_item *spool_room_take(struct spool_room *room)
{
	struct spool_item *item;

	if (!room->unused && !room_grow(room))
		return NULL;
	item = room->unused;
	room->unused = item->next_unused;
	room->n_used++;
	*item = (struct spool_item){ 0 };
	return item;
}

void spool_room_give(struct spool_room *room, struct spool_item *item)
{
	item->next_unused = room->unused;
	room->unused = item;
	if (--room->n_used == 0)
		spool_room_fini(room);
}

void spool_room_fini(struct spool_room *room)
{
	struct spool_block *next;

	for (struct spool_block *block = room->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	*room = (struct spool_room){ 0 };
}
