/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashing, and an intrusive chained hash table.
 *
 * The table owns its bucket array only. Callers embed a `struct hash_node` in their object, set its `hash` through hash_insert and
 * compare keys themselves while walking a chain:
 *
 *	HASH_FOREACH_MATCH(&table, hash_u64(key), node) {
 *		struct thing *t = CONTAINER_OF(node, struct thing, node);
 *		if (t->key == key) ...
 *	}
 */
#ifndef XAGENT_AGENT_UTIL_HASH_H
#define XAGENT_AGENT_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_node {
	struct hash_node *next;
	uint64_t hash;
};

struct hash_table {
	struct hash_node **buckets; /* NULL until the first insert */
	size_t n_buckets;	    /* a power of two */
	size_t n;
};

#define HASH_TABLE_INIT ((struct hash_table){ 0 })

/* Not keyed: fine for tables whose size is bounded otherwise, not for unbounded input chosen by an adversary. */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed);
uint64_t hash_str(const char *s);

static inline uint64_t hash_u64(uint64_t x)
{
	/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): full avalanche in two multiplications. */
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

void hash_fini(struct hash_table *t);

/* 0 or -ENOMEM (then the node is not in the table). The caller has checked that the key is absent. */
int hash_insert(struct hash_table *t, struct hash_node *node, uint64_t hash);
void hash_remove(struct hash_table *t, struct hash_node *node);

struct hash_node *hash_first(const struct hash_table *t, uint64_t hash);
struct hash_node *hash_next_match(const struct hash_node *node);

#define HASH_FOREACH_MATCH(table, h, node) \
	for (struct hash_node *node = hash_first((table), (h)); node; node = hash_next_match(node))

/* Every node once; `node` may be removed (and freed) in the body, nothing else may change the table. */
#define HASH_FOREACH(table, node)                                                             \
	for (size_t node##_i_ = 0; node##_i_ < (table)->n_buckets; node##_i_++)               \
		for (struct hash_node *node = (table)->buckets[node##_i_], *node##_n_ = NULL; \
		     node && (node##_n_ = node->next, 1); node = node##_n_)

#endif
