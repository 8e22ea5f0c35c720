/* SPDX-License-Identifier: Apache-2.0 */
/* The hash functions, and the table that is made of them. */
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct thing {
	uint64_t key;
	unsigned int n_seen;
	struct hash_node node;
};

static struct thing *find(const struct hash_table *t, uint64_t key, uint64_t hash)
{
	HASH_FOREACH_MATCH (t, hash, node) {
		struct thing *thing = CONTAINER_OF(node, struct thing, node);

		if (thing->key == key)
			return thing;
	}
	return NULL;
}

#define N 10000

static struct thing *fill(struct hash_table *t)
{
	struct thing *things = calloc(N, sizeof(*things));

	assert_non_null(things);
	for (uint64_t i = 0; i < N; i++) {
		things[i].key = i;
		assert_int_equal(hash_insert(t, &things[i].node, hash_u64(i)), 0);
	}
	return things;
}

static void test_finds_all(void **state)
{
	struct hash_table t = HASH_TABLE_INIT;
	_cleanup_free_ struct thing *things = fill(&t);

	(void)state;
	assert_int_equal(t.n, N);
	for (uint64_t i = 0; i < N; i++)
		assert_ptr_equal(find(&t, i, hash_u64(i)), &things[i]);
	assert_null(find(&t, N, hash_u64(N)));
	HASH_FOREACH (&t, node)
		CONTAINER_OF(node, struct thing, node)->n_seen++;
	for (uint64_t i = 0; i < N; i++)
		assert_int_equal(things[i].n_seen, 1);
	hash_fini(&t);
	assert_int_equal(t.n, 0);
}

static void test_removes(void **state)
{
	struct hash_table t = HASH_TABLE_INIT;
	_cleanup_free_ struct thing *things = fill(&t);

	(void)state;
	for (uint64_t i = 0; i < N; i += 2)
		hash_remove(&t, &things[i].node);
	assert_int_equal(t.n, N / 2);
	for (uint64_t i = 0; i < N; i++)
		assert_ptr_equal(find(&t, i, hash_u64(i)), i % 2 ? &things[i] : NULL);
	/* Not in it any more: nothing happens. */
	hash_remove(&t, &things[0].node);
	assert_int_equal(t.n, N / 2);
	/* The node may be removed and freed while all are walked over. */
	HASH_FOREACH (&t, node) {
		struct thing *thing = CONTAINER_OF(node, struct thing, node);

		hash_remove(&t, node);
		memset(thing, 0xff, sizeof(*thing));
	}
	assert_int_equal(t.n, 0);
	hash_fini(&t);
}

/* One chain: the caller's comparison tells them apart. */
static void test_equal_hashes(void **state)
{
	struct hash_table t = HASH_TABLE_INIT;
	struct thing things[100] = { 0 };
	size_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < ARRAY_SIZE(things); i++) {
		things[i].key = i;
		/* A neighbour in the chain with another hash is passed over. */
		assert_int_equal(hash_insert(&t, &things[i].node, i % 2 ? 7 : 7 + (1ULL << 40)), 0);
	}
	HASH_FOREACH_MATCH (&t, 7, node) {
		assert_int_equal(CONTAINER_OF(node, struct thing, node)->key % 2, 1);
		n++;
	}
	assert_int_equal(n, 50);
	assert_ptr_equal(find(&t, 99, 7), &things[99]);
	assert_null(find(&t, 98, 7));
	hash_fini(&t);
}

static void test_empty_table(void **state)
{
	struct hash_table t = HASH_TABLE_INIT;

	(void)state;
	assert_null(hash_first(&t, 1));
	HASH_FOREACH (&t, node)
		fail_msg("nothing is in it, but %p", (void *)node);
	hash_fini(&t);
	hash_fini(&t);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Every prefix, of zeros too, and every seed gives another hash. */
static void test_bytes(void **state)
{
	enum { LEN = 40 };
	static const char zeros[LEN], text[LEN] = "0123456789abcdefghijklmnopqrstuvwxyz...";
	uint64_t hashes[4 * LEN];
	size_t n = 0;

	(void)state;
	for (size_t len = 0; len < LEN; len++) {
		hashes[n++] = hash_bytes(zeros, len, 0);
		hashes[n++] = hash_bytes(zeros, len, 1);
		hashes[n++] = hash_bytes(text, len + 1, 0);
		hashes[n++] = hash_bytes(text, len + 1, 1);
	}
	qsort(hashes, n, sizeof(hashes[0]), compare);
	for (size_t i = 1; i < n; i++)
		assert_true(hashes[i] != hashes[i - 1]);
	assert_int_equal(hash_str("abc"), hash_bytes("abc", 3, 0));
}

/* Wherever the bytes lie, and whatever is behind them. */
static void test_bytes_alignment(void **state)
{
	char space[64];

	(void)state;
	uint64_t expected = hash_bytes("hello, world!", 13, 5);
	for (size_t at = 0; at < 16; at++) {
		memset(space, (int)at, sizeof(space));
		memcpy(space + at, "hello, world!", 13);
		assert_int_equal(hash_bytes(space + at, 13, 5), expected);
	}
}

/* Each bit of the input turns about half of the output. */
static void test_avalanche(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++) {
		unsigned int n = 0;

		for (uint64_t x = 0; x < 64; x++)
			n += (unsigned int)__builtin_popcountll(hash_u64(x) ^
								hash_u64(x ^ (1ULL << bit)));
		assert_in_range(n, 64 * 26, 64 * 38);
	}
}

static const struct unit_test tests[] = {
	TEST(test_finds_all),
	TEST(test_removes),
	TEST(test_equal_hashes),
	TEST(test_empty_table),
	TEST(test_bytes),
	TEST(test_bytes_alignment),
	TEST(test_avalanche),
};

TEST_MAIN(tests)
