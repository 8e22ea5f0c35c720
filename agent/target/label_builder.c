/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a target under construction. */
#include "agent/target/label_builder.h"

#include <errno.h>
#include <string.h>

#include "agent/util/label_name.h"
#include "agent/util/macro.h"

/* All that one target may say; an annotation of Kubernetes alone may have 256 KiB. */
#define TEXTS_MAX_BYTES ((size_t)4 << 20)

void label_builder_init(struct label_builder *b)
{
	b->n = 0;
	b->error = 0;
	arena_init(&b->texts, TEXTS_MAX_BYTES);
}

void label_builder_fini(struct label_builder *b)
{
	arena_fini(&b->texts);
}

static void add(struct label_builder *b, const char *name, const char *value)
{
	const char *copy = name ? arena_strndup(&b->texts, value, strlen(value)) : NULL;

	if (b->n == LABELS_RAW_MAX)
		b->error = b->error ? b->error : -E2BIG;
	else if (!copy)
		b->error = b->error ? b->error : -ENOMEM;
	else
		b->items[b->n++] = (struct label){ name, copy };
}

void label_builder_add(struct label_builder *b, const char *name, const char *value)
{
	if (value && *value)
		add(b, arena_strndup(&b->texts, name, strlen(name)), value);
}

void label_builder_add_key(struct label_builder *b, const char *prefix, const char *key,
			   const char *value)
{
	size_t n_prefix = strlen(prefix), n_room;
	char *name;

	if (!value || !*value)
		return;
	n_room = strlen(key) + 1;
	name = arena_alloc(&b->texts, n_prefix + n_room);
	if (name) {
		memcpy(name, prefix, n_prefix);
		label_name_repair(name + n_prefix, n_room, key, false);
	}
	add(b, name, value);
}

void label_builder_cut(struct label_builder *b, size_t n)
{
	b->n = MIN_OF(b->n, n);
}

int label_builder_make(struct label_builder *b, struct labels **ret_labels)
{
	return b->error ? b->error : labels_new(b->items, b->n, ret_labels);
}
