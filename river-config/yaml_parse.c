/* SPDX-License-Identifier: Apache-2.0 */
/* YAML's events to nodes. */
#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "river-config/text.h"
#include "river-config/vec.h"
#include "river-config/yaml_node.h"

#define N_BUCKETS 1024

#define TAG_PREFIX "tag:yaml.org,2002:"

struct anchor {
	struct anchor *next;
	const char *name;
	struct river_yaml_node *node;
};

struct builder {
	yaml_parser_t parser;
	struct river_arena *arena;
	struct anchor *anchors[N_BUCKETS];
	size_t n_anchors;
	unsigned int depth;
	size_t n_nodes;
	size_t max_nodes;
	struct river_yaml_problem problem;
};

static int take_node(struct builder *b, const yaml_event_t *event,
		     struct river_yaml_node **ret_node);

static int __attribute__((format(printf, 3, 4)))
fail(struct builder *b, const yaml_mark_t *at, const char *fmt, ...)
{
	struct river_text t = RIVER_TEXT_INIT(b->arena);
	va_list ap;

	va_start(ap, fmt);
	river_text_vprintf(&t, fmt, ap);
	va_end(ap);
	b->problem =
		(struct river_yaml_problem){ river_text_take(&t), at->line + 1, at->column + 1 };
	return b->problem.text ? RIVER_INVALID : -ENOMEM;
}

/* What is no text has no mark of its own. */
static int fail_parse(struct builder *b)
{
	const yaml_parser_t *p = &b->parser;

	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	return fail(b, p->error == YAML_READER_ERROR ? &p->mark : &p->problem_mark, "%s",
		    p->problem ? p->problem : "this is not YAML");
}

static int next_event(struct builder *b, yaml_event_t *event)
{
	memset(event, 0, sizeof(*event));
	return yaml_parser_parse(&b->parser, event) ? RIVER_OK : fail_parse(b);
}

/* FNV-1a. */
static size_t bucket_of(const char *name)
{
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return hash % N_BUCKETS;
}

static struct anchor *find_anchor(struct builder *b, const char *name)
{
	struct anchor *a = b->anchors[bucket_of(name)];

	while (a && strcmp(a->name, name) != 0)
		a = a->next;
	return a;
}

static int add_anchor(struct builder *b, const yaml_event_t *event, const yaml_char_t *name,
		      struct river_yaml_node *node)
{
	struct anchor *a = name ? find_anchor(b, (const char *)name) : NULL;

	if (a)
		a->node = node;
	if (!name || a)
		return RIVER_OK;
	if (++b->n_anchors > RIVER_YAML_ANCHORS_MAX)
		return fail(b, &event->start_mark, "more than %d anchors", RIVER_YAML_ANCHORS_MAX);
	a = river_arena_alloc(b->arena, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->name = river_arena_strndup(b->arena, (const char *)name, strlen((const char *)name));
	a->node = node;
	a->next = b->anchors[bucket_of((const char *)name)];
	b->anchors[bucket_of((const char *)name)] = a;
	return a->name ? RIVER_OK : -ENOMEM;
}

static int set_tag(struct builder *b, struct river_yaml_node *node, const yaml_char_t *tag)
{
	struct river_text t = RIVER_TEXT_INIT(b->arena);
	const char *text = (const char *)tag;

	if (!text || !*text || strcmp(text, "!") == 0)
		return RIVER_OK;
	if (strncmp(text, TAG_PREFIX, strlen(TAG_PREFIX)) == 0) {
		river_text_str(&t, "!!");
		text += strlen(TAG_PREFIX);
	}
	river_text_str(&t, text);
	node->tag = river_text_take(&t);
	return node->tag ? RIVER_OK : -ENOMEM;
}

static int set_text(struct builder *b, struct river_yaml_node *node, const yaml_char_t *s, size_t n)
{
	node->len = n;
	node->text = river_arena_strndup(b->arena, (const char *)s, n);
	return node->text ? RIVER_OK : -ENOMEM;
}

static int take_scalar(struct builder *b, const yaml_event_t *event, struct river_yaml_node *node)
{
	int r = set_text(b, node, event->data.scalar.value, event->data.scalar.length);

	node->kind = RIVER_YAML_SCALAR;
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (r == RIVER_OK)
		r = set_tag(b, node, event->data.scalar.tag);
	return r == RIVER_OK ? add_anchor(b, event, event->data.scalar.anchor, node) : r;
}

static int take_alias(struct builder *b, const yaml_event_t *event, struct river_yaml_node *node)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct anchor *a = find_anchor(b, name);

	if (!a)
		return fail(b, &event->start_mark, "unknown anchor '%s' referenced", name);
	node->kind = RIVER_YAML_ALIAS;
	node->target = a->node;
	return set_text(b, node, event->data.alias.anchor, strlen(name));
}

