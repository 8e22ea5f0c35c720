/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as the tree that JSON would be. */
#include "agent/discovery/yaml_json.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "river-config/yaml_node.h"

/* Of the nodes, some hundred bytes each, and of the texts. */
#define ARENA_BYTES ((size_t)512 << 20)

struct reader {
	struct buf *why;
	size_t n_nodes; /* those of an alias once more for each use */
	size_t depth;
};

static int read_node(struct reader *r, const struct river_yaml_node *node, json_t **ret_json);

static int fail(struct reader *r, int error, const struct river_yaml_node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(struct reader *r, int error, const struct river_yaml_node *at, const char *fmt, ...)
{
	va_list ap;

	(void)buf_printf(r->why, "line %u, column %u: ", at->line, at->column);
	va_start(ap, fmt);
	(void)buf_vprintf(r->why, fmt, ap);
	va_end(ap);
	return error;
}

static int check_text(struct reader *r, const struct river_yaml_node *node)
{
	return memchr(node->text, '\0', node->len) ? fail(r, -EINVAL, node, "a text holds a NUL")
						   : 0;
}

static int read_scalar(struct reader *r, const struct river_yaml_node *node, json_t **ret_json)
{
	int error = check_text(r, node);

	if (error < 0)
		return error;
	*ret_json = river_yaml_is_null(node) ? json_null() : json_stringn(node->text, node->len);
	return *ret_json ? 0 : -ENOMEM;
}

static int read_list(struct reader *r, const struct river_yaml_node *node, json_t *list)
{
	for (size_t i = 0; i < node->n_items; i++) {
		json_t *item = NULL;
		int error = read_node(r, node->items[i], &item);

		if (error < 0)
			return error;
		if (json_array_append_new(list, item) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* jansson's own function for it does not say when memory is out. */
static int add_missing(json_t *object, json_t *other)
{
	const char *key;
	json_t *value;

	json_object_foreach(other, key, value)
	{
		if (!json_object_get(object, key) && json_object_set(object, key, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What is merged stands behind what the mapping says itself, wherever "<<" is. Takes `value`. */
static int merge(struct reader *r, const struct river_yaml_node *key, json_t *value, json_t *merged)
{
	json_t *one = json_is_object(value) ? value : NULL;
	size_t n = json_array_size(value);
	int error = one || n > 0 ? 0 : -EINVAL;

	for (size_t i = 0; error == 0 && i < (one ? 1 : n); i++) {
		json_t *from = one ? one : json_array_get(value, i);

		error = json_is_object(from) ? add_missing(merged, from) : -EINVAL;
	}
	json_decref(value);
	return error == -EINVAL
		       ? fail(r, error, key, "\"<<\" merges mappings, or lists of them, only")
		       : error;
}

static bool is_merge(const struct river_yaml_node *key)
{
	return !key->quoted && !key->tag &&
	       str_eq((struct str){ key->text, key->len }, STR_LIT("<<"));
}

static int read_pair(struct reader *r, const struct river_yaml_node *key,
		     const struct river_yaml_node *node, json_t *map, json_t *merged)
{
	json_t *value = NULL;
	int error;

	if (key->kind != RIVER_YAML_SCALAR)
		return fail(r, -EINVAL, key, "a key must be a text");
	r->n_nodes++;
	error = check_text(r, key);
	if (error == 0)
		error = read_node(r, node, &value);
	if (error < 0)
		return error;
	if (is_merge(key))
		return merge(r, key, value, merged);
	if (json_object_getn(map, key->text, key->len)) {
		json_decref(value);
		return fail(r, -EINVAL, key, "key \"%.*s\" already set in map",
			    (int)MIN_OF(key->len, (size_t)100), key->text);
	}
	return json_object_setn_new(map, key->text, key->len, value) < 0 ? -ENOMEM : 0;
}

static int read_map(struct reader *r, const struct river_yaml_node *node, json_t *map)
{
	json_t *merged = json_object();
	int error = merged ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < node->n_items; i += 2)
		error = read_pair(r, node->items[i], node->items[i + 1], map, merged);
	if (error == 0)
		error = add_missing(map, merged);
	json_decref(merged);
	return error;
}

static int read_collection(struct reader *r, const struct river_yaml_node *node, json_t **ret_json)
{
	bool list = node->kind == RIVER_YAML_SEQUENCE;
	json_t *json = list ? json_array() : json_object();
	int error = json ? 0 : -ENOMEM;

	if (++r->depth > YAML_JSON_MAX_DEPTH)
		error = fail(r, -E2BIG, node, "more than %d levels", YAML_JSON_MAX_DEPTH);
	if (error == 0)
		error = list ? read_list(r, node, json) : read_map(r, node, json);
	r->depth--;
	if (error < 0)
		json_decref(json);
	else
		*ret_json = json;
	return error;
}

/* One that holds itself ends at the depth, or at the number. */
static int read_node(struct reader *r, const struct river_yaml_node *node, json_t **ret_json)
{
	const struct river_yaml_node *value = river_yaml_resolve(node);

	if (++r->n_nodes > YAML_JSON_MAX_NODES)
		return fail(r, -E2BIG, node, "more than %d values", YAML_JSON_MAX_NODES);
	return value->kind == RIVER_YAML_SCALAR ? read_scalar(r, value, ret_json)
						: read_collection(r, value, ret_json);
}

int yaml_to_json(const char *text, size_t n, struct buf *why, json_t **ret_json)
{
	struct reader r = { .why = why };
	struct river_yaml_problem problem;
	struct river_yaml_node *root;
	struct river_arena arena;

	river_arena_init(&arena, ARENA_BYTES);
	int error = river_yaml_parse(text, n, YAML_JSON_MAX_NODES, &arena, &root, &problem);
	if (error == RIVER_INVALID) {
		(void)buf_printf(why, "line %zu, column %zu: %s", problem.line, problem.column,
				 problem.text);
		error = -EINVAL;
	} else if (error == 0 && root) {
		error = read_node(&r, root, ret_json);
	} else if (error == 0) {
		*ret_json = json_null();
	}
	river_arena_fini(&arena);
	return error;
}
