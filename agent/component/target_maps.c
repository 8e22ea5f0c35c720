/* SPDX-License-Identifier: Apache-2.0 */
/* Targets between the configuration language and agent/target. */
#include "agent/component/target_maps.h"

#include <assert.h>
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

const char *targets_validate(const void *field, struct river_arena *arena)
{
	const struct river_foreigns *targets = field;

	(void)arena;
	for (size_t i = 0; i < targets->n_items; i++)
		if (!targets->items[i])
			return TOO_MANY_LABELS;
	return NULL;
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

struct labels *target_of(const struct river_foreigns *targets, size_t i)
{
	assert(i < targets->n_items);
	return (struct labels *)targets->items[i];
}

int labels_of_targets(const struct river_foreigns *targets, struct labels ***ret_labels)
{
	struct labels **labels = calloc(targets->n_items + 1, sizeof(struct labels *));

	if (!labels)
		return -ENOMEM;
	for (size_t i = 0; i < targets->n_items; i++)
		labels[i] = target_of(targets, i);
	*ret_labels = labels;
	return 0;
}

static const struct river_value *target_open(struct river_arena *arena, const void *item)
{
	const struct labels *l = item;
	struct river_member *members = river_arena_alloc(arena, (l->n + 1) * sizeof(*members));

	if (!members)
		return NULL;
	for (size_t i = 0; i < l->n; i++) {
		const char *value = l->items[i].value;

		members[i] = (struct river_member){
			.key = l->items[i].name,
			.value = river_value_string(arena, value, strlen(value)),
		};
		if (!members[i].value)
			return NULL;
	}
	return river_value_object(arena, members, l->n);
}

struct kept {
	const void *const *items;
	size_t n;
};

static void let_go(void *data)
{
	const struct kept *kept = data;

	for (size_t i = 0; i < kept->n; i++)
		labels_unref((struct labels *)kept->items[i]);
}

static int targets_keep(struct river_arena *arena, const void *const *items, size_t n)
{
	struct kept *kept = river_arena_alloc(arena, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	*kept = (struct kept){ items, n };
	if (river_arena_defer(arena, let_go, kept) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (items[i])
			labels_ref((struct labels *)items[i]);
	return 0;
}

static void unref(void *labels)
{
	labels_unref(labels);
}

static int target_make(struct river_arena *arena, const struct river_string_map *map,
		       const void **ret_item)
{
	struct labels *l = NULL;
	int r = labels_of_map(map, &l);

	*ret_item = NULL;
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	if (river_arena_defer(arena, unref, l) < 0) {
		labels_unref(l);
		return -ENOMEM;
	}
	*ret_item = l;
	return 0;
}

static bool targets_equal(const void *a, const void *b)
{
	return labels_equal(a, b);
}

const struct river_foreign target_foreign = {
	.open = target_open,
	.keep = targets_keep,
	.make = target_make,
	.equal = targets_equal,
};

const struct river_value *value_of_labels(struct river_arena *arena, struct labels *const *labels,
					  size_t n)
{
	return river_value_foreigns(arena, &target_foreign, (const void *const *)labels, n);
}

int target_maps_export(struct river_arena *arena, struct labels *const *labels, size_t n,
		       const struct river_value **ret_exports)
{
	struct river_member member = { .key = "targets",
				       .value = value_of_labels(arena, labels, n) };

	*ret_exports = member.value ? river_value_object(arena, &member, 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}
