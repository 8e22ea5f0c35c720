/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The array.* family.
 *
 * combine_maps joins two lists of objects as a database joins tables; it compares each with each, so
 * its work is bounded by COMPARISONS_MAX.
 */
#include <errno.h>
#include <string.h>

#include "river-config/stdlib.h"
#include "river-config/vec.h"

/* Lists of targets of a full node, some thousand entries each, joined: a second's work at most. */
#define COMPARISONS_MAX ((size_t)10 * 1000 * 1000)

static int count_items(struct river_call *c, size_t *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < c->n_args; i++) {
		if (c->args[i]->type != RIVER_TYPE_ARRAY)
			return river_error_type(c->err, c->args[i], RIVER_TYPE_ARRAY);
		*ret_n += c->args[i]->array.n_items;
	}
	return RIVER_OK;
}

static int call_concat(struct river_call *c)
{
	struct river_value **items;
	size_t n, at = 0;
	int r = count_items(c, &n);

	if (r != RIVER_OK)
		return r;
	items = river_arena_alloc(c->err->arena, n * sizeof(struct river_value *));
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_args; i++)
		for (size_t k = 0; k < c->args[i]->array.n_items; k++)
			items[at++] = c->args[i]->array.items[k];
	c->result = river_value_wrap_array(c->err->arena, items, n);
	return RIVER_OK;
}

/* An array of objects, the item that is none being the culprit. */
static int check_objects(const struct river_value *v, struct river_error *err)
{
	if (v->type != RIVER_TYPE_ARRAY)
		return river_error_type(err, v, RIVER_TYPE_ARRAY);
	for (size_t i = 0; i < v->array.n_items; i++) {
		const struct river_value *item = v->array.items[i];

		if (item->type != RIVER_TYPE_OBJECT)
			return river_error_in_item(err, v, i,
						   river_error_type(err, item, RIVER_TYPE_OBJECT));
	}
	return RIVER_OK;
}

static int check_keys(const struct river_value *keys, struct river_error *err)
{
	if (keys->type != RIVER_TYPE_ARRAY)
		return river_error_type(err, keys, RIVER_TYPE_ARRAY);
	if (keys->array.n_items == 0)
		return river_error_set(err, keys,
				       "combine_maps: merge conditions must not be empty");
	for (size_t i = 0; i < keys->array.n_items; i++) {
		const struct river_value *key = keys->array.items[i];

		if (key->type != RIVER_TYPE_STRING)
			return river_error_in_item(err, keys, i,
						   river_error_type(err, key, RIVER_TYPE_STRING));
	}
	return RIVER_OK;
}

static bool agree(const struct river_value *left, const struct river_value *right,
		  const struct river_value *keys)
{
	for (size_t i = 0; i < keys->array.n_items; i++) {
		const char *key = keys->array.items[i]->string.text;
		const struct river_value *a = river_value_find(left, key);
		const struct river_value *b = river_value_find(right, key);

		if (!a || !b || !river_value_equal(a, b))
			return false;
	}
	return true;
}

/* What both have, the right one's where both have it. */
static struct river_value *merge_objects(struct river_arena *arena, const struct river_value *left,
					 const struct river_value *right)
{
	size_t n_left = river_value_len(left), n_right = river_value_len(right);
	struct river_object_member *members =
		river_arena_alloc(arena, (n_left + n_right) * sizeof(*members));

	if (!members || !river_value_open(left) || !river_value_open(right))
		return NULL;
	if (n_left)
		memcpy(members, left->object.members, n_left * sizeof(*members));
	if (n_right)
		memcpy(members + n_left, right->object.members, n_right * sizeof(*members));
	return river_value_wrap_object(arena, members, n_left + n_right);
}

static int combine_one(struct river_call *c, struct river_value *left, bool keep_unmatched,
		       struct river_vec *results)
{
	const struct river_value *rights = c->args[1];
	bool matched = false;

	for (size_t i = 0; i < rights->array.n_items; i++) {
		struct river_value *merged;

		if (!agree(left, rights->array.items[i], c->args[2]))
			continue;
		matched = true;
		merged = merge_objects(c->err->arena, left, rights->array.items[i]);
		if (!merged || river_vec_push(results, c->err->arena, &merged) < 0)
			return -ENOMEM;
	}
	if (!matched && keep_unmatched)
		return river_vec_push(results, c->err->arena, &left);
	return RIVER_OK;
}

static int check_combine(struct river_call *c)
{
	size_t n;
	int r;

	if (c->n_args != 3 && c->n_args != 4)
		return river_call_error_bare(c, "combine_maps: expected 3 arguments, got %zu",
					     c->n_args);
	r = check_objects(c->args[0], c->err);
	if (r == RIVER_OK)
		r = check_objects(c->args[1], c->err);
	if (r == RIVER_OK)
		r = check_keys(c->args[2], c->err);
	if (r == RIVER_OK && c->n_args == 4 && c->args[3]->type != RIVER_TYPE_BOOL)
		r = river_error_type(c->err, c->args[3], RIVER_TYPE_BOOL);
	if (r != RIVER_OK)
		return r;
	if (__builtin_mul_overflow(c->args[0]->array.n_items, c->args[1]->array.n_items, &n) ||
	    n > COMPARISONS_MAX / c->args[2]->array.n_items)
		return river_call_error(c, "combine_maps: more than %zu comparisons",
					COMPARISONS_MAX);
	return RIVER_OK;
}

