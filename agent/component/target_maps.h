/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets between the configuration language and agent/target.
 *
 * Label sets go from component to component as they are; only an expression that looks into one makes a map of it. So an export is a
 * list of references, and what did not change is the same object as before: who keeps something for a target may compare pointers.
 */
#ifndef XAGENT_AGENT_COMPONENT_TARGET_MAPS_H
#define XAGENT_AGENT_COMPONENT_TARGET_MAPS_H

#include "agent/target/label.h"
#include "river-config/river.h"

extern const struct river_foreign target_foreign;

/* An argument that is a list of targets: the member is a struct river_foreigns, see labels_of_targets(). */
#define TARGETS_FIELD(type, member, name, ...)                        \
	RIVER_FIELD_FOREIGN_LIST(type, member, name, &target_foreign, \
				 .validate = targets_validate, ##__VA_ARGS__)

/* For rows of a schema: the list, or one map. */
const char *targets_validate(const void *field, struct river_arena *arena);
const char *target_map_validate(const void *field, struct river_arena *arena);

/* One of the list, borrowed: it lives as long as the arguments. */
struct labels *target_of(const struct river_foreigns *targets, size_t i);
/* All of them, borrowed, in an array to be freed. 0 or -ENOMEM. */
int labels_of_targets(const struct river_foreigns *targets, struct labels ***ret_labels);
/* One label set of one map. 0, -E2BIG, -ENOMEM. */
int labels_of_map(const struct river_string_map *map, struct labels **ret_labels);
/* The list as a value, which takes references; NULL when the arena is full. */
const struct river_value *value_of_labels(struct river_arena *arena, struct labels *const *labels,
					  size_t n);
/* The exports of a discovery: an object with `targets`. 0 or -ENOMEM. */
int target_maps_export(struct river_arena *arena, struct labels *const *labels, size_t n,
		       const struct river_value **ret_exports);

#endif
