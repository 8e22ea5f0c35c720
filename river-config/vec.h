/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An array that grows in an arena. Abandoned copies stay there until it ends, at most as much again
 * as the array.
 */
#ifndef XAGENT_RIVER_CONFIG_VEC_H
#define XAGENT_RIVER_CONFIG_VEC_H

#include "river-config/river.h"

struct river_vec {
	void *data;
	size_t n_items;
	size_t max_items;
	size_t item_bytes;
};

#define RIVER_VEC_INIT(type) ((struct river_vec){ .item_bytes = sizeof(type) })

/* Copies item_bytes from `item`. 0 or -ENOMEM. */
int river_vec_push(struct river_vec *v, struct river_arena *arena, const void *item);

#endif
