/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as the tree that JSON would be.
 *
 * An alias shares the value of its anchor, but counts as many nodes as it stands for, so that what a reader of the tree walks over is
 * bounded too.
 */
#include "agent/discovery/yaml_json.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#include "agent/discovery/yaml_anchors.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

struct reader {
	yaml_parser_t parser;
	struct buf *why;
	size_t n_nodes;
	size_t depth;
	struct yaml_anchors anchors;
};

static int read_node(struct reader *r, const yaml_event_t *event, json_t **ret_json);

static int fail(struct reader *r, int error, const yaml_mark_t *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(struct reader *r, int error, const yaml_mark_t *at, const char *fmt, ...)
{
	va_list ap;

	(void)buf_printf(r->why, "line %zu, column %zu: ", at->line + 1, at->column + 1);
	va_start(ap, fmt);
	(void)buf_vprintf(r->why, fmt, ap);
	va_end(ap);
	return error;
}

static int next_event(struct reader *r, yaml_event_t *event)
{
	const yaml_parser_t *p = &r->parser;

	if (yaml_parser_parse(&r->parser, event))
		return 0;
	memset(event, 0, sizeof(*event));
	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	/* What is no text has no mark. */
	return fail(r, -EINVAL, p->error == YAML_READER_ERROR ? &p->mark : &p->problem_mark, "%s",
		    p->problem ? p->problem : "this is not YAML");
}

static bool is_nothing(const yaml_event_t *e)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || !e->data.scalar.plain_implicit)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp((const char *)e->data.scalar.value, words[i]) == 0)
			return true;
	return false;
}

static struct str text_of(const yaml_event_t *e)
{
	return (struct str){ (const char *)e->data.scalar.value, e->data.scalar.length };
}

static int check_text(struct reader *r, const yaml_event_t *e)
{
	struct str text = text_of(e);

	if (memchr(text.p, '\0', text.n))
		return fail(r, -EINVAL, &e->start_mark, "a text holds a NUL");
	return str_is_utf8(text) ? 0 : fail(r, -EINVAL, &e->start_mark, "a text is not UTF-8");
}

static int read_scalar(struct reader *r, const yaml_event_t *e, json_t **ret_json)
{
	struct str text = text_of(e);
	int error = check_text(r, e);

	if (error < 0)
		return error;
	json_t *json = is_nothing(e) ? json_null() : json_stringn(text.p, text.n);
	if (!json)
		return -ENOMEM;
	*ret_json = json;
	return 0;
}

