/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON paths: look-up.
 *
 * A fragment hands each value it finds to the next one. Only arrays and objects go on; what the last
 * fragment finds is a match, whatever it is. The members of an object come sorted by key. Below ".."
 * children come before their parent, as in the reference.
 */
#include "river-config/json_path.h"

#include <errno.h>
#include <string.h>

#include "river-config/convert.h"
#include "river-config/json.h"
#include "river-config/stdlib.h"

struct walk {
	struct river_path_search *search;
	const struct river_path *path;
	struct river_vec *matches;
};

static void walk_fragment(struct walk *w, size_t i, const struct river_value *v);

bool river_path_step(struct river_path_search *search)
{
	return !search->failed && search->n_steps++ < RIVER_SYMLINK_WALK_MAX;
}

static void match(struct walk *w, const struct river_value *v)
{
	if (river_vec_push(w->matches, w->search->arena, &v) < 0)
		w->search->failed = true;
}

/* Fragment i has found v. */
static void found(struct walk *w, size_t i, const struct river_value *v)
{
	if (!river_path_step(w->search))
		return;
	if (i + 1 == w->path->n_fragments)
		match(w, v);
	else if (v->type == RIVER_TYPE_ARRAY || v->type == RIVER_TYPE_OBJECT)
		walk_fragment(w, i + 1, v);
}

static const struct river_value *child(const struct river_value *v, size_t i)
{
	return v->type == RIVER_TYPE_OBJECT ? v->object.members[i].value : v->array.items[i];
}

const struct river_value *river_path_pick(const struct river_value *v,
					  const struct river_path_item *item)
{
	int64_t i = item->index;

	if (item->name)
		return v->type == RIVER_TYPE_OBJECT ? river_value_find(v, item->name) : NULL;
	if (v->type != RIVER_TYPE_ARRAY)
		return NULL;
	i += i < 0 ? (int64_t)v->array.n_items : 0;
	return i >= 0 && i < (int64_t)v->array.n_items ? v->array.items[i] : NULL;
}

static void walk_union(struct walk *w, size_t i, const struct river_value *v)
{
	const struct river_path_fragment *f = &w->path->fragments[i];

	for (size_t k = 0; k < f->n_items && river_path_step(w->search); k++) {
		const struct river_value *picked = river_path_pick(v, &f->items[k]);

		if (picked)
			found(w, i, picked);
	}
}

static void walk_all(struct walk *w, size_t i, const struct river_value *v)
{
	for (size_t k = 0; k < river_value_len(v); k++)
		found(w, i, child(v, k));
}

/* A negative step needs a start: where there is none, it is the first item, as in the reference. */
static void walk_slice(struct walk *w, size_t i, const struct river_value *v)
{
	const struct river_path_fragment *f = &w->path->fragments[i];
	int64_t n = (int64_t)river_value_len(v), start = f->start, end = f->end;

	if (v->type != RIVER_TYPE_ARRAY || f->step == 0)
		return;
	start += start < 0 ? n : 0;
	start = start < 0 ? 0 : start;
	end += end < 0 ? n : 0;
	if (start >= n)
		return;
	end = end > n ? n : end < -1 ? -1 : end;
	for (; f->step > 0 ? start < end : start > end; start += f->step)
		found(w, i, v->array.items[start]);
}

static void walk_filter(struct walk *w, size_t i, const struct river_value *v)
{
	const struct river_path_filter *filter = w->path->fragments[i].filter;

	for (size_t k = 0; k < river_value_len(v) && river_path_step(w->search); k++)
		if (river_path_matches(w->search, filter, child(v, k)))
			found(w, i, child(v, k));
}

static void walk_below(struct walk *w, size_t i, const struct river_value *v)
{
	if (v->type != RIVER_TYPE_ARRAY && v->type != RIVER_TYPE_OBJECT)
		return;
	for (size_t k = 0; k < river_value_len(v) && river_path_step(w->search); k++)
		walk_below(w, i, child(v, k));
	found(w, i, v);
}

static void walk_fragment(struct walk *w, size_t i, const struct river_value *v)
{
	switch (w->path->fragments[i].kind) {
	case RIVER_PATH_UNION:
		walk_union(w, i, v);
		break;
	case RIVER_PATH_ALL:
		walk_all(w, i, v);
		break;
	case RIVER_PATH_DESCENT:
		walk_below(w, i, v);
		break;
	case RIVER_PATH_SLICE:
		walk_slice(w, i, v);
		break;
	case RIVER_PATH_FILTER:
		walk_filter(w, i, v);
		break;
	}
}

static int search_root(struct river_call *c, const struct river_path *path,
		       const struct river_value *root)
{
	struct river_path_search search = { .arena = c->err->arena, .root = root };
	struct river_vec matches = RIVER_VEC_INIT(struct river_value *);
	struct walk w = { .search = &search, .path = path, .matches = &matches };

	if (path->n_fragments > 0)
		walk_fragment(&w, 0, root);
	else if (!path->is_empty)
		match(&w, root);
	if (search.failed)
		return -ENOMEM;
	if (search.n_steps > RIVER_SYMLINK_WALK_MAX)
		return river_call_error(c, "more than %d steps", RIVER_SYMLINK_WALK_MAX);
	c->result = river_value_wrap_array(c->err->arena, matches.data, matches.n_items);
	return RIVER_OK;
}

/* The path is looked at before the text. */
static int call_json_path(struct river_call *c)
{
	const char *texts[2], *problem;
	struct river_value *root;
	struct river_path path;
	size_t lens[2];
	int r = RIVER_OK;

	for (size_t i = 0; i < 2 && r == RIVER_OK; i++)
		r = river_to_text(c->args[i], c->err, &texts[i], &lens[i]);
	if (r != RIVER_OK)
		return r;
	r = river_path_parse(texts[1], lens[1], c->err->arena, &path, &problem);
	if (r == RIVER_OK)
		r = river_json_read(texts[0], lens[0], RIVER_JSON_INTEGERS, c->err->arena, &root,
				    &problem);
	if (r == RIVER_INVALID)
		return river_call_error(c, "%s", problem);
	return r == RIVER_OK ? search_root(c, &path, root) : r;
}

static const struct river_function rows[] = {
	{ "json_path", call_json_path, .n_args = 2 },
};

const struct river_family river_stdlib_json_path = RIVER_FAMILY(rows);
