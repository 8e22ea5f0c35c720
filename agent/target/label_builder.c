/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a target under construction. */
#include "agent/target/label_builder.h"

#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

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

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The name never gets longer: a code point has one byte at least. */
static void append_sanitized(char *name, struct str key)
{
	size_t at = strlen(name);

	while (key.n > 0) {
		size_t n = MAX_OF(str_utf8_len(key), 1);

		name[at++] = is_name_char(key.p[0]) ? key.p[0] : '_';
		key.p += n;
		key.n -= n;
	}
	name[at] = '\0';
}

void label_builder_add_key(struct label_builder *b, const char *prefix, const char *key,
			   const char *value)
{
	size_t n_prefix = strlen(prefix);
	char *name;

	if (!value || !*value)
		return;
	name = arena_alloc(&b->texts, n_prefix + strlen(key) + 1);
	if (name) {
		memcpy(name, prefix, n_prefix + 1);
		append_sanitized(name, str_from(key));
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
