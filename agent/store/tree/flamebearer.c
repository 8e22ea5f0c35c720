/* SPDX-License-Identifier: Apache-2.0 */
/* Level by level for the bars, and the last child first for the numbers of the names, as the real server counts them. */
#include "agent/store/tree/flamebearer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_memory.h"
#include "agent/util/macro.h"
#include "agent/util/saturate.h"

#define SINGLE_VALUES 4
#define DIFF_VALUES 7

struct layout {
	const struct call_tree *tree;
	size_t n;
	bool is_diff;
	uint32_t last_name; /* children of this name come last; CALL_NONE: in their order */
	uint32_t *nodes;    /* to be looked at: a queue, and a stack */
	int64_t (*begin)[CALL_SIDES]; /* of the bars in the queue */
	uint32_t *number;	      /* of names */
};

static void layout_fini(struct layout *l)
{
	query_free(l->nodes);
	query_free(l->begin);
	query_free(l->number);
}

/* What was left out stands at the end. The server takes each function `other` of a single graph for such. */
static int layout_init(struct layout *l, const struct call_tree *tree, bool is_diff)
{
	size_t n_names = call_tree_n_names(tree);

	assert(call_tree_is_finished(tree));
	*l = (struct layout){ .tree = tree, .n = call_tree_n_nodes(tree), .is_diff = is_diff };
	l->last_name = is_diff && !call_tree_is_pruned(tree) ? CALL_NONE
							     : call_tree_find_name(tree, "other");
	l->nodes = query_malloc(call_tree_memory(tree), l->n, sizeof(*l->nodes));
	l->begin = query_malloc(call_tree_memory(tree), l->n, sizeof(*l->begin));
	l->number = query_malloc(call_tree_memory(tree), n_names, sizeof(*l->number));
	if (!l->nodes || !l->begin || !l->number)
		return -ENOMEM;
	memset(l->number, 0xff, n_names * sizeof(*l->number));
	return 0;
}

static size_t take_children(const struct layout *l, const struct call_node *node,
			    uint32_t *children)
{
	uint32_t last = CALL_NONE;
	size_t n = 0;

	for (uint32_t c = node->first_child; c != CALL_NONE;) {
		const struct call_node *child = call_tree_node(l->tree, c);

		if (child->name == l->last_name)
			last = c;
		else
			children[n++] = c;
		c = child->next;
	}
	if (last != CALL_NONE)
		children[n++] = last;
	return n;
}

static void number_name(struct layout *l, struct flamebearer *f, uint32_t name)
{
	if (l->number[name] != CALL_NONE)
		return;
	l->number[name] = (uint32_t)f->n_names;
	f->names[f->n_names++] = call_tree_text(l->tree, name);
}

/* The root is number 0. In a comparison a function with its name has a number of its own. */
static int number_names(struct layout *l, struct flamebearer *f)
{
	const struct call_node *node = call_tree_node(l->tree, CALL_ROOT);
	size_t n;

	f->names = query_malloc(call_tree_memory(l->tree), call_tree_n_names(l->tree) + 1,
				sizeof(*f->names));
	if (!f->names)
		return -ENOMEM;
	number_name(l, f, node->name);
	if (l->is_diff)
		l->number[node->name] = CALL_NONE;
	n = take_children(l, node, l->nodes);
	while (n > 0) {
		node = call_tree_node(l->tree, l->nodes[--n]);
		number_name(l, f, node->name);
		n += take_children(l, node, l->nodes + n);
	}
	return 0;
}

/* The children's bars begin behind their parent's own part. */
static void place_children(struct layout *l, size_t parent, size_t first, size_t n)
{
	const struct call_node *node = call_tree_node(l->tree, l->nodes[parent]);
	int64_t at[CALL_SIDES];

	for (size_t side = 0; side < CALL_SIDES; side++)
		at[side] = saturate_add(l->begin[parent][side], node->self[side]);
	for (size_t i = first; i < first + n; i++) {
		const struct call_node *child = call_tree_node(l->tree, l->nodes[i]);

		for (size_t side = 0; side < CALL_SIDES; side++) {
			l->begin[i][side] = at[side];
			at[side] = saturate_add(at[side], child->total[side]);
		}
	}
}

