/* SPDX-License-Identifier: Apache-2.0 */
/* A table of OTLP's dictionary. */
#include "agent/encode/otlp_rows.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/hash.h"
#include "agent/util/macro.h"

#define FIRST_ROWS 64
#define FIRST_WORDS 256

struct otlp_row otlp_rows_get(const struct otlp_rows *r, size_t at)
{
	assert(at < r->n);
	size_t begin = at > 0 ? r->ends[at - 1] : 0;

	return (struct otlp_row){ r->words + begin, r->ends[at] - begin };
}

static uint64_t hash_words(const uint64_t *words, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = hash_u64(h ^ words[i]);
	return h;
}

static uint64_t hash_row(const void *rows, uint32_t id)
{
	struct otlp_row row = otlp_rows_get(rows, id);

	return hash_words(row.words, row.n);
}

static bool is_row(const void *rows, uint32_t id, const void *key)
{
	struct otlp_row row = otlp_rows_get(rows, id);
	const struct otlp_row *other = key;

	return row.n == other->n &&
	       (row.n == 0 || memcmp(row.words, other->words, row.n * sizeof(*row.words)) == 0);
}

/* Twice as many slots as rows, at least. */
static int grow_rows(struct otlp_rows *r)
{
	size_t max_n = MAX_OF(2 * r->max_n, (size_t)FIRST_ROWS);
	size_t *ends = reallocarray(r->ends, max_n, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	r->ends = ends;
	uint32_t *items = calloc(2 * max_n, sizeof(*items));
	if (!items)
		return -ENOMEM;
	free(r->slots.items);
	r->slots = (struct id_slots){ items, 2 * max_n };
	r->max_n = max_n;
	id_slots_fill(&r->slots, 0, r->n, hash_row, r);
	return 0;
}

static int grow_words(struct otlp_rows *r, size_t n)
{
	size_t max_words = MAX_OF(MAX_OF(2 * r->max_words, (size_t)FIRST_WORDS), r->n_words + n);
	uint64_t *words = reallocarray(r->words, max_words, sizeof(*words));

	if (!words)
		return -ENOMEM;
	r->words = words;
	r->max_words = max_words;
	return 0;
}

static int append(struct otlp_rows *r, const uint64_t *words, size_t n, uint64_t hash)
{
	int e = r->n == r->max_n ? grow_rows(r) : 0;

	if (e == 0 && n > r->max_words - r->n_words)
		e = grow_words(r, n);
	if (e < 0)
		return e;
	if (n > 0)
		memcpy(r->words + r->n_words, words, n * sizeof(*words));
	r->n_words += n;
	r->ends[r->n] = r->n_words;
	id_slots_put(&r->slots, hash, (uint32_t)r->n);
	r->n++;
	return 0;
}

int otlp_rows_add(struct otlp_rows *r, const uint64_t *words, size_t n, uint32_t *ret_at)
{
	const struct otlp_row row = { words, n };
	uint64_t hash = hash_words(words, n);
	uint32_t at = id_slots_find(&r->slots, hash, is_row, r, &row);
	int e = at == ID_NONE ? append(r, words, n, hash) : 0;

	if (e < 0)
		return e;
	*ret_at = at == ID_NONE ? (uint32_t)(r->n - 1) : at;
	return 0;
}

int otlp_rows_init(struct otlp_rows *r)
{
	uint32_t zero;

	*r = (struct otlp_rows){ 0 };
	return otlp_rows_add(r, NULL, 0, &zero);
}

void otlp_rows_fini(struct otlp_rows *r)
{
	free(r->words);
	free(r->ends);
	free(r->slots.items);
	*r = (struct otlp_rows){ 0 };
}