/* Up to the event that ends the collection. */
static int take_items(struct builder *b, const yaml_event_t *begin, struct river_yaml_node *node,
		      yaml_event_type_t end)
{
	struct river_vec items = RIVER_VEC_INIT(struct river_yaml_node *);
	bool ended = false;
	int r = RIVER_OK;

	if (++b->depth > RIVER_DEPTH_MAX)
		return fail(b, &begin->start_mark, "exceeded max depth of %d", RIVER_DEPTH_MAX);
	while (r == RIVER_OK && !ended) {
		struct river_yaml_node *item;
		yaml_event_t event;

		r = next_event(b, &event);
		if (r != RIVER_OK)
			return r;
		ended = event.type == end;
		if (!ended)
			r = take_node(b, &event, &item);
		if (!ended && r == RIVER_OK)
			r = river_vec_push(&items, b->arena, &item);
		yaml_event_delete(&event);
	}
	b->depth--;
	node->items = items.data;
	node->n_items = items.n_items;
	return r;
}

static int take_sequence(struct builder *b, const yaml_event_t *event, struct river_yaml_node *node)
{
	int r = add_anchor(b, event, event->data.sequence_start.anchor, node);

	node->kind = RIVER_YAML_SEQUENCE;
	return r == RIVER_OK ? take_items(b, event, node, YAML_SEQUENCE_END_EVENT) : r;
}

static int take_mapping(struct builder *b, const yaml_event_t *event, struct river_yaml_node *node)
{
	int r = add_anchor(b, event, event->data.mapping_start.anchor, node);

	node->kind = RIVER_YAML_MAPPING;
	return r == RIVER_OK ? take_items(b, event, node, YAML_MAPPING_END_EVENT) : r;
}

static int take_node(struct builder *b, const yaml_event_t *event,
		     struct river_yaml_node **ret_node)
{
	struct river_yaml_node *node = river_arena_alloc(b->arena, sizeof(*node));

	if (!node)
		return -ENOMEM;
	if (++b->n_nodes > b->max_nodes)
		return fail(b, &event->start_mark, "more than %zu values", b->max_nodes);
	*ret_node = node;
	node->line = (uint32_t)event->start_mark.line + 1;
	node->column = (uint32_t)event->start_mark.column + 1;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(b, event, node);
	case YAML_ALIAS_EVENT:
		return take_alias(b, event, node);
	case YAML_SEQUENCE_START_EVENT:
		return take_sequence(b, event, node);
	case YAML_MAPPING_START_EVENT:
		return take_mapping(b, event, node);
	default:
		return fail(b, &event->start_mark, "this is not YAML");
	}
}

/* Stream start, document start, the node; what follows the first document's end is not looked at. */
static int take_document(struct builder *b, struct river_yaml_node **ret_node)
{
	yaml_event_type_t type = YAML_STREAM_START_EVENT;
	yaml_event_t event;
	int r = RIVER_OK;

	*ret_node = NULL;
	while (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT) {
		r = next_event(b, &event);
		if (r != RIVER_OK)
			return r;
		type = event.type;
		if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
		    type != YAML_STREAM_END_EVENT)
			r = take_node(b, &event, ret_node);
		yaml_event_delete(&event);
	}
	if (r != RIVER_OK || type == YAML_STREAM_END_EVENT)
		return r;
	r = next_event(b, &event);
	if (r == RIVER_OK)
		yaml_event_delete(&event);
	return r;
}

int river_yaml_parse(const char *s, size_t n, size_t max_nodes, struct river_arena *arena,
		     struct river_yaml_node **ret_node, struct river_yaml_problem *ret_problem)
{
	struct builder b = { .arena = arena, .max_nodes = max_nodes };
	int r;

	if (!yaml_parser_initialize(&b.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)s, n);
	r = take_document(&b, ret_node);
	yaml_parser_delete(&b.parser);
	if (r == RIVER_INVALID)
		*ret_problem = b.problem;
	return r;
}

const struct river_yaml_node *river_yaml_resolve(const struct river_yaml_node *node)
{
	return node && node->kind == RIVER_YAML_ALIAS ? node->target : node;
}

bool river_yaml_is_null(const struct river_yaml_node *node)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	if (node->kind != RIVER_YAML_SCALAR || node->quoted || node->tag)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == node->len && memcmp(words[i], node->text, node->len) == 0)
			return true;
	return false;
}

const char *river_yaml_text(const struct river_yaml_node *node)
{
	node = river_yaml_resolve(node);
	return node && node->kind == RIVER_YAML_SCALAR ? node->text : NULL;
}

const struct river_yaml_node *river_yaml_item(const struct river_yaml_node *list, size_t n)
{
	return river_yaml_resolve(list->items[n]);
}

const struct river_yaml_node *river_yaml_get(const struct river_yaml_node *map, const char *key,
					     int (*compare)(const char *, const char *))
{
	if (!map || map->kind != RIVER_YAML_MAPPING)
		return NULL;
	for (size_t i = 0; i < map->n_items; i += 2) {
		const char *name = river_yaml_text(map->items[i]);

		if (name && compare(name, key) == 0)
			return river_yaml_item(map, i + 1);
	}
	return NULL;
}
