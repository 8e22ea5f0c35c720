/* SPDX-License-Identifier: Apache-2.0 */
/* What a kubeconfig says. */
#include "agent/discovery/kube_yaml.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agent/util/macro.h"

/* A kubeconfig of many clusters has some thousand. */
#define NODES_MAX 100000
/* Of these, some hundred bytes each, and of the texts. */
#define ARENA_BYTES ((size_t)64 << 20)

void kube_yaml_fail(struct kube_yaml *y, int error, const struct river_yaml_node *at,
		    const char *fmt, ...)
{
	va_list ap;

	if (y->error < 0)
		return;
	y->error = error;
	(void)buf_printf(y->why, "%s:", y->path);
	if (at)
		(void)buf_printf(y->why, "%zu:", (size_t)at->line);
	(void)buf_append_char(y->why, ' ');
	va_start(ap, fmt);
	(void)buf_vprintf(y->why, fmt, ap);
	va_end(ap);
}

void kube_yaml_open(struct kube_yaml *y, const char *text, size_t n, const char *path,
		    struct buf *why)
{
	struct river_yaml_problem problem;
	struct river_yaml_node at = { 0 };
	int r;

	*y = (struct kube_yaml){ .path = path, .why = why };
	river_arena_init(&y->arena, ARENA_BYTES);
	r = river_yaml_parse(text, n, NODES_MAX, &y->arena, &y->root, &problem);
	if (r < 0)
		kube_yaml_fail(y, -ENOMEM, NULL, "out of memory");
	if (r != RIVER_INVALID)
		return;
	at.line = (uint32_t)problem.line;
	kube_yaml_fail(y, -EINVAL, &at, "this is not YAML: %s", problem.text);
}

void kube_yaml_close(struct kube_yaml *y)
{
	river_arena_fini(&y->arena);
	y->root = NULL;
}

static bool is_one_of(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

const struct river_yaml_node *kube_yaml_root(struct kube_yaml *y)
{
	return y->error == 0 ? y->root : NULL;
}

const struct river_yaml_node *kube_yaml_get(struct kube_yaml *y, const struct river_yaml_node *map,
					    const char *key)
{
	const struct river_yaml_node *value;

	if (y->error < 0 || !map)
		return NULL;
	if (map->kind != RIVER_YAML_MAPPING) {
		kube_yaml_fail(y, -EINVAL, map, "a mapping with the key \"%s\" is expected", key);
		return NULL;
	}
	value = river_yaml_get(map, key, strcmp);
	return value && !river_yaml_is_null(value) ? value : NULL;
}

const char *kube_yaml_text(struct kube_yaml *y, const struct river_yaml_node *map, const char *key)
{
	const struct river_yaml_node *node = kube_yaml_get(y, map, key);
	const char *text = river_yaml_text(node);

	if (node && !text)
		kube_yaml_fail(y, -EINVAL, node, "\"%s\" must be a text", key);
	else if (text && strlen(text) != node->len)
		kube_yaml_fail(y, -EINVAL, node, "\"%s\" has a NUL character", key);
	return y->error == 0 && text && *text ? text : NULL;
}

/* The words of YAML 1.1, which is what kubectl reads. */
bool kube_yaml_bool(struct kube_yaml *y, const struct river_yaml_node *map, const char *key)
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

static const struct river_yaml_node *
find_named(struct kube_yaml *y, const struct river_yaml_node *list, const char *name)
{
	for (size_t i = 0; i < list->n_items; i++) {
		const struct river_yaml_node *entry = river_yaml_item(list, i);
		const char *its = kube_yaml_text(y, entry, "name");

		if (its && strcmp(its, name) == 0)
			return entry;
	}
	return NULL;
}

const struct river_yaml_node *kube_yaml_named(struct kube_yaml *y, const char *key,
					      const char *name, const char *what)
{
	const struct river_yaml_node *list = kube_yaml_get(y, kube_yaml_root(y), key);
	const struct river_yaml_node *entry = NULL;

	if (list && list->kind != RIVER_YAML_SEQUENCE)
		kube_yaml_fail(y, -EINVAL, list, "\"%s\" must be a list", key);
	else if (list)
		entry = find_named(y, list, name);
	if (!entry)
		kube_yaml_fail(y, -ENOENT, list, "there is no %s named \"%s\" in \"%s\"", what,
			       name, key);
	return kube_yaml_get(y, entry, what);
}