/* The bars of one level, n of the queue from `first` on. */
static void put_level(const struct layout *l, size_t first, size_t n, struct flame_level *level)
{
	int64_t end[CALL_SIDES] = { 0 };
	size_t n_sides = l->is_diff ? CALL_SIDES : 1;

	for (size_t i = first; i < first + n; i++) {
		const struct call_node *node = call_tree_node(l->tree, l->nodes[i]);

		for (size_t side = 0; side < n_sides; side++) {
			level->values[level->n++] = l->begin[i][side] - end[side];
			level->values[level->n++] = node->total[side];
			level->values[level->n++] = node->self[side];
			end[side] = saturate_add(l->begin[i][side], node->total[side]);
		}
		level->values[level->n++] = i == 0 ? 0 : l->number[node->name];
	}
}

/* Behind the level that is n nodes of the queue from `first` on: the number of nodes of the next one. */
static size_t queue_children(struct layout *l, size_t first, size_t n)
{
	size_t end = first + n;

	for (size_t i = first; i < first + n; i++) {
		const struct call_node *node = call_tree_node(l->tree, l->nodes[i]);
		size_t n_children = take_children(l, node, l->nodes + end);

		place_children(l, i, end, n_children);
		end += n_children;
	}
	return end - first - n;
}

/* All values lie in one block, which the first level owns. */
static int put_levels(struct layout *l, struct flamebearer *f)
{
	struct query_memory *memory = call_tree_memory(l->tree);
	size_t size = l->is_diff ? DIFF_VALUES : SINGLE_VALUES;
	int64_t *values = query_malloc(memory, l->n * size, sizeof(*values));
	size_t first = 0, cap = 0;

	for (size_t n = 1; n > 0 && values; first += n, n = queue_children(l, first - n, n)) {
		if (f->n_levels == cap) {
			size_t wanted = MAX_OF(2 * cap, (size_t)64);
			void *levels = query_realloc(memory, f->levels, wanted, sizeof(*f->levels));

			if (!levels)
				break;
			f->levels = levels;
			cap = wanted;
		}
		f->levels[f->n_levels] = (struct flame_level){ values + first * size, 0 };
		put_level(l, first, n, &f->levels[f->n_levels++]);
	}
	if (f->n_levels == 0)
		query_free(values);
	return first == l->n && values ? 0 : -ENOMEM;
}

static void put_sums(const struct layout *l, struct flamebearer *f)
{
	const struct call_node *root = call_tree_node(l->tree, CALL_ROOT);

	memcpy(f->ticks, root->total, sizeof(f->ticks));
	f->total = saturate_add(f->ticks[CALL_LEFT], f->ticks[CALL_RIGHT]);
	for (uint32_t i = 0; i < l->n; i++)
		for (size_t side = 0; side < CALL_SIDES; side++)
			f->max_self = MAX_OF(f->max_self, call_tree_node(l->tree, i)->self[side]);
}

static int build(const struct call_tree *tree, bool is_diff, struct flamebearer *ret_flamebearer)
{
	_cleanup_(flamebearer_fini) struct flamebearer f = { 0 };
	_cleanup_(layout_fini) struct layout l;
	int r = layout_init(&l, tree, is_diff);

	if (r < 0)
		return r;
	r = number_names(&l, &f);
	if (r < 0)
		return r;
	l.nodes[0] = CALL_ROOT;
	memset(l.begin[0], 0, sizeof(l.begin[0]));
	r = put_levels(&l, &f);
	if (r < 0)
		return r;
	put_sums(&l, &f);
	*ret_flamebearer = f;
	f = (struct flamebearer){ 0 };
	return 0;
}

int flamebearer_new(const struct call_tree *tree, struct flamebearer *ret_flamebearer)
{
	return build(tree, false, ret_flamebearer);
}

int flamebearer_new_diff(const struct call_tree *tree, struct flamebearer *ret_flamebearer)
{
	return build(tree, true, ret_flamebearer);
}

void flamebearer_fini(struct flamebearer *f)
{
	query_free(f->names);
	if (f->n_levels > 0)
		query_free(f->levels[0].values);
	query_free(f->levels);
	*f = (struct flamebearer){ 0 };
}
