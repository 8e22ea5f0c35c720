/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and annotations of a pod, its node and its namespace. */
#include "agent/discovery/pod_words.h"

#include <string.h>

#include "agent/util/macro.h"

/* One map of an object's metadata. */
struct words {
	const json_t *map;
	const char *prefix, *present_prefix;
};

#define WORDS(metadata, object, kind)                                                          \
	{                                                                                      \
		json_object_get(metadata, kind "s"), "__meta_kubernetes_" object "_" kind "_", \
			"__meta_kubernetes_" object "_" kind "present_"                        \
	}

static bool has_room(const struct label_builder *b)
{
	return b->n < LABELS_RAW_MAX - POD_WORDS_ROOM_LEFT;
}

/* jansson's iterators want a map that is not const, and change nothing. */
static void add_values(struct label_builder *b, const struct words *w, size_t *n_bytes)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)w->map, key, value)
	{
		size_t n = strlen(key) + json_string_length(value);

		if (!json_is_string(value) || n > POD_WORDS_MAX_VALUE_BYTES ||
		    n > POD_WORDS_MAX_BYTES - *n_bytes || !has_room(b))
			continue;
		label_builder_add_key(b, w->prefix, key, json_string_value(value));
		*n_bytes += n;
	}
}

static void add_presence(struct label_builder *b, const struct words *w, size_t *n_bytes)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)w->map, key, value)
	{
		size_t n = strlen(key);

		if (!json_is_string(value) || n > POD_WORDS_MAX_BYTES - *n_bytes || !has_room(b))
			continue;
		label_builder_add_key(b, w->present_prefix, key, "true");
		*n_bytes += n;
	}
}

void pod_words_add(struct label_builder *b, const json_t *metadata,
		   const struct pod_targets_options *o)
{
	const json_t *node = json_object_get(o ? o->node : NULL, "metadata");
	const json_t *namespace = json_object_get(o ? o->namespace : NULL, "metadata");
	const struct words words[] = {
		WORDS(metadata, "pod", "label"),	WORDS(metadata, "pod", "annotation"),
		WORDS(namespace, "namespace", "label"), WORDS(namespace, "namespace", "annotation"),
		WORDS(node, "node", "label"),		WORDS(node, "node", "annotation"),
	};
	size_t n_bytes = 0;

	label_builder_add(b, "__meta_kubernetes_node_name",
			  json_string_value(json_object_get(node, "name")));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		add_values(b, &words[i], &n_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		add_presence(b, &words[i], &n_bytes);
}
