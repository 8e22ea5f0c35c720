/* SPDX-License-Identifier: Apache-2.0 */
/* Interning: the table under collisions and removals, strings with their ceiling, rows. */
#include <stdio.h>
#include <string.h>

#include "pprof/intern.h"
#include "pprof/pprof.h"
#include "pprof/wire_size.h"
#include "tests/support/unit.h"

#define SEED 42
#define MAX_BYTES 1000000

/* Ids are their own keys here. */
static bool id_equal(const void *owner, uint32_t id, const void *key)
{
	(void)owner;
	return id == *(const uint32_t *)key;
}

static uint32_t find(const struct pprof_table *t, uint32_t hash, uint32_t id)
{
	return pprof_table_find(t, hash, id_equal, NULL, &id);
}

static void test_table__finds_what_was_inserted(void **state)
{
	struct pprof_table t = { 0 };

	(void)state;
	assert_int_equal(find(&t, 7, 7), 0);
	for (uint32_t id = 1; id <= 5000; id++) {
		assert_int_equal(pprof_table_reserve(&t), 0);
		pprof_table_insert(&t, id * 2654435761U, id);
	}
	for (uint32_t id = 1; id <= 5000; id++)
		assert_int_equal(find(&t, id * 2654435761U, id), id);
	assert_int_equal(find(&t, 5001 * 2654435761U, 5001), 0);
	assert_true(t.n * 3 <= t.n_slots * 2);
	pprof_table_fini(&t);
}

/* One chain that wraps round the end of the array, and entries of other chains between. */
static uint32_t crowded_hash(uint32_t id)
{
	return id % 3 ? 62 : 63 + id % 2;
}

static void test_table__removal_keeps_the_others(void **state)
{
	const uint32_t n = 30;

	(void)state;
	for (uint32_t gone = 1; gone <= n; gone++) {
		struct pprof_table t = { 0 };

		for (uint32_t id = 1; id <= n; id++) {
			assert_int_equal(pprof_table_reserve(&t), 0);
			pprof_table_insert(&t, crowded_hash(id), id);
		}
		assert_int_equal(t.n_slots, 64);
		pprof_table_remove(&t, crowded_hash(gone), gone);
		for (uint32_t id = 1; id <= n; id++)
			assert_int_equal(find(&t, crowded_hash(id), id), id == gone ? 0 : id);
		pprof_table_fini(&t);
	}
}

static void test_hash__depends_on_every_byte_and_the_seed(void **state)
{
	char text[20] = "0123456789abcdefghi";

	(void)state;
	for (size_t n = 1; n < sizeof(text); n++) {
		uint32_t before = pprof_hash(SEED, text, n);

		assert_int_not_equal(pprof_hash(SEED + 1, text, n), before);
		for (size_t i = 0; i < n; i++) {
			text[i] ^= 1;
			assert_int_not_equal(pprof_hash(SEED, text, n), before);
			text[i] ^= 1;
		}
	}
}

static int strings_setup(void **state)
{
	struct pprof_strings *s = test_malloc(sizeof(*s));

	*state = s;
	return pprof_strings_init(s, SEED, MAX_BYTES);
}

static int strings_teardown(void **state)
{
	pprof_strings_fini(*state);
	test_free(*state);
	return 0;
}

static uint32_t intern(struct pprof_strings *s, const char *text)
{
	uint32_t id = UINT32_MAX;

	assert_int_equal(pprof_strings_intern(s, text, &id), 0);
	return id;
}

static void test_strings__equal_text_equal_id(void **state)
{
	struct pprof_strings *s = *state;

	assert_int_equal(intern(s, ""), 0);
	assert_int_equal(intern(s, NULL), 0);
	assert_int_equal(intern(s, "cpu"), 1);
	assert_int_equal(intern(s, "nanoseconds"), 2);
	assert_int_equal(intern(s, "cpu"), 1);
	assert_string_equal(pprof_strings_get(s, 0), "");
	assert_string_equal(pprof_strings_get(s, 2), "nanoseconds");
	assert_int_equal(s->packed_bytes, 2 + (2 + 3) + (2 + 11));
}

