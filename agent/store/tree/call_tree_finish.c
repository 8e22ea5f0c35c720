/* SPDX-License-Identifier: Apache-2.0 */
/* Totals, the order of children, and the small ones left out. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/tree/call_tree_private.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "agent/util/saturate.h"

static void sum_totals(struct call_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		memcpy(t->nodes[i].total, t->nodes[i].self, sizeof(t->nodes[i].total));
	for (size_t i = t->n - 1; i > 0; i--) {
		const struct call_node *node = &t->nodes[i];
		struct call_node *parent = &t->nodes[node->parent];

		for (size_t side = 0; side < CALL_SIDES; side++)
			parent->total[side] = saturate_add(parent->total[side], node->total[side]);
	}
}

static int compare_names(const void *a, const void *b, void *names)
{
	const struct query_intern *in = names;
	const struct query_intern_item *x = &in->items[*(const uint32_t *)a];
	const struct query_intern_item *y = &in->items[*(const uint32_t *)b];
	int order = memcmp(x->bytes, y->bytes, MIN_OF(x->n, y->n));

	return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Nodes, the last name first: a node put before its siblings then comes before all whose names are greater. */
static void link_children(struct call_tree *t, const uint32_t *order, const uint32_t *next_of_name)
{
	for (size_t i = 0; i < t->n; i++)
		t->nodes[i].first_child = t->nodes[i].next = CALL_NONE;
	for (size_t i = t->names.n; i-- > 0;) {
		for (uint32_t n = next_of_name[t->n + order[i]]; n != CALL_NONE;
		     n = next_of_name[n]) {
			struct call_node *parent = &t->nodes[t->nodes[n].parent];

			t->nodes[n].next = parent->first_child;
			parent->first_child = n;
		}
	}
}

/* Chains of the nodes of each name; their heads come behind the nodes. */
static void chain_names(const struct call_tree *t, uint32_t *next_of_name)
{
	for (size_t i = 0; i < t->names.n; i++)
		next_of_name[t->n + i] = CALL_NONE;
	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t *head = &next_of_name[t->n + t->nodes[i].name];

		next_of_name[i] = *head;
		*head = i;
	}
}

int call_tree_finish(struct call_tree *t)
{
	_cleanup_query_free_ uint32_t *order = query_malloc(t->memory, t->names.n, sizeof(*order));
	_cleanup_query_free_ uint32_t *next =
		query_malloc(t->memory, (t->n + t->names.n), sizeof(*next));

	if (!order || !next)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->names.n; i++)
		order[i] = i;
	qsort_r(order, t->names.n, sizeof(*order), compare_names, &t->names);
	chain_names(t, next);
	link_children(t, order, next);
	sum_totals(t);
	t->is_finished = true;
	return 0;
}

static void swap_values(int64_t *a, int64_t *b)
{
	int64_t keep = *a;

	*a = *b;
	*b = keep;
}

/* The value that has k greater ones or equal ones before it; it moves them. Values are chosen by others, so no pivot may be
 * foreseen. */
static int64_t kth_largest(int64_t *values, size_t n, size_t k, uint64_t seed)
{
	size_t low = 0, high = n;

	assert(k < n);
	for (;;) {
		size_t greater = low, at = low, less = high;
		int64_t pivot;

		seed = hash_u64(seed + high);
		pivot = values[low + seed % (high - low)];
		while (at < less) {
			if (values[at] > pivot)
				swap_values(&values[greater++], &values[at++]);
			else if (values[at] < pivot)
				swap_values(&values[--less], &values[at]);
			else
				at++;
		}
		if (k < greater)
			high = greater;
		else if (k >= less)
			low = less;
		else
			return pivot;
	}
}

/* The least total of a node that stays, of either side; 0: all stay. */
static int least_total(const struct call_tree *t, size_t max_nodes, int64_t *ret_least)
{
	_cleanup_query_free_ int64_t *values =
		query_malloc(t->memory, CALL_SIDES * t->n, sizeof(*values));
	size_t n = 0;

	if (!values)
		return -ENOMEM;
	for (size_t i = 1; i < t->n; i++)
		for (size_t side = 0; side < CALL_SIDES; side++)
			if (t->nodes[i].total[side] > 0)
				values[n++] = t->nodes[i].total[side];
	*ret_least = n > max_nodes ? kth_largest(values, n, max_nodes - 1, t->seed) : 0;
	return 0;
}

/* Those that stay, moved to the front in their order. The others' places are told by CALL_NONE. */
static size_t keep_nodes(struct call_tree *t, int64_t least, struct call_node *kept,
			 uint32_t *new_place)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct call_node *node = &t->nodes[i];
		bool stays = i == CALL_ROOT || node->total[CALL_LEFT] >= least ||
			     node->total[CALL_RIGHT] >= least;

		new_place[i] = stays ? (uint32_t)n : CALL_NONE;
		if (!stays)
			continue;
		kept[n] = *node;
		if (i != CALL_ROOT)
			kept[n].parent = new_place[node->parent];
		n++;
	}
	return n;
}

/* The `other` of each node that stays, where it has one by itself. */
static void find_others(const struct call_node *kept, size_t n, uint32_t name, uint32_t *others)
{
	for (size_t i = 0; i < n; i++)
		others[i] = CALL_NONE;
	for (size_t i = 1; i < n; i++)
		if (kept[i].name == name)
			others[kept[i].parent] = (uint32_t)i;
}

/* What goes goes into the `other` of its parent, with all that is below it. */
static size_t add_others(const struct call_tree *t, struct call_node *kept, size_t n,
			 const uint32_t *new_place, uint32_t name, uint32_t *others)
{
	for (size_t i = 1; i < t->n; i++) {
		const struct call_node *node = &t->nodes[i];
		uint32_t parent = new_place[node->parent];

		if (new_place[i] != CALL_NONE || parent == CALL_NONE)
			continue;
		if (others[parent] == CALL_NONE) {
			others[parent] = (uint32_t)n;
			kept[n++] = (struct call_node){ .name = name, .parent = parent };
		}
		for (size_t side = 0; side < CALL_SIDES; side++)
			kept[others[parent]].self[side] =
				saturate_add(kept[others[parent]].self[side], node->total[side]);
	}
	return n;
}

static int drop_below(struct call_tree *t, int64_t least)
{
	_cleanup_query_free_ struct call_node *kept = query_malloc(t->memory, t->n, sizeof(*kept));
	_cleanup_query_free_ uint32_t *new_place =
		query_malloc(t->memory, t->n * 2, sizeof(*new_place));
	uint32_t name, *others;
	size_t n; /* never more than there were: each `other` stands for one that goes */
	int r = call_tree_name(t, CALL_OTHER, strlen(CALL_OTHER), &name);

	if (r < 0)
		return r;
	if (!kept || !new_place)
		return -ENOMEM;
	others = new_place + t->n;
	n = keep_nodes(t, least, kept, new_place);
	t->is_pruned |= n < t->n;
	find_others(kept, n, name, others);
	n = add_others(t, kept, n, new_place, name, others);
	assert(n <= t->n);
	query_free(t->nodes);
	t->nodes = TAKE_PTR(kept);
	t->cap = t->n = n;
	return 0;
}

int call_tree_prune(struct call_tree *t, size_t max_nodes)
{
	int64_t least;
	int r;

	assert(t->is_finished);
	if (max_nodes == 0)
		return 0;
	r = least_total(t, max_nodes, &least);
	if (r < 0 || least == 0)
		return r;
	r = drop_below(t, least);
	return r < 0 ? r : call_tree_finish(t);
}
