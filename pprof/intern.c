/* SPDX-License-Identifier: Apache-2.0 */
/* Interning of strings and of rows of numbers over one kind of hash table. */
#include "pprof/intern.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/pprof.h"
#include "pprof/utf8.h"
#include "pprof/wire_size.h"

#define TABLE_FIRST_SLOTS 64
#define GROW_FIRST_ITEMS 64

void *pprof_grow(void *items, size_t *cap, size_t n, size_t item_bytes)
{
	size_t new_cap = *cap ? *cap : GROW_FIRST_ITEMS;

	if (n <= *cap)
		return items;
	while (new_cap < n)
		new_cap += new_cap / 2;
	void *moved = reallocarray(items, new_cap, item_bytes);
	if (moved)
		*cap = new_cap;
	return moved;
}

void *pprof_shrink(void *items, size_t *cap, size_t n, size_t item_bytes)
{
	void *moved;

	if (n == 0) {
		free(items);
		*cap = 0;
		return NULL;
	}
	moved = reallocarray(items, n, item_bytes);
	if (moved)
		*cap = n;
	return moved ? moved : items;
}

/*
 * One word into the hash: both halves of the full product, so that every bit of the word reaches
 * the low bits.
 */
static uint64_t hash_mix(uint64_t h, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(h ^ word) * 0x9E3779B97F4A7C15ULL;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t pprof_hash(uint64_t seed, const void *bytes, size_t n)
{
	const char *p = bytes;
	uint64_t h = hash_mix(seed, n);
	uint64_t word;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = hash_mix(h, word);
	}
	word = 0;
	memcpy(&word, p, n);
	h = hash_mix(h, word);
	return (uint32_t)(h ^ (h >> 32));
}

void pprof_table_fini(struct pprof_table *t)
{
	free(t->slots);
	*t = (struct pprof_table){ 0 };
}

static void slots_put(struct pprof_slot *slots, size_t n_slots, struct pprof_slot slot)
{
	size_t i = slot.hash & (n_slots - 1);

	while (slots[i].id)
		i = (i + 1) & (n_slots - 1);
	slots[i] = slot;
}

int pprof_table_reserve(struct pprof_table *t)
{
	size_t n_slots = t->n_slots ? t->n_slots * 2 : TABLE_FIRST_SLOTS;

	/* At most two thirds full, so that chains stay short and a free slot always ends them. */
	if (t->n + 1 <= t->n_slots / 3 * 2)
		return 0;
	struct pprof_slot *slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].id)
			slots_put(slots, n_slots, t->slots[i]);
	free(t->slots);
	t->slots = slots;
	t->n_slots = n_slots;
	return 0;
}

void pprof_table_insert(struct pprof_table *t, uint32_t hash, uint32_t id)
{
	assert(id != 0 && t->n < t->n_slots);
	slots_put(t->slots, t->n_slots, (struct pprof_slot){ hash, id });
	t->n++;
}

void pprof_table_remove(struct pprof_table *t, uint32_t hash, uint32_t id)
{
	size_t mask = t->n_slots - 1;
	size_t hole = hash & mask;

	while (t->slots[hole].id != id) {
		assert(t->slots[hole].id != 0);
		hole = (hole + 1) & mask;
	}
	/*
	 * An entry behind the hole moves into it, unless its own chain begins only after the hole.
	 */
	for (size_t i = (hole + 1) & mask; t->slots[i].id; i = (i + 1) & mask) {
		size_t home = t->slots[i].hash & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole] = (struct pprof_slot){ 0 };
	t->n--;
}

uint32_t pprof_table_find(const struct pprof_table *t, uint32_t hash, pprof_equal_fn equal,
			  const void *owner, const void *key)
{
	size_t mask = t->n_slots - 1;

	if (!t->n_slots)
		return 0;
	for (size_t i = hash & mask; t->slots[i].id; i = (i + 1) & mask)
		if (t->slots[i].hash == hash && equal(owner, t->slots[i].id, key))
			return t->slots[i].id;
	return 0;
}