static void test_strings__repaired_before_compared(void **state)
{
	struct pprof_strings *s = *state;
	uint32_t id = intern(s, "caf\xE9");

	assert_string_equal(pprof_strings_get(s, id), "caf\xEF\xBF\xBD");
	assert_int_equal(intern(s, "caf\xE8"), id);
	assert_int_equal(intern(s, "caf\xEF\xBF\xBD"), id);
	assert_int_equal(s->n, 2);
}

static void test_strings__longest(void **state)
{
	struct pprof_strings *s = *state;
	static char text[PPROF_STRING_MAX_BYTES + 2];
	uint32_t id;

	memset(text, 'x', PPROF_STRING_MAX_BYTES);
	text[0] = 'y';
	id = intern(s, text);
	assert_int_equal(strlen(pprof_strings_get(s, id)), PPROF_STRING_MAX_BYTES);
	assert_int_equal(pprof_strings_get(s, id)[0], 'y');
	text[PPROF_STRING_MAX_BYTES] = 'z';
	id = intern(s, text);
	assert_int_equal(strlen(pprof_strings_get(s, id)), PPROF_STRING_MAX_BYTES);
	assert_string_equal(pprof_strings_get(s, id), text + 1);
}

static void test_strings__cut_between_code_points(void **state)
{
	struct pprof_strings *s = *state;
	static char text[PPROF_STRING_MAX_BYTES + 2];
	uint32_t id;

	/* The cut would fall behind the first byte of a U+00FC. */
	for (size_t i = 0; i < PPROF_STRING_MAX_BYTES; i += 2)
		memcpy(text + i, "\xC3\xBC", 2);
	id = intern(s, text);
	assert_string_equal(pprof_strings_get(s, id), text + 2);
}

static void test_strings__garbage_is_cut_after_repair(void **state)
{
	struct pprof_strings *s = *state;
	static char text[PPROF_STRING_MAX_BYTES * 4];
	const char *got;

	memset(text, '\xFF', sizeof(text) - 2);
	text[sizeof(text) - 2] = 'z';
	got = pprof_strings_get(s, intern(s, text));
	/* The largest number of three-byte replacements that leaves room for the z. */
	assert_int_equal(strlen(got), PPROF_STRING_MAX_BYTES / 3 * 3 - 3 + 1);
	assert_memory_equal(got, "\xEF\xBF\xBD\xEF", 4);
	assert_int_equal(got[strlen(got) - 1], 'z');
}

static void test_strings__ceiling(void **state)
{
	struct pprof_strings s;
	uint32_t id = 99;

	(void)state;
	/* "" takes 2, a string of n < 128 bytes 2 + n. */
	assert_int_equal(pprof_strings_init(&s, SEED, 2 + 2 + 5), 0);
	assert_int_equal(pprof_strings_intern(&s, "sixsix", &id), PPROF_FULL);
	assert_int_equal(id, 99);
	assert_int_equal(s.n, 1);
	assert_int_equal(pprof_strings_intern(&s, "fives", &id), 0);
	assert_int_equal(pprof_strings_intern(&s, "1", &id), PPROF_FULL);
	assert_int_equal(pprof_strings_intern(&s, "fives", &id), 0);
	assert_int_equal(s.packed_bytes, s.max_bytes);
	pprof_strings_fini(&s);
	assert_int_equal(pprof_strings_init(&s, SEED, 1), PPROF_FULL);
	pprof_strings_fini(&s);
}

static void test_strings__rollback(void **state)
{
	struct pprof_strings *s = *state;
	char text[32];
	size_t packed_bytes;

	for (int i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof(text), "kept %d", i);
		(void)intern(s, text);
	}
	packed_bytes = s->packed_bytes;
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof(text), "forgotten %d", i);
		(void)intern(s, text);
	}
	pprof_strings_rollback(s, 1001);
	assert_int_equal(s->n, 1001);
	assert_int_equal(s->packed_bytes, packed_bytes);
	for (uint32_t i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof(text), "kept %u", i);
		assert_int_equal(intern(s, text), i + 1);
	}
	assert_int_equal(intern(s, "forgotten 7"), 1001);
	assert_string_equal(pprof_strings_get(s, 1001), "forgotten 7");
}

