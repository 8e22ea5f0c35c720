/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by function. */
#include "agent/profile/top_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void top_table_init(struct top_table *t, size_t max_bytes)
{
	*t = (struct top_table){ 0 };
	arena_init(&t->arena, max_bytes);
}

void top_table_fini(struct top_table *t)
{
	hash_fini(&t->table);
	arena_fini(&t->arena);
}

static const char *copy(struct top_table *t, const char *text)
{
	return arena_strndup(&t->arena, text, strlen(text));
}

/* Functions of runtimes are in no object, but in a source file. */
static const char *path_of(const struct frame *f)
{
	return f->object->kind == FRAME_OBJECT_ANON && *f->file ? f->file : f->object->path;
}

static struct top_row *top_table_get(struct top_table *t, const struct frame *f)
{
	const char *of = path_of(f);
	uint64_t hash = hash_bytes(f->function, strlen(f->function), hash_str(of));

	HASH_FOREACH_MATCH (&t->table, hash, node) {
		struct top_row *h = CONTAINER_OF(node, struct top_row, node);

		if (strcmp(h->function, f->function) == 0 && strcmp(h->path, of) == 0)
			return h;
	}
	struct top_row *h = arena_alloc(&t->arena, sizeof(*h));
	const char *function = copy(t, f->function);
	const char *path = copy(t, of);
	if (!h || !function || !path)
		return NULL;
	*h = (struct top_row){ .function = function, .path = path };
	return hash_insert(&t->table, &h->node, hash) < 0 ? NULL : h;
}

static int top_table_add_frame(struct top_table *t, const struct frame *f, uint64_t count,
			       bool leaf)
{
	struct top_row *h = top_table_get(t, f);

	if (!h)
		return -ENOMEM;
	if (leaf)
		h->self += count;
	if (h->last_stack != t->n_stacks)
		h->total += count;
	h->last_stack = t->n_stacks;
	return 0;
}

/* A namer's: of a whole stack, or of its innermost address. */
typedef int (*name_fn)(struct namer *namer, const struct stack *stack,
		       struct named_stack *ret_named);

static int top_table_add_stack(struct top_table *t, const struct stack *stack, struct namer *namer,
			       name_fn name)
{
	struct named_stack named;
	int r = name(namer, stack, &named);

	t->n_stacks++;
	t->total += (uint64_t)stack_weight(stack);
	for (uint32_t i = 0; r == 0 && i < named.n; i++)
		for (uint32_t k = 0; r == 0 && k < named.items[i]->n; k++)
			r = top_table_add_frame(t, &named.items[i]->items[k],
						(uint64_t)stack_weight(stack),
						i == named.leaf && k == 0);
	return r;
}

static int add_series(struct top_table *t, const struct series *series, struct namer *namer,
		      name_fn name)
{
	for (const struct stack *s = series->stacks; s; s = s->next) {
		int r = stack_is_empty(s) ? 0 : top_table_add_stack(t, s, namer, name);

		if (r < 0)
			return r;
	}
	return 0;
}

int top_table_add_series(struct top_table *t, const struct series *series, struct namer *namer)
{
	return add_series(t, series, namer, namer_stack);
}

int top_table_add_leaves(struct top_table *t, const struct series *series, struct namer *namer)
{
	return add_series(t, series, namer, namer_leaf);
}

static int top_table_compare(const struct top_row *a, const struct top_row *b)
{
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	int by_name = strcmp(a->function, b->function);
	return by_name ? by_name : strcmp(a->path, b->path);
}

const struct top_row *top_table_by_self(const struct top_table *t)
{
	const struct top_row *best = NULL;

	HASH_FOREACH (&t->table, node) {
		const struct top_row *h = CONTAINER_OF(node, struct top_row, node);

		if (!best || top_table_compare(h, best) < 0)
			best = h;
	}
	return best;
}

static int top_table_compare_pointers(const void *a, const void *b)
{
	return top_table_compare(*(const struct top_row *const *)a,
				 *(const struct top_row *const *)b);
}

int top_table_sorted(const struct top_table *t, const struct top_row ***ret_items, size_t *ret_n)
{
	const struct top_row **items = calloc(t->table.n ? t->table.n : 1, sizeof(*items));
	size_t n = 0;

	if (!items)
		return -ENOMEM;
	HASH_FOREACH (&t->table, node)
		items[n++] = CONTAINER_OF(node, struct top_row, node);
	qsort(items, n, sizeof(*items), top_table_compare_pointers);
	*ret_items = items;
	*ret_n = n;
	return 0;
}