/*
 * The fourth argument keeps what matched nothing, once. The reference repeats it for every map on
 * the right that did not match.
 */
static int call_combine_maps(struct river_call *c)
{
	struct river_vec results = RIVER_VEC_INIT(struct river_value *);
	int r = check_combine(c);

	for (size_t i = 0; r == RIVER_OK && i < c->args[0]->array.n_items; i++)
		r = combine_one(c, c->args[0]->array.items[i],
				c->n_args == 4 && c->args[3]->boolean, &results);
	if (r == RIVER_OK)
		c->result = river_value_wrap_array(c->err->arena, results.data, results.n_items);
	return r;
}

/* The items of one group, in the order of the array. */
struct group {
	const struct river_value *name;
	struct river_vec items;
};

static int check_group_by(struct river_call *c)
{
	static const enum river_type types[] = { RIVER_TYPE_ARRAY, RIVER_TYPE_STRING,
						 RIVER_TYPE_BOOL };

	if (c->n_args != 3)
		return river_call_error_bare(c, "group_by: expected 3 arguments, got %zu",
					     c->n_args);
	for (size_t i = 0; i < c->n_args; i++)
		if (c->args[i]->type != types[i])
			return river_error_type(c->err, c->args[i], types[i]);
	return check_objects(c->args[0], c->err);
}

static struct group *find_group(struct river_vec *groups, const struct river_value *name)
{
	struct group *all = groups->data;

	for (size_t i = 0; i < groups->n_items; i++)
		if (river_value_equal(all[i].name, name))
			return &all[i];
	return NULL;
}

/* Groups are looked for one by one. */
static int group_item(struct river_call *c, struct river_value *item,
		      const struct river_value *name, struct river_vec *groups)
{
	struct group *group = find_group(groups, name);
	struct group fresh = { .name = name, .items = RIVER_VEC_INIT(struct river_value *) };

	if (!group) {
		if (groups->n_items * c->args[0]->array.n_items > COMPARISONS_MAX)
			return river_call_error(c, "group_by: too many groups");
		if (river_vec_push(groups, c->err->arena, &fresh) < 0)
			return -ENOMEM;
		group = (struct group *)groups->data + groups->n_items - 1;
	}
	return river_vec_push(&group->items, c->err->arena, &item);
}

static struct river_value *group_value(struct river_arena *arena, struct group *group,
				       const struct river_value *key)
{
	struct river_object_member *members = river_arena_alloc(arena, 2 * sizeof(*members));
	struct river_value *items =
		river_value_wrap_array(arena, group->items.data, group->items.n_items);
	struct river_value *name = river_value_alias(arena, group->name);

	if (!members || !items || !name)
		return NULL;
	members[0] = (struct river_object_member){ key->string.text, key->string.len, name };
	members[1] = (struct river_object_member){ "items", strlen("items"), items };
	return river_value_wrap_object(arena, members, 2);
}

static int return_groups(struct river_call *c, struct river_vec *groups)
{
	struct river_value **items =
		river_arena_alloc(c->err->arena, groups->n_items * sizeof(struct river_value *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < groups->n_items; i++) {
		items[i] = group_value(c->err->arena, (struct group *)groups->data + i, c->args[1]);
		if (!items[i])
			return -ENOMEM;
	}
	c->result = river_value_wrap_array(c->err->arena, items, groups->n_items);
	return RIVER_OK;
}

/*
 * One object a group, {key = its value, items = its objects}, in the order in which the values first
 * appear; the reference's order is random.
 */
static int call_group_by(struct river_call *c)
{
	const struct river_value *missing = river_value_string(c->err->arena, "", 0);
	struct river_vec groups = RIVER_VEC_INIT(struct group);
	int r = missing ? check_group_by(c) : -ENOMEM;

	for (size_t i = 0; r == RIVER_OK && i < c->args[0]->array.n_items; i++) {
		struct river_value *item = c->args[0]->array.items[i];
		const struct river_value *name = river_value_find(item, c->args[1]->string.text);

		if (name && name->type != RIVER_TYPE_STRING) {
			r = river_error_in_member(
				c->err, item, c->args[1]->string.text,
				river_error_type(c->err, name, RIVER_TYPE_STRING));
			r = river_error_in_item(c->err, c->args[0], i, r);
		} else if (name || !c->args[2]->boolean) {
			r = group_item(c, item, name ? name : missing, &groups);
		}
	}
	return r == RIVER_OK ? return_groups(c, &groups) : r;
}

static const struct river_function rows[] = {
	{ "array.concat", call_concat, .is_variadic = true },
	{ "concat", call_concat, .is_variadic = true, .is_deprecated = true },
	{ "array.combine_maps", call_combine_maps, .is_variadic = true, .is_experimental = true },
	{ "array.group_by", call_group_by, .is_variadic = true, .is_experimental = true },
};

const struct river_family river_stdlib_array = RIVER_FAMILY(rows);
