/* SPDX-License-Identifier: Apache-2.0 */
/* Targets between the configuration language and agent/target. */
#include "agent/component/target_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LABELS_RAW_MAX == 512, "the sentence says it");
#define TOO_MANY_LABELS "a target has more than 512 labels"

const char *target_map_validate(const void *field, struct river_arena *arena)
{
	const struct river_string_map *map = field;

	(void)arena;
	return map->n_items <= LABELS_RAW_MAX ? NULL : TOO_MANY_LABELS;
}

const char *target_maps_validate(const void *field, struct river_arena *arena)
{
	const struct river_string_maps *maps = field;
	const char *problem = NULL;

	for (size_t i = 0; i < maps->n_items && !problem; i++)
		problem = target_map_validate(&maps->items[i], arena);
	return problem;
}

int labels_of_map(const struct river_string_map *map, struct labels **ret_labels)
{
	_cleanup_free_ struct label *items = calloc(map->n_items + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_items; i++)
		items[i] = (struct label){ map->keys[i], map->values[i] };
	return labels_new(items, map->n_items, ret_labels);
}

int labels_of_maps(const struct river_string_maps *maps, struct labels ***ret_labels)
{
	struct labels **labels = calloc(maps->n_items + 1, sizeof(*labels));
	int r = labels ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < maps->n_items; i++)
		r = labels_of_map(&maps->items[i], &labels[i]);
	if (r < 0) {
		labels_array_free(labels, maps->n_items);
		return r;
	}
	*ret_labels = labels;
	return 0;
}

static const struct river_value *value_of_set(struct river_arena *arena, const struct labels *l)
{
	struct river_member *members = river_arena_alloc(arena, (l->n + 1) * sizeof(*members));

	if (!members)
		return NULL;
	for (size_t i = 0; i < l->n; i++)
		members[i] = (struct river_member){
			.key = l->items[i].name,
			.value = river_value_string(arena, l->items[i].value,
						    strlen(l->items[i].value)),
		};
	return river_value_object(arena, members, l->n);
}

const struct river_value *value_of_labels(struct river_arena *arena, struct labels *const *labels,
					  size_t n)
{
	const struct river_value **items = river_arena_alloc(arena, (n + 1) * sizeof(*items));

	if (!items)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		items[i] = value_of_set(arena, labels[i]);
		if (!items[i])
			return NULL;
	}
	return river_value_array(arena, items, n);
}

int target_maps_export(struct river_arena *arena, struct labels *const *labels, size_t n,
		       const struct river_value **ret_exports)
{
	struct river_member member = { .key = "targets",
				       .value = value_of_labels(arena, labels, n) };

	*ret_exports = member.value ? river_value_object(arena, &member, 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}
