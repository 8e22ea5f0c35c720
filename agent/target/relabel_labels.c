/* SPDX-License-Identifier: Apache-2.0 */
/* Labels under change. */
#include "agent/target/relabel_labels.h"

#include <assert.h>
#include <string.h>

void relabel_labels_init(struct relabel_labels *l, const struct labels *base)
{
	assert(base->n <= LABELS_RAW_MAX);
	l->base = base;
	memset(l->hidden, 0, base->n * sizeof(l->hidden[0]));
	l->n_added = 0;
	arena_init(&l->strings, RELABEL_ARENA_BYTES);
}

void relabel_labels_fini(struct relabel_labels *l)
{
	arena_fini(&l->strings);
}

/* Its place among those that were added, or n_added. */
static size_t find_added(const struct relabel_labels *l, const char *name)
{
	size_t i = 0;

	while (i < l->n_added && strcmp(l->added[i].name, name) != 0)
		i++;
	return i;
}

/* Its place in the set, or n. */
static size_t find_base(const struct relabel_labels *l, const char *name)
{
	size_t low = 0, high = l->base->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(l->base->items[mid].name, name);

		if (order == 0)
			return mid;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return l->base->n;
}

const char *relabel_labels_get(const struct relabel_labels *l, const char *name)
{
	size_t i = find_added(l, name);

	if (i < l->n_added)
		return l->added[i].value;
	i = find_base(l, name);
	return i < l->base->n && !l->hidden[i] ? l->base->items[i].value : "";
}

static void hide(struct relabel_labels *l, const char *name)
{
	size_t i = find_base(l, name);

	if (i < l->base->n)
		l->hidden[i] = true;
}

void relabel_labels_remove(struct relabel_labels *l, const char *name)
{
	size_t i = find_added(l, name);

	hide(l, name);
	if (i == l->n_added)
		return;
	l->n_added--;
	memmove(&l->added[i], &l->added[i + 1], (l->n_added - i) * sizeof(l->added[0]));
}

int relabel_labels_set(struct relabel_labels *l, const char *name, const char *value)
{
	size_t i = find_added(l, name);
	struct label label = { .name = i < l->n_added ? l->added[i].name : NULL };

	if (!*value) {
		relabel_labels_remove(l, name);
		return 0;
	}
	/* Nothing changes, and the set may stay the object that it is. */
	if (i == l->n_added && strcmp(relabel_labels_get(l, name), value) == 0)
		return 0;
	if (i == LABELS_RAW_MAX)
		return -E2BIG;
	if (!label.name)
		label.name = arena_strndup(&l->strings, name, strlen(name));
	label.value = arena_strndup(&l->strings, value, strlen(value));
	if (!label.name || !label.value)
		return -ENOMEM;
	hide(l, name);
	l->added[i] = label;
	l->n_added += i == l->n_added;
	return 0;
}

size_t relabel_labels_list(const struct relabel_labels *l, struct label *ret_items)
{
	size_t n = 0;

	assert(l->n_added <= LABELS_RAW_MAX);
	for (size_t i = 0; i < l->base->n; i++)
		if (!l->hidden[i])
			ret_items[n++] = l->base->items[i];
	for (size_t i = 0; i < l->n_added; i++)
		ret_items[n++] = l->added[i];
	return n;
}

static bool is_unchanged(const struct relabel_labels *l)
{
	for (size_t i = 0; i < l->base->n; i++)
		if (l->hidden[i])
			return false;
	return l->n_added == 0;
}

int relabel_labels_finish(const struct relabel_labels *l, struct labels **ret_labels)
{
	struct label items[2 * LABELS_RAW_MAX];

	if (is_unchanged(l)) {
		*ret_labels = labels_ref((struct labels *)l->base);
		return 0;
	}
	return labels_derive((struct labels *)l->base, items, relabel_labels_list(l, items),
			     ret_labels);
}
