/* SPDX-License-Identifier: Apache-2.0 */
/* Components of the graph at one moment. */
#include "agent/component/json/component_snapshot.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct taking {
	struct component_snapshot *s;
	struct component_row *row;
	size_t max; /* of what is listed */
};

/* Room for one more pointer behind n; what was there stays in the arena as well. */
static int grow(struct river_arena *arena, void *items, size_t n, size_t *max)
{
	size_t wanted = *max ? 2 * *max : 4;
	void **at = items;

	if (n < *max)
		return 0;
	void *grown = river_arena_alloc(arena, wanted * sizeof(void *));
	if (!grown)
		return -ENOMEM;
	if (n)
		memcpy(grown, *at, n * sizeof(void *));
	*max = wanted;
	*at = grown;
	return 0;
}

static int take_dep(void *ctx, const struct component *dep)
{
	struct taking *t = ctx;
	int r = grow(&t->s->arena, &t->row->deps, t->row->n_deps, &t->max);

	if (r < 0)
		return r;
	t->row->deps[t->row->n_deps++] = dep;
	return 0;
}

static int take_module(void *ctx, const char *module_id)
{
	struct taking *t = ctx;
	const char *copy = river_arena_strndup(&t->s->arena, module_id, strlen(module_id));
	int r;

	if (!copy)
		return -ENOMEM;
	r = grow(&t->s->arena, &t->row->modules, t->row->n_modules, &t->max);
	if (r < 0)
		return r;
	t->row->modules[t->row->n_modules++] = copy;
	return 0;
}

static const char *copy(struct component_snapshot *s, const char *text)
{
	return river_arena_strndup(&s->arena, text ? text : "", text ? strlen(text) : 0);
}

static int take_row(struct component_snapshot *s, const struct graph *g, size_t i)
{
	struct component_row *row = &s->rows[i];
	struct taking deps = { s, row, 0 }, modules = { s, row, 0 };
	struct graph_view view;

	graph_view(g, i, &view);
	*row = (struct component_row){ .self = view.c,
			     .is_shown = view.class == GRAPH_COMPONENT,
			     .name = copy(s, view.name),
			     .local_id = copy(s, view.local_id),
			     .module_id = copy(s, view.module_id),
			     .label = copy(s, view.c->label),
			     .health = view.c->health };
	if (!row->name || !row->local_id || !row->module_id || !row->label)
		return -ENOMEM;
	if (row->is_shown)
		graph_export_kinds(g, i, &row->exports_receivers, &row->exports_data);
	int r = graph_each_dep(g, i, take_dep, &deps);
	return r == 0 ? graph_each_module(g, i, take_module, &modules) : r;
}

int component_snapshot_new(const struct graph *g, struct component_snapshot **ret_snapshot)
{
	_cleanup_(component_snapshot_freep) struct component_snapshot *s = calloc(1, sizeof(*s));
	size_t n = graph_n(g);

	if (!s)
		return -ENOMEM;
	river_arena_init(&s->arena, GRAPH_MAX_ARENA_BYTES);
	s->rows = river_arena_alloc(&s->arena, (n + 1) * sizeof(*s->rows));
	s->details = river_arena_alloc(&s->arena, (n + 1) * sizeof(struct component_detail *));
	if (!s->rows || !s->details)
		return -ENOMEM;
	memset(s->details, 0, (n + 1) * sizeof(struct component_detail *));
	for (; s->n < n; s->n++) {
		int r = take_row(s, g, s->n);

		if (r < 0)
			return r;
	}
	*ret_snapshot = TAKE_PTR(s);
	return 0;
}

void component_snapshot_free(struct component_snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (s->details[i])
			args_memory_unref(s->details[i]->memory);
	river_arena_fini(&s->arena);
	free(s);
}

/* What a module exports may be the value itself, in which others look, too. */
static int take_exports(struct component_snapshot *s, const struct graph *g, size_t i,
			struct component_detail *d)
{
	const struct river_value *exports = NULL;
	int r = graph_exports(g, i, &s->arena, &exports);

	if (r < 0 || !exports)
		return r;
	d->exports = river_value_copy(&s->arena, exports);
	return d->exports ? 0 : -ENOMEM;
}

static int take_args(struct component_snapshot *s, const struct graph *g, size_t i,
		     const struct graph_view *view, struct component_detail *d)
{
	d->memory = graph_hold_args(g, i);
	d->schema = view->schema;
	d->args = view->args;
	if (view->args_object)
		d->args_object = river_value_copy(&s->arena, view->args_object);
	return view->args_object && !d->args_object ? -ENOMEM : 0;
}

static int take_info(struct component_snapshot *s, const struct component *c, struct component_detail *d)
{
	if (!c->kind || !c->kind->debug_info)
		return 0;
	return c->kind->debug_info((struct component *)c, &s->arena, &d->info);
}

int component_snapshot_add_detail(struct component_snapshot *s, const struct graph *g, size_t i)
{
	struct component_detail *d = river_arena_alloc(&s->arena, sizeof(*d));
	struct graph_view view;

	assert(i < s->n && s->n == graph_n(g) && !s->details[i]);
	if (!d)
		return -ENOMEM;
	*d = (struct component_detail){ 0 };
	s->details[i] = d;
	graph_view(g, i, &view);
	int r = take_args(s, g, i, &view, d);
	if (r < 0)
		return r;
	r = take_exports(s, g, i, d);
	if (r < 0)
		return r;
	return take_info(s, view.c, d);
}
