/* SPDX-License-Identifier: Apache-2.0 */
/* The tree grows by appending, so every pass over it is a loop over an array, however deep it is. */
#include "agent/store/tree/call_tree_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "agent/util/saturate.h"

#define NODES_MIN 256

int call_tree_new(struct query_memory *memory, size_t max_bytes, struct call_tree **ret_tree)
{
	_cleanup_(call_tree_freep) struct call_tree *t = calloc(1, sizeof(*t));
	uint32_t name;

	if (!t)
		return -ENOMEM;
	t->memory = memory;
	query_intern_init(&t->names, memory, max_bytes);
	t->seed = query_intern_new_seed();
	t->max_bytes = max_bytes;
	t->nodes = query_malloc(memory, NODES_MIN, sizeof(*t->nodes));
	t->slots.items = query_calloc(memory, 2 * NODES_MIN, sizeof(*t->slots.items));
	if (!t->nodes || !t->slots.items || query_intern_add(&t->names, "total", 5, &name) < 0)
		return -ENOMEM;
	t->cap = NODES_MIN;
	t->slots.n = 2 * NODES_MIN;
	t->nodes[0] = (struct call_node){
		.name = name, .parent = CALL_NONE, .first_child = CALL_NONE, .next = CALL_NONE
	};
	t->n = 1;
	*ret_tree = TAKE_PTR(t);
	return 0;
}

void call_tree_free(struct call_tree *t)
{
	if (!t)
		return;
	query_intern_fini(&t->names);
	query_free(t->nodes);
	query_free(t->slots.items);
	free(t);
}

static size_t node_bytes(size_t cap)
{
	return cap * (sizeof(struct call_node) + 2 * sizeof(uint32_t));
}

int call_tree_name(struct call_tree *t, const char *text, size_t n, uint32_t *ret_name)
{
	t->names.max_bytes = t->max_bytes - MIN_OF(t->max_bytes, node_bytes(t->cap));
	return query_intern_add(&t->names, text, n, ret_name);
}

struct child_key {
	uint32_t parent, name;
};

static uint64_t hash_key(const struct call_tree *t, uint32_t parent, uint32_t name)
{
	return hash_u64(((uint64_t)parent << 32 | name) ^ t->seed);
}

static uint64_t hash_of(const void *owner, uint32_t node)
{
	const struct call_tree *t = owner;

	return hash_key(t, t->nodes[node].parent, t->nodes[node].name);
}

static bool is_equal(const void *owner, uint32_t node, const void *key)
{
	const struct call_node *n = &((const struct call_tree *)owner)->nodes[node];
	const struct child_key *k = key;

	return n->parent == k->parent && n->name == k->name;
}

static int grow(struct call_tree *t)
{
	size_t cap = 2 * t->cap;
	struct call_node *nodes;
	uint32_t *slots;

	if (cap > UINT32_MAX / 4 || node_bytes(cap) > t->max_bytes ||
	    query_intern_bytes(&t->names) > t->max_bytes - node_bytes(cap))
		return -ENOBUFS;
	nodes = query_realloc(t->memory, t->nodes, cap, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	t->nodes = nodes;
	slots = query_calloc(t->memory, 2 * cap, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	query_free(t->slots.items);
	t->slots = (struct id_slots){ slots, 2 * cap };
	t->cap = cap;
	id_slots_fill(&t->slots, 1, t->n, hash_of, t);
	return 0;
}

/* The child that was asked for last, or the one that was new after it: the stacks of many segments come in much the same order. */
static uint32_t guess(const struct call_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t child = t->nodes[parent].first_child;

	if (child == CALL_NONE || t->nodes[child].name == name)
		return child;
	child = t->nodes[child].next;
	return t->nodes[child].name == name ? child : CALL_NONE;
}

/* Behind the child that was asked for last, in a ring. */
static void link_child(struct call_tree *t, uint32_t parent, uint32_t child)
{
	uint32_t last = t->nodes[parent].first_child;

	t->nodes[child].next = last == CALL_NONE ? child : t->nodes[last].next;
	if (last != CALL_NONE)
		t->nodes[last].next = child;
}

static int find_or_add(struct call_tree *t, uint32_t parent, uint32_t name, uint32_t *ret_node)
{
	int r = t->n == t->cap ? grow(t) : 0;
	struct child_key key = { parent, name };
	uint32_t *slot;

	if (r < 0)
		return r;
	assert(t->n < t->cap && 2 * t->n <= t->slots.n);
	slot = id_slots_at(&t->slots, hash_key(t, parent, name), is_equal, t, &key);
	if (!*slot) {
		t->nodes[t->n] = (struct call_node){ .name = name,
						     .parent = parent,
						     .first_child = CALL_NONE };
		link_child(t, parent, (uint32_t)t->n);
		*slot = (uint32_t)++t->n;
	}
	*ret_node = *slot - 1;
	return 0;
}

int call_tree_child(struct call_tree *t, uint32_t parent, uint32_t name, uint32_t *ret_node)
{
	assert(!t->is_finished && parent < t->n && name < t->names.n);

	uint32_t child = guess(t, parent, name);
	int r = child == CALL_NONE ? find_or_add(t, parent, name, &child) : 0;

	if (r < 0)
		return r;
	t->nodes[parent].first_child = child;
	*ret_node = child;
	return 0;
}

void call_tree_add(struct call_tree *t, uint32_t node, enum call_side side, int64_t self)
{
	assert(!t->is_finished && node < t->n && side < CALL_SIDES);
	t->nodes[node].self[side] = saturate_add(t->nodes[node].self[side], self);
}

bool call_tree_is_pruned(const struct call_tree *t)
{
	return t->is_pruned;
}

bool call_tree_is_finished(const struct call_tree *t)
{
	return t->is_finished;
}

struct query_memory *call_tree_memory(const struct call_tree *t)
{
	return t->memory;
}

size_t call_tree_n_nodes(const struct call_tree *t)
{
	return t->n;
}

const struct call_node *call_tree_node(const struct call_tree *t, uint32_t node)
{
	assert(node < t->n);
	return &t->nodes[node];
}

size_t call_tree_n_names(const struct call_tree *t)
{
	return t->names.n;
}

const char *call_tree_text(const struct call_tree *t, uint32_t name)
{
	assert(name < t->names.n);
	return t->names.items[name].bytes;
}

uint32_t call_tree_find_name(const struct call_tree *t, const char *text)
{
	return query_intern_find(&t->names, text, strlen(text));
}
