/* SPDX-License-Identifier: Apache-2.0 */
/* What a kubeconfig says. */
#include "agent/discovery/kube_yaml.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agent/util/macro.h"

void kube_yaml_fail(struct kube_yaml *y, int error, const yaml_node_t *at, const char *fmt, ...)
{
	va_list ap;

	if (y->error < 0)
		return;
	y->error = error;
	(void)buf_printf(y->why, "%s:", y->path);
	if (at)
		(void)buf_printf(y->why, "%zu:", at->start_mark.line + 1);
	(void)buf_append_char(y->why, ' ');
	va_start(ap, fmt);
	(void)buf_vprintf(y->why, fmt, ap);
	va_end(ap);
}

static void fail_parse(struct kube_yaml *y, const yaml_parser_t *parser)
{
	yaml_node_t at = { .start_mark = parser->problem_mark };

	if (parser->error == YAML_MEMORY_ERROR)
		kube_yaml_fail(y, -ENOMEM, NULL, "out of memory");
	else
		kube_yaml_fail(y, -EINVAL, &at, "this is not YAML: %s",
			       parser->problem ? parser->problem : "unknown problem");
}

void kube_yaml_open(struct kube_yaml *y, const char *text, size_t n, const char *path,
		    struct buf *why)
{
	yaml_parser_t parser;

	*y = (struct kube_yaml){ .path = path, .why = why };
	if (!yaml_parser_initialize(&parser)) {
		kube_yaml_fail(y, -ENOMEM, NULL, "out of memory");
		return;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	y->has_document = yaml_parser_load(&parser, &y->document);
	if (!y->has_document)
		fail_parse(y, &parser);
	yaml_parser_delete(&parser);
}

void kube_yaml_close(struct kube_yaml *y)
{
	if (y->has_document)
		yaml_document_delete(&y->document);
	y->has_document = false;
}

/* libyaml's getters want a document that is not const, and change nothing. */
static const yaml_node_t *node_of(struct kube_yaml *y, int id)
{
	return yaml_document_get_node(&y->document, id);
}

static const char *scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

static bool is_one_of(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

static bool is_null(const yaml_node_t *node)
{
	static const char *const words[] = { "", "~", "null" };
	const char *text = scalar(node);

	return text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       is_one_of(text, words, ARRAY_SIZE(words));
}

const yaml_node_t *kube_yaml_root(struct kube_yaml *y)
{
	return y->error == 0 && y->has_document ? yaml_document_get_root_node(&y->document) : NULL;
}

const yaml_node_t *kube_yaml_get(struct kube_yaml *y, const yaml_node_t *map, const char *key)
{
	if (y->error < 0 || !map)
		return NULL;
	if (map->type != YAML_MAPPING_NODE) {
		kube_yaml_fail(y, -EINVAL, map, "a mapping with the key \"%s\" is expected", key);
		return NULL;
	}
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++) {
		const char *name = scalar(node_of(y, p->key));
		const yaml_node_t *value = node_of(y, p->value);

		if (name && strcmp(name, key) == 0)
			return is_null(value) ? NULL : value;
	}
	return NULL;
}

const char *kube_yaml_text(struct kube_yaml *y, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *node = kube_yaml_get(y, map, key);
	const char *text = scalar(node);

	if (node && !text)
		kube_yaml_fail(y, -EINVAL, node, "\"%s\" must be a text", key);
	else if (text && strlen(text) != node->data.scalar.length)
		kube_yaml_fail(y, -EINVAL, node, "\"%s\" has a NUL character", key);
	return y->error == 0 && text && *text ? text : NULL;
}

/* The words of YAML 1.1, which is what kubectl reads. */
bool kube_yaml_bool(struct kube_yaml *y, const yaml_node_t *map, const char *key)
{
	static const char *const yes[] = { "true", "yes", "on", "y" };
	static const char *const no[] = { "false", "no", "off", "n" };
	const char *text = kube_yaml_text(y, map, key);

	if (!text)
		return false;
	if (is_one_of(text, yes, ARRAY_SIZE(yes)))
		return true;
	if (!is_one_of(text, no, ARRAY_SIZE(no)))
		kube_yaml_fail(y, -EINVAL, kube_yaml_get(y, map, key),
			       "\"%s\" must be true or false", key);
	return false;
}

static const yaml_node_t *find_named(struct kube_yaml *y, const yaml_node_t *list, const char *name)
{
	for (const yaml_node_item_t *item = list->data.sequence.items.start;
	     item < list->data.sequence.items.top; item++) {
		const yaml_node_t *entry = node_of(y, *item);
		const char *its = kube_yaml_text(y, entry, "name");

		if (its && strcmp(its, name) == 0)
			return entry;
	}
	return NULL;
}

const yaml_node_t *kube_yaml_named(struct kube_yaml *y, const char *key, const char *name,
				   const char *what)
{
	const yaml_node_t *list = kube_yaml_get(y, kube_yaml_root(y), key);
	const yaml_node_t *entry = NULL;

	if (list && list->type != YAML_SEQUENCE_NODE)
		kube_yaml_fail(y, -EINVAL, list, "\"%s\" must be a list", key);
	else if (list)
		entry = find_named(y, list, name);
	if (!entry)
		kube_yaml_fail(y, -ENOENT, list, "there is no %s named \"%s\" in \"%s\"", what,
			       name, key);
	return kube_yaml_get(y, entry, what);
}
