/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list of targets. */
#include "agent/target/target_list.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/util/macro.h"

#define FIRST_ROOM 16

static int grow(struct target_list *list)
{
	size_t n_room = MAX_OF(list->n_room * 2, (size_t)FIRST_ROOM);
	struct labels **items = reallocarray(list->items, n_room, sizeof(struct labels *));

	if (!items)
		return -ENOMEM;
	list->items = items;
	list->n_room = n_room;
	return 0;
}

int target_list_add(struct target_list *list, struct labels *labels)
{
	_cleanup_(labels_unrefp) struct labels *owned = labels;

	assert(labels && list->n <= list->n_room);
	if (list->n >= TARGET_LIST_MAX)
		return -E2BIG;
	if (list->n == list->n_room) {
		int r = grow(list);

		if (r < 0)
			return r;
	}
	list->items[list->n++] = TAKE_PTR(owned);
	return 0;
}

void target_list_fini(struct target_list *list)
{
	labels_array_free(list->items, list->n);
	*list = (struct target_list){ 0 };
}

bool target_list_equal(const struct target_list *a, const struct target_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!labels_equal(a->items[i], b->items[i]))
			return false;
	return true;
}
