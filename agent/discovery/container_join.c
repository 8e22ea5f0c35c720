/* SPDX-License-Identifier: Apache-2.0 */
/* Container targets, to be found by container id. */
#include "agent/discovery/container_join.h"

#include <string.h>

#include "agent/target/selector.h"
#include "agent/util/macro.h"

struct labels *container_join_find(const struct container_join *j, const char *id)
{
	HASH_FOREACH_MATCH (&j->by_id, hash_str(id), node) {
		const struct container_target *t =
			CONTAINER_OF(node, struct container_target, node);

		if (strcmp(t->id, id) == 0)
			return t->labels;
	}
	return NULL;
}

int container_join_init(struct container_join *j, struct labels *const *targets, size_t n)
{
	struct container_target *items = calloc(MAX_OF(n, (size_t)1), sizeof(items[0]));

	if (!items)
		return -ENOMEM;
	*j = (struct container_join){ .items = items, .n = n };
	for (size_t i = n; i-- > 0;) {
		items[i].labels = labels_ref(targets[i]);
		items[i].id = selector_container_id(targets[i]);
		if (!items[i].id || container_join_find(j, items[i].id))
			continue;
		if (hash_insert(&j->by_id, &items[i].node, hash_str(items[i].id)) < 0) {
			container_join_fini(j);
			return -ENOMEM;
		}
	}
	return 0;
}

void container_join_fini(struct container_join *j)
{
	for (size_t i = 0; i < j->n; i++)
		labels_unref(j->items[i].labels);
	hash_fini(&j->by_id);
	free(j->items);
	*j = (struct container_join){ 0 };
}
