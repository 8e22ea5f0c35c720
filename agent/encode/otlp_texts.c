/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of OTLP's dictionary. */
#include "agent/encode/otlp_texts.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/hash.h"
#include "agent/util/macro.h"

#define FIRST_TEXTS 64

static uint64_t hash_text(const char *text)
{
	return hash_str(text);
}

static uint64_t hash_item(const void *items, uint32_t id)
{
	const struct otlp_texts *t = items;

	return hash_text(t->items[id]);
}

static bool is_item(const void *items, uint32_t id, const void *key)
{
	const struct otlp_texts *t = items;

	return strcmp(t->items[id], key) == 0;
}

/* Twice as many slots as texts, at least. */
static int grow(struct otlp_texts *t, size_t max_n)
{
	const char **items = reallocarray(t->items, max_n, sizeof(*items));

	if (!items)
		return -ENOMEM;
	t->items = items;
	uint32_t *slots = calloc(2 * max_n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots.items);
	t->slots = (struct id_slots){ slots, 2 * max_n };
	t->max_n = max_n;
	id_slots_fill(&t->slots, 0, t->n, hash_item, t);
	return 0;
}

int otlp_texts_reserve(struct otlp_texts *t, size_t n_more)
{
	size_t max_n = MAX_OF(t->max_n, (size_t)FIRST_TEXTS);
	bool is_first = t->n == 0;

	while (max_n < t->n + n_more + is_first)
		max_n *= 2;
	int r = max_n > t->max_n ? grow(t, max_n) : 0;
	if (r == 0 && is_first)
		(void)otlp_texts_add(t, "");
	return r;
}

uint32_t otlp_texts_add(struct otlp_texts *t, const char *text)
{
	uint64_t hash = hash_text(text);
	uint32_t at = id_slots_find(&t->slots, hash, is_item, t, text);

	if (at != ID_NONE)
		return at;
	assert(t->n < t->max_n);
	at = (uint32_t)t->n++;
	t->items[at] = text;
	id_slots_put(&t->slots, hash, at);
	return at;
}

void otlp_texts_fini(struct otlp_texts *t)
{
	free(t->items);
	free(t->slots.items);
	*t = (struct otlp_texts){ 0 };
}
