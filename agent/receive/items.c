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

int receive_items_share(struct receive_items *list, struct labels *labels,
			struct shared_bytes *pprof, uint64_t time_ns)
{
	int r = grow(list);

	if (r < 0)
		return r;
	list->items[list->n++] =
		(struct receive_item){ labels_ref(labels), shared_bytes_ref(pprof), time_ns };
	list->n_bytes += pprof->n;
	return 0;
}

int receive_items_add(struct receive_items *list, struct labels *labels, uint8_t *data, size_t n,
		      uint64_t time_ns)
{
	_cleanup_(shared_bytes_unrefp) struct shared_bytes *bytes = NULL;
	int r = shared_bytes_new(data, n, &bytes);

	return r < 0 ? r : receive_items_share(list, labels, bytes, time_ns);
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
