/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a node's targets. */
#include "agent/discovery/kubelet_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct place {
	const char *namespace, *name;
	size_t at;
	struct labels *labels;
};

static const char *text_of(const struct labels *l, const char *name)
{
	const char *text = labels_get(l, name);

	return text ? text : "";
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	int by = strcmp(x->namespace, y->namespace);

	if (by == 0)
		by = strcmp(x->name, y->name);
	return by ? by : x->at < y->at ? -1 : x->at > y->at;
}

int kubelet_order(struct target_list *list)
{
	_cleanup_free_ struct place *places = calloc(list->n + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		places[i] = (struct place){
			.namespace = text_of(list->items[i], "__meta_kubernetes_namespace"),
			.name = text_of(list->items[i], "__meta_kubernetes_pod_name"),
			.at = i,
			.labels = list->items[i],
		};
	qsort(places, list->n, sizeof(*places), compare_places);
	for (size_t i = 0; i < list->n; i++)
		list->items[i] = places[i].labels;
	return 0;
}
