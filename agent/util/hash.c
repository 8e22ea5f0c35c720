/* SPDX-License-Identifier: Apache-2.0 */
/* Hashing, and an intrusive chained hash table. */
#include "agent/util/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_MIN_BUCKETS 16

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = hash_u64(seed ^ (n * 0x9e3779b97f4a7c15ULL));

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		h = hash_u64(h ^ word);
	}
	uint64_t tail = 0;
	if (n > 0)
		memcpy(&tail, p, n);
	return hash_u64(h ^ tail ^ 0x9e3779b97f4a7c15ULL);
}

uint64_t hash_str(const char *s)
{
	return hash_bytes(s, strlen(s), 0);
}

void hash_fini(struct hash_table *t)
{
	free(t->buckets);
	*t = HASH_TABLE_INIT;
}

static int hash_resize(struct hash_table *t, size_t n_buckets)
{
	struct hash_node **buckets = calloc(n_buckets, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_buckets; i++) {
		struct hash_node *next;

		for (struct hash_node *node = t->buckets[i]; node; node = next) {
			struct hash_node **slot = &buckets[node->hash & (n_buckets - 1)];

			next = node->next;
			node->next = *slot;
			*slot = node;
		}
	}
	free(t->buckets);
	t->buckets = buckets;
	t->n_buckets = n_buckets;
	return 0;
}

int hash_insert(struct hash_table *t, struct hash_node *node, uint64_t hash)
{
	if (t->n >= t->n_buckets) {
		int r = hash_resize(t, t->n_buckets ? t->n_buckets * 2 : HASH_MIN_BUCKETS);

		/* A failed growth only makes chains longer; the first array is needed. */
		if (r < 0 && !t->n_buckets)
			return r;
	}
	struct hash_node **slot = &t->buckets[hash & (t->n_buckets - 1)];
	node->hash = hash;
	node->next = *slot;
	*slot = node;
	t->n++;
	return 0;
}

void hash_remove(struct hash_table *t, struct hash_node *node)
{
	struct hash_node **slot = &t->buckets[node->hash & (t->n_buckets - 1)];

	while (*slot && *slot != node)
		slot = &(*slot)->next;
	if (!*slot)
		return;
	*slot = node->next;
	node->next = NULL;
	t->n--;
}

struct hash_node *hash_first(const struct hash_table *t, uint64_t hash)
{
	if (!t->n_buckets)
		return NULL;
	struct hash_node *node = t->buckets[hash & (t->n_buckets - 1)];
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

struct hash_node *hash_next_match(const struct hash_node *node)
{
	struct hash_node *next = node->next;

	while (next && next->hash != node->hash)
		next = next->next;
	return next;
}