static uint32_t put(struct pprof_tuples *t, const uint64_t *words, size_t n)
{
	uint64_t *draft = pprof_tuples_draft(t, n);
	uint32_t id;

	assert_non_null(draft);
	memcpy(draft, words, n * sizeof(*words));
	id = pprof_tuples_find_draft(t);
	return id ? id : pprof_tuples_commit(t);
}

static void test_tuples__content_and_length_make_the_id(void **state)
{
	struct pprof_tuples t;
	static const uint64_t words[] = { 1, 0, 0, UINT64_MAX };
	size_t n;

	(void)state;
	pprof_tuples_init(&t, SEED);
	assert_int_equal(put(&t, words, 1), 1);
	assert_int_equal(put(&t, words, 2), 2);
	assert_int_equal(put(&t, words, 3), 3);
	assert_int_equal(put(&t, words, 2), 2);
	assert_int_equal(put(&t, words + 1, 3), 4);
	assert_int_equal(t.n, 4);
	assert_int_equal(pprof_tuples_get(&t, 1, &n)[0], 1);
	assert_int_equal(n, 1);
	assert_memory_equal(pprof_tuples_get(&t, 4, &n), words + 1, 3 * sizeof(*words));
	assert_int_equal(n, 3);
	pprof_tuples_fini(&t);
}

static void test_tuples__dropped_draft_leaves_nothing(void **state)
{
	struct pprof_tuples t;
	static const uint64_t words[] = { 5, 6 };

	(void)state;
	pprof_tuples_init(&t, SEED);
	*pprof_tuples_draft(&t, 1) = 9;
	assert_int_equal(pprof_tuples_find_draft(&t), 0);
	assert_int_equal(put(&t, words, 2), 1);
	*pprof_tuples_draft(&t, 1) = 9;
	assert_int_equal(pprof_tuples_find_draft(&t), 0);
	assert_int_equal(t.n_words, 2);
	pprof_tuples_fini(&t);
}

static void test_wire__varint_sizes(void **state)
{
	(void)state;
	assert_int_equal(wire_varint_bytes(0), 1);
	assert_int_equal(wire_varint_bytes(127), 1);
	assert_int_equal(wire_varint_bytes(128), 2);
	assert_int_equal(wire_varint_bytes(16383), 2);
	assert_int_equal(wire_varint_bytes(16384), 3);
	assert_int_equal(wire_varint_bytes(INT64_MAX), 9);
	assert_int_equal(wire_varint_bytes(UINT64_MAX), 10);
	assert_int_equal(wire_number_bytes(0), 0);
	assert_int_equal(wire_number_bytes(1), 2);
	assert_int_equal(wire_block_bytes(0), 2);
	assert_int_equal(wire_block_bytes(128), 131);
}

static const struct unit_test tests[] = {
	TEST(test_table__finds_what_was_inserted),
	TEST(test_table__removal_keeps_the_others),
	TEST(test_hash__depends_on_every_byte_and_the_seed),
	TEST_WITH(test_strings__equal_text_equal_id, strings_setup, strings_teardown),
	TEST_WITH(test_strings__repaired_before_compared, strings_setup, strings_teardown),
	TEST_WITH(test_strings__longest, strings_setup, strings_teardown),
	TEST_WITH(test_strings__cut_between_code_points, strings_setup, strings_teardown),
	TEST_WITH(test_strings__garbage_is_cut_after_repair, strings_setup, strings_teardown),
	TEST(test_strings__ceiling),
	TEST_WITH(test_strings__rollback, strings_setup, strings_teardown),
	TEST(test_tuples__content_and_length_make_the_id),
	TEST(test_tuples__dropped_draft_leaves_nothing),
	TEST(test_wire__varint_sizes),
};

TEST_MAIN(tests)
