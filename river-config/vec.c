/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays. */
#include "river-config/vec.h"

#include <errno.h>
#include <string.h>

static int vec_grow(struct river_vec *v, struct river_arena *arena)
{
	size_t max_items = v->max_items ? v->max_items * 2 : 4;
	void *data = NULL;

	if (max_items < SIZE_MAX / v->item_bytes)
		data = river_arena_alloc(arena, max_items * v->item_bytes);
	if (!data)
		return -ENOMEM;
	if (v->n_items)
		memcpy(data, v->data, v->n_items * v->item_bytes);
	v->data = data;
	v->max_items = max_items;
	return 0;
}

int river_vec_push(struct river_vec *v, struct river_arena *arena, const void *item)
{
	if (v->n_items == v->max_items) {
		int r = vec_grow(v, arena);

		if (r < 0)
			return r;
	}
	memcpy((char *)v->data + v->n_items * v->item_bytes, item, v->item_bytes);
	v->n_items++;
	return 0;
}
