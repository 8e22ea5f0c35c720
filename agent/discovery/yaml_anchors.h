/* SPDX-License-Identifier: Apache-2.0 */
/* The anchors of a YAML text: what its aliases stand for. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_YAML_ANCHORS_H
#define XAGENT_AGENT_DISCOVERY_YAML_ANCHORS_H

#include <jansson.h>

/* Written by hand. */
#define YAML_ANCHORS_MAX 1000

struct yaml_anchor {
	char *name;
	json_t *value;
	size_t n_nodes; /* what it counts, with all that is in it */
};

struct yaml_anchors {
	struct yaml_anchor *items;
	size_t n;
};

void yaml_anchors_fini(struct yaml_anchors *anchors);
/* Takes a reference; a name may come again. 0, -E2BIG, -ENOMEM. */
int yaml_anchors_add(struct yaml_anchors *anchors, const char *name, json_t *value, size_t n_nodes);
/* The last one of that name, or NULL. */
const struct yaml_anchor *yaml_anchors_find(const struct yaml_anchors *anchors, const char *name);

#endif
