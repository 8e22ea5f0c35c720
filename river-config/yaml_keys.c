/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that a YAML map has twice: found by sorting, told in the order of the text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/yaml.h"

/* Of one map, and of all; more than a person reads. */
#define PAIRS_MAX 100
#define MISTAKES_MAX_BYTES 65536

struct key {
	const struct river_yaml_node *node;
	size_t i;
};

static int compare_nodes(const struct river_yaml_node *a, const struct river_yaml_node *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	int r = a->kind == b->kind ? 0 : a->kind < b->kind ? -1 : 1;

	if (r == 0 && n > 0)
		r = memcmp(a->text, b->text, n);
	return r ? r : (a->len > b->len) - (a->len < b->len);
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int r = compare_nodes(x->node, y->node);

	return r ? r : (x->i > y->i) - (x->i < y->i);
}

/* Two keys that are equal. */
struct pair {
	size_t first;
	size_t second;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->second > y->second) - (x->second < y->second);
}

static size_t find_pairs(const struct key *keys, size_t n, struct pair *pairs)
{
	size_t n_pairs = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && n_pairs < PAIRS_MAX; k++) {
			if (compare_nodes(keys[i].node, keys[k].node) != 0)
				break;
			pairs[n_pairs++] = (struct pair){ keys[i].i, keys[k].i };
		}
	qsort(pairs, n_pairs, sizeof(*pairs), compare_pairs);
	return n_pairs;
}

static void report_pair(struct river_text *t, const struct river_yaml_node *node,
			const struct pair *pair)
{
	const struct river_yaml_node *first = node->items[pair->first];
	const struct river_yaml_node *second = node->items[pair->second];

	river_text_printf(t, "\n  line %u: mapping key ", second->line);
	river_text_quote(t, second->text ? second->text : "", second->len);
	river_text_printf(t, " already defined at line %u", first->line);
}

int river_yaml_check_keys(const struct river_yaml_node *node, struct river_arena *arena,
			  struct river_text *mistakes)
{
	size_t n = node->n_items / 2, n_pairs;
	struct key *keys = river_arena_alloc(arena, n * sizeof(*keys));
	struct pair pairs[PAIRS_MAX];

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct key){ .node = node->items[2 * i], .i = 2 * i };
	qsort(keys, n, sizeof(*keys), compare_keys);
	n_pairs = find_pairs(keys, n, pairs);
	for (size_t i = 0; i < n_pairs && mistakes->len < MISTAKES_MAX_BYTES; i++)
		report_pair(mistakes, node, &pairs[i]);
	return RIVER_OK;
}