struct text {
	const char *bytes;
	size_t n;
	bool pooled; /* not the caller's, but a draft behind the strings of the pool */
};

static bool string_equal(const void *owner, uint32_t id, const void *key)
{
	const struct pprof_strings *s = owner;
	const struct text *text = key;

	return s->rows[id].n_bytes == text->n &&
	       memcmp(pprof_strings_get(s, id), text->bytes, text->n) == 0;
}

/* Room for n bytes and a NUL behind what the pool holds. */
static int strings_reserve_pool(struct pprof_strings *s, size_t n)
{
	char *pool = pprof_grow(s->pool, &s->pool_cap, s->pool_n + n + 1, 1);

	if (!pool)
		return -ENOMEM;
	s->pool = pool;
	return 0;
}

/* Room for one more string of n bytes in all three parts. */
static int strings_reserve(struct pprof_strings *s, size_t n)
{
	struct pprof_string *rows = pprof_grow(s->rows, &s->cap, s->n + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	s->rows = rows;
	if (strings_reserve_pool(s, n) < 0)
		return -ENOMEM;
	return pprof_table_reserve(&s->table);
}

/*
 * A valid text of at most the longest size: the given one, or its repaired copy behind the strings
 * of the pool.
 */
static int strings_clean(struct pprof_strings *s, struct text *text)
{
	size_t cut = pprof_utf8_tail(text->bytes, text->n, PPROF_STRING_MAX_BYTES);
	struct text tail = { .bytes = text->bytes + cut, .n = text->n - cut };

	if (!pprof_utf8_valid(tail.bytes, tail.n)) {
		if (strings_reserve_pool(s, tail.n * UTF8_REPLACEMENT_BYTES) < 0)
			return -ENOMEM;
		char *copy = s->pool + s->pool_n;
		size_t n = pprof_utf8_repair(tail.bytes, tail.n, copy);

		cut = pprof_utf8_tail(copy, n, PPROF_STRING_MAX_BYTES);
		tail = (struct text){ memmove(copy, copy + cut, n - cut), n - cut, .pooled = true };
	}
	*text = tail;
	return 0;
}

static int strings_add(struct pprof_strings *s, const struct text *text, uint32_t hash,
		       uint32_t *ret_id)
{
	size_t packed_bytes = wire_block_bytes(text->n);

	if (packed_bytes > s->max_bytes - s->packed_bytes)
		return PPROF_FULL;
	if (strings_reserve(s, text->n) < 0)
		return -ENOMEM;
	char *copy = s->pool + s->pool_n;
	if (!text->pooled)
		memcpy(copy, text->bytes, text->n);
	copy[text->n] = '\0';
	s->rows[s->n] = (struct pprof_string){ (uint32_t)s->pool_n, (uint32_t)text->n, hash };
	s->pool_n += text->n + 1;
	s->packed_bytes += packed_bytes;
	*ret_id = (uint32_t)s->n++;
	return 0;
}

int pprof_strings_init(struct pprof_strings *s, uint64_t seed, size_t max_bytes)
{
	uint32_t empty_id;

	*s = (struct pprof_strings){ .seed = seed, .max_bytes = max_bytes };
	/* Id 0 is what a table takes for "nothing", so the empty string is in no chain. */
	return strings_add(s, &(struct text){ .bytes = "" }, 0, &empty_id);
}

void pprof_strings_fini(struct pprof_strings *s)
{
	pprof_table_fini(&s->table);
	free(s->rows);
	free(s->pool);
	*s = (struct pprof_strings){ 0 };
}

int pprof_strings_intern(struct pprof_strings *s, const char *bytes, uint32_t *ret_id)
{
	struct text text = { .bytes = bytes, .n = bytes ? strlen(bytes) : 0 };
	uint32_t id = 0;
	int r;

	if (text.n > 0) {
		r = strings_clean(s, &text);
		if (r < 0)
			return r;
		uint32_t hash = pprof_hash(s->seed, text.bytes, text.n);

		id = pprof_table_find(&s->table, hash, string_equal, s, &text);
		if (!id) {
			r = strings_add(s, &text, hash, &id);
			if (r != 0)
				return r;
			pprof_table_insert(&s->table, hash, id);
		}
	}
	*ret_id = id;
	return 0;
}

void pprof_strings_rollback(struct pprof_strings *s, size_t n)
{
	while (s->n > n) {
		const struct pprof_string *row = &s->rows[--s->n];

		pprof_table_remove(&s->table, row->hash, (uint32_t)s->n);
		s->pool_n = row->offset;
		s->packed_bytes -= wire_block_bytes(row->n_bytes);
	}
}

void pprof_strings_freeze(struct pprof_strings *s)
{
	pprof_table_fini(&s->table);
	s->rows = pprof_shrink(s->rows, &s->cap, s->n, sizeof(*s->rows));
	s->pool = pprof_shrink(s->pool, &s->pool_cap, s->pool_n, 1);
	s->max_bytes = s->packed_bytes;
}

size_t pprof_strings_memory_bytes(const struct pprof_strings *s)
{
	return s->table.n_slots * sizeof(*s->table.slots) + s->cap * sizeof(*s->rows) + s->pool_cap;
}

void pprof_tuples_init(struct pprof_tuples *t, uint64_t seed)
{
	*t = (struct pprof_tuples){ .seed = seed };
}

void pprof_tuples_fini(struct pprof_tuples *t)
{
	pprof_table_fini(&t->table);
	free(t->words);
	free(t->ends);
	*t = (struct pprof_tuples){ 0 };
}

void pprof_tuples_freeze(struct pprof_tuples *t)
{
	pprof_table_fini(&t->table);
	t->words = pprof_shrink(t->words, &t->words_cap, t->n_words, sizeof(*t->words));
	t->ends = pprof_shrink(t->ends, &t->ends_cap, t->n, sizeof(*t->ends));
}

size_t pprof_tuples_memory_bytes(const struct pprof_tuples *t)
{
	return t->table.n_slots * sizeof(*t->table.slots) + t->words_cap * sizeof(*t->words) +
	       t->ends_cap * sizeof(*t->ends);
}

uint64_t *pprof_tuples_draft(struct pprof_tuples *t, size_t n)
{
	uint64_t *words = pprof_grow(t->words, &t->words_cap, t->n_words + n, sizeof(*words));

	if (!words)
		return NULL;
	t->words = words;
	size_t *ends = pprof_grow(t->ends, &t->ends_cap, t->n + 1, sizeof(*ends));

	if (!ends)
		return NULL;
	t->ends = ends;
	if (pprof_table_reserve(&t->table) < 0)
		return NULL;
	t->draft_n = n;
	return t->words + t->n_words;
}

static bool tuple_equals_draft(const void *owner, uint32_t id, const void *draft)
{
	const struct pprof_tuples *t = owner;
	size_t n;
	const uint64_t *row = pprof_tuples_get(t, id, &n);

	return n == t->draft_n && memcmp(row, draft, n * sizeof(*row)) == 0;
}

uint32_t pprof_tuples_find_draft(struct pprof_tuples *t)
{
	const uint64_t *draft = t->words + t->n_words;

	t->draft_hash = pprof_hash(t->seed, draft, t->draft_n * sizeof(*draft));
	return pprof_table_find(&t->table, t->draft_hash, tuple_equals_draft, t, draft);
}

uint32_t pprof_tuples_commit(struct pprof_tuples *t)
{
	assert(t->draft_n > 0);
	t->n_words += t->draft_n;
	t->draft_n = 0;
	t->ends[t->n++] = t->n_words;
	pprof_table_insert(&t->table, t->draft_hash, (uint32_t)t->n);
	return (uint32_t)t->n;
}