static int read_list(struct reader *r, json_t *list)
{
	for (;;) {
		_cleanup_(yaml_event_delete) yaml_event_t e = { 0 };
		json_t *item = NULL;
		int error = next_event(r, &e);

		if (error < 0 || e.type == YAML_SEQUENCE_END_EVENT)
			return error;
		error = read_node(r, &e, &item);
		if (error < 0)
			return error;
		if (json_array_append_new(list, item) < 0)
			return -ENOMEM;
	}
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
static int merge(struct reader *r, const yaml_event_t *key, json_t *value, json_t *merged)
{
	json_t *one = json_is_object(value) ? value : NULL;
	size_t n = json_array_size(value);
	int error = one || n > 0 ? 0 : -EINVAL;

	for (size_t i = 0; error == 0 && i < (one ? 1 : n); i++) {
		json_t *from = one ? one : json_array_get(value, i);

		error = json_is_object(from) ? add_missing(merged, from) : -EINVAL;
	}
	json_decref(value);
	return error == -EINVAL ? fail(r, error, &key->start_mark,
				       "\"<<\" merges mappings, or lists of them, only")
				: error;
}

static bool is_merge(const yaml_event_t *key)
{
	return key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       str_eq(text_of(key), STR_LIT("<<"));
}

static int check_key(struct reader *r, const yaml_event_t *key)
{
	if (key->type != YAML_SCALAR_EVENT)
		return fail(r, -EINVAL, &key->start_mark, "a key must be a text");
	return check_text(r, key);
}

static int read_pair(struct reader *r, const yaml_event_t *key, json_t *map, json_t *merged)
{
	_cleanup_(yaml_event_delete) yaml_event_t e = { 0 };
	struct str name = text_of(key);
	json_t *value = NULL;
	int error = next_event(r, &e);

	if (error == 0)
		error = read_node(r, &e, &value);
	if (error < 0)
		return error;
	if (is_merge(key))
		return merge(r, key, value, merged);
	if (json_object_getn(map, name.p, name.n)) {
		json_decref(value);
		return fail(r, -EINVAL, &key->start_mark, "key \"%.*s\" already set in map",
			    (int)MIN_OF(name.n, (size_t)100), name.p);
	}
	return json_object_setn_new(map, name.p, name.n, value) < 0 ? -ENOMEM : 0;
}

static int read_pairs(struct reader *r, json_t *map, json_t *merged)
{
	for (;;) {
		_cleanup_(yaml_event_delete) yaml_event_t key = { 0 };
		int error = next_event(r, &key);

		if (error < 0 || key.type == YAML_MAPPING_END_EVENT)
			return error;
		r->n_nodes++;
		error = check_key(r, &key);
		if (error == 0)
			error = read_pair(r, &key, map, merged);
		if (error < 0)
			return error;
	}
}

static int read_map(struct reader *r, json_t *map)
{
	json_t *merged = json_object();
	int error = merged ? read_pairs(r, map, merged) : -ENOMEM;

	if (error == 0)
		error = add_missing(map, merged);
	json_decref(merged);
	return error;
}

static int read_collection(struct reader *r, const yaml_event_t *e, json_t **ret_json)
{
	bool list = e->type == YAML_SEQUENCE_START_EVENT;
	json_t *json = list ? json_array() : json_object();
	int error = json ? 0 : -ENOMEM;

	if (++r->depth > YAML_JSON_MAX_DEPTH)
		error = fail(r, -E2BIG, &e->start_mark, "more than %d levels", YAML_JSON_MAX_DEPTH);
	if (error == 0)
		error = list ? read_list(r, json) : read_map(r, json);
	r->depth--;
	if (error < 0)
		json_decref(json);
	else
		*ret_json = json;
	return error;
}

static int read_alias(struct reader *r, const yaml_event_t *e, json_t **ret_json)
{
	const char *name = (const char *)e->data.alias.anchor;
	const struct yaml_anchor *anchor = yaml_anchors_find(&r->anchors, name);

	if (!anchor)
		return fail(r, -EINVAL, &e->start_mark, "unknown anchor \"%.100s\"", name);
	r->n_nodes += anchor->n_nodes;
	*ret_json = json_incref(anchor->value);
	return 0;
}

static const char *anchor_of(const yaml_event_t *e)
{
	const yaml_char_t *name = e->type == YAML_SCALAR_EVENT ? e->data.scalar.anchor
				  : e->type == YAML_SEQUENCE_START_EVENT
					  ? e->data.sequence_start.anchor
					  : e->data.mapping_start.anchor;

	return (const char *)name;
}

/* One that is not whole yet cannot be meant by an alias: a value never holds itself. */
static int keep_anchor(struct reader *r, const yaml_event_t *e, size_t n_nodes, json_t *value)
{
	const char *name = anchor_of(e);
	int error = name ? yaml_anchors_add(&r->anchors, name, value, n_nodes) : 0;

	return error == -E2BIG
		       ? fail(r, error, &e->start_mark, "more than %d anchors", YAML_ANCHORS_MAX)
		       : error;
}

static int read_value(struct reader *r, const yaml_event_t *e, json_t **ret_json)
{
	size_t before = r->n_nodes;
	json_t *json = NULL;
	int error = e->type == YAML_SCALAR_EVENT ? read_scalar(r, e, &json)
						 : read_collection(r, e, &json);

	if (error == 0)
		error = keep_anchor(r, e, r->n_nodes - before + 1, json);
	if (error < 0)
		json_decref(json);
	else
		*ret_json = json;
	return error;
}

static int read_node(struct reader *r, const yaml_event_t *e, json_t **ret_json)
{
	json_t *json = NULL;
	int error;

	if (e->type == YAML_ALIAS_EVENT)
		error = read_alias(r, e, &json);
	else
		error = read_value(r, e, &json);
	if (error == 0 && ++r->n_nodes > YAML_JSON_MAX_NODES)
		error = fail(r, -E2BIG, &e->start_mark, "more than %d values", YAML_JSON_MAX_NODES);
	if (error < 0)
		json_decref(json);
	else
		*ret_json = json;
	return error;
}

static int read_document(struct reader *r, json_t **ret_json)
{
	for (;;) {
		_cleanup_(yaml_event_delete) yaml_event_t e = { 0 };
		int error = next_event(r, &e);

		if (error < 0)
			return error;
		if (e.type == YAML_STREAM_END_EVENT) {
			*ret_json = json_null();
			return 0;
		}
		if (e.type != YAML_STREAM_START_EVENT && e.type != YAML_DOCUMENT_START_EVENT)
			return read_node(r, &e, ret_json);
	}
}

int yaml_to_json(const char *text, size_t n, struct buf *why, json_t **ret_json)
{
	struct reader r = { .why = why };

	if (!yaml_parser_initialize(&r.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, n);
	int error = read_document(&r, ret_json);
	yaml_anchors_fini(&r.anchors);
	yaml_parser_delete(&r.parser);
	return error;
}
