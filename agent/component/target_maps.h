/* SPDX-License-Identifier: Apache-2.0 */
/* Targets between the configuration language (lists of maps) and agent/target (label sets). */
#ifndef XAGENT_AGENT_COMPONENT_TARGET_MAPS_H
#define XAGENT_AGENT_COMPONENT_TARGET_MAPS_H

#include "agent/target/label.h"
#include "river-config/river.h"

/* For rows of a schema: the list, or one map. */
const char *target_maps_validate(const void *field, struct river_arena *arena);
const char *target_map_validate(const void *field, struct river_arena *arena);

/* One label set of one map. 0, -E2BIG, -ENOMEM. */
int labels_of_map(const struct river_string_map *map, struct labels **ret_labels);
/* An array of one label set a map, to be freed by labels_array_free(). */
int labels_of_maps(const struct river_string_maps *maps, struct labels ***ret_labels);
/* The list as a value; NULL when the arena is full. */
const struct river_value *value_of_labels(struct river_arena *arena, struct labels *const *labels,
					  size_t n);
/* The exports of a discovery: an object with `targets`. 0 or -ENOMEM. */
int target_maps_export(struct river_arena *arena, struct labels *const *labels, size_t n,
		       const struct river_value **ret_exports);

#endif
