/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles of one request. */
#include "agent/receive/items.h"

#include <errno.h>
#include <stdlib.h>

static int grow(struct receive_items *list)
{
	size_t cap = list->cap ? 2 * list->cap : 4;
	struct receive_item *items;

	if (list->n < list->cap)
		return 0;
	if (list->n >= RECEIVE_MAX_ITEMS)
		return -E2BIG;
	items = reallocarray(list->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	list->cap = cap;
	return 0;
}

int receive_items_add(struct receive_items *list, struct labels *labels, uint8_t *data, size_t n,
		      uint64_t time_ns)
{
	struct shared_bytes *bytes = NULL;
	int r = shared_bytes_new(data, n, &bytes);

	r = r < 0 ? r : grow(list);
	if (r < 0) {
		shared_bytes_unref(bytes);
		return r;
	}
	list->items[list->n++] = (struct receive_item){ labels_ref(labels), bytes, time_ns };
	list->n_bytes += n;
	return 0;
}

void receive_items_fini(struct receive_items *list)
{
	for (size_t i = 0; i < list->n; i++) {
		labels_unref(list->items[i].labels);
		shared_bytes_unref(list->items[i].pprof);
	}
	free(list->items);
	*list = (struct receive_items){ 0 };
}
