/* SPDX-License-Identifier: Apache-2.0 */
/* The anchors of a YAML text. */
#include "agent/discovery/yaml_anchors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void yaml_anchors_fini(struct yaml_anchors *anchors)
{
	for (size_t i = 0; i < anchors->n; i++) {
		free(anchors->items[i].name);
		json_decref(anchors->items[i].value);
	}
	free(anchors->items);
	*anchors = (struct yaml_anchors){ 0 };
}

int yaml_anchors_add(struct yaml_anchors *anchors, const char *name, json_t *value, size_t n_nodes)
{
	struct yaml_anchor *items;
	char *copy;

	if (anchors->n == YAML_ANCHORS_MAX)
		return -E2BIG;
	items = reallocarray(anchors->items, anchors->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	anchors->items = items;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	items[anchors->n++] = (struct yaml_anchor){ copy, json_incref(value), n_nodes };
	return 0;
}

const struct yaml_anchor *yaml_anchors_find(const struct yaml_anchors *anchors, const char *name)
{
	for (size_t i = anchors->n; i-- > 0;)
		if (strcmp(anchors->items[i].name, name) == 0)
			return &anchors->items[i];
	return NULL;
}
