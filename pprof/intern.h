/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interning: equal content gets an equal id. Three layers:
 *
 * - pprof_table: open addressing with linear probing over ids; it knows hashes, not contents;
 * - pprof_strings: valid UTF-8 in one pool, id 0 is "";
 * - pprof_tuples: rows of numbers of any length in one pool, ids from 1 on. A row is drafted at
 *   the end of the pool, then either found among the others or committed: no copy on the way, and
 *   a draft that is not committed leaves no trace.
 *
 * Hashes are seeded, so that names and addresses, which any program on the host may choose, cannot
 * be aimed at one chain.
 */
#ifndef XAGENT_PPROF_INTERN_H
#define XAGENT_PPROF_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pprof_slot {
	uint32_t hash;
	uint32_t id; /* 0 = free */
};

struct pprof_table {
	struct pprof_slot *slots;
	size_t n_slots; /* a power of two, or 0 before the first reserve */
	size_t n;
};

typedef bool (*pprof_equal_fn)(const void *owner, uint32_t id, const void *key);

uint32_t pprof_hash(uint64_t seed, const void *bytes, size_t n);

void pprof_table_fini(struct pprof_table *t);
/* Room for one more; -ENOMEM. */
int pprof_table_reserve(struct pprof_table *t);
/* Needs reserved room, and that no equal entry is there. */
void pprof_table_insert(struct pprof_table *t, uint32_t hash, uint32_t id);
/* The id must be there. */
void pprof_table_remove(struct pprof_table *t, uint32_t hash, uint32_t id);
/* The id for which equal(owner, id, key) holds, else 0. */
uint32_t pprof_table_find(const struct pprof_table *t, uint32_t hash, pprof_equal_fn equal,
			  const void *owner, const void *key);

struct pprof_string {
	uint32_t offset;
	uint32_t n_bytes;
	uint32_t hash;
};

struct pprof_strings {
	struct pprof_table table;
	struct pprof_string *rows;
	size_t n;
	size_t cap;
	char *pool; /* each string ends with a NUL */
	size_t pool_n;
	size_t pool_cap;
	size_t packed_bytes; /* of all strings as fields of a profile */
	size_t max_bytes;    /* ceiling of packed_bytes */
	uint64_t seed;
};

/* -ENOMEM, or PPROF_FULL when not even "" has room: then fini is still allowed. */
int pprof_strings_init(struct pprof_strings *s, uint64_t seed, size_t max_bytes);
void pprof_strings_fini(struct pprof_strings *s);

/* NULL is "". 0, PPROF_FULL, -ENOMEM; repairs and cuts as pprof.h promises. */
int pprof_strings_intern(struct pprof_strings *s, const char *text, uint32_t *ret_id);
/* Forgets all but the first n strings; n is a former s->n. */
void pprof_strings_rollback(struct pprof_strings *s, size_t n);

/* No string is added any more: gives back what only that needs. */
void pprof_strings_freeze(struct pprof_strings *s);
size_t pprof_strings_memory_bytes(const struct pprof_strings *s);

static inline char *pprof_strings_get(const struct pprof_strings *s, size_t id)
{
	return s->pool + s->rows[id].offset;
}

struct pprof_tuples {
	struct pprof_table table;
	uint64_t *words;
	size_t n_words;
	size_t words_cap;
	size_t *ends; /* of row id - 1 in words */
	size_t n;
	size_t ends_cap;
	size_t draft_n;
	uint32_t draft_hash;
	uint64_t seed;
};

void pprof_tuples_init(struct pprof_tuples *t, uint64_t seed);
void pprof_tuples_fini(struct pprof_tuples *t);

/*
 * Room for a row of n > 0 words, to be filled by the caller; it replaces an earlier draft. NULL
 * when memory is out.
 */
uint64_t *pprof_tuples_draft(struct pprof_tuples *t, size_t n);
/* The id of the row that equals the filled draft, or 0. */
uint32_t pprof_tuples_find_draft(struct pprof_tuples *t);
/* Makes the draft, just looked for in vain, a row; cannot fail. */
uint32_t pprof_tuples_commit(struct pprof_tuples *t);

/* As of strings. */
void pprof_tuples_freeze(struct pprof_tuples *t);
size_t pprof_tuples_memory_bytes(const struct pprof_tuples *t);

static inline uint64_t *pprof_tuples_get(const struct pprof_tuples *t, size_t id, size_t *ret_n)
{
	size_t begin = id > 1 ? t->ends[id - 2] : 0;

	*ret_n = t->ends[id - 1] - begin;
	return t->words + begin;
}

/*
 * Room for n items in an array of *cap, which it raises: the array, perhaps moved, or NULL and the
 * old one is untouched.
 */
void *pprof_grow(void *items, size_t *cap, size_t n, size_t item_bytes);
/* Gives back the room beyond n items: the array, perhaps moved; NULL without items. */
void *pprof_shrink(void *items, size_t *cap, size_t n, size_t item_bytes);

#endif
