/* SPDX-License-Identifier: Apache-2.0 */
/* Free ranges against a map of every single index. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "agent/unwind/extent.h"
#include "agent/util/hash.h"
#include "tests/support/unit.h"

#define MODEL_SIZE 512
#define MODEL_RANGES 128
#define MODEL_ROUNDS 20000

struct model {
	bool used[MODEL_SIZE];
	struct extent taken[MODEL_RANGES];
	size_t n_taken;
	uint32_t n_used;
};

/* The lowest index where n free ones follow each other; MODEL_SIZE: none. */
static uint32_t model_first_fit(const struct model *m, uint32_t n)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < MODEL_SIZE; i++) {
		run = m->used[i] ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return MODEL_SIZE;
}

static void model_set(struct model *m, struct extent x, bool used)
{
	for (uint32_t i = x.first; i < x.first + x.n; i++) {
		assert_int_equal(m->used[i], !used);
		m->used[i] = used;
	}
	m->n_used += used ? x.n : -x.n;
}

/* The free list is what the model says: ascending, never adjacent, nothing missing. */
static void check_free(const struct extents *e, const struct model *m)
{
	uint32_t at = 0;

	for (size_t i = 0; i < e->n_free; i++) {
		assert_true(e->free[i].n > 0);
		assert_true(i == 0 || e->free[i].first > at);
		for (; at < e->free[i].first; at++)
			assert_true(m->used[at]);
		for (; at < e->free[i].first + e->free[i].n; at++)
			assert_false(m->used[at]);
	}
	for (; at < MODEL_SIZE; at++)
		assert_true(m->used[at]);
	assert_int_equal(e->used, m->n_used);
}

static void take_one(struct extents *e, struct model *m, uint32_t n)
{
	uint32_t expected = model_first_fit(m, n);
	uint32_t first = 12345;
	int r = extents_take(e, n, &first);

	if (expected == MODEL_SIZE) {
		assert_int_equal(r, -ENOSPC);
		assert_int_equal(first, 12345);
		return;
	}
	assert_int_equal(r, 0);
	assert_int_equal(first, expected);
	m->taken[m->n_taken++] = (struct extent){ first, n };
	model_set(m, m->taken[m->n_taken - 1], true);
}

static void give_one(struct extents *e, struct model *m, size_t which)
{
	struct extent x = m->taken[which];

	assert_int_equal(extents_give(e, x.first, x.n), 0);
	m->taken[which] = m->taken[--m->n_taken];
	model_set(m, x, false);
}

static void test_random(void **state)
{
	struct extents e;
	struct model m = { .n_taken = 0 };
	uint64_t seed = 99;

	(void)state;
	assert_int_equal(extents_init(&e, MODEL_SIZE), 0);
	for (unsigned int i = 0; i < MODEL_ROUNDS; i++) {
		uint64_t r = hash_u64(seed++);

		if (m.n_taken == 0 || (r % 2 && m.n_taken < MODEL_RANGES))
			take_one(&e, &m, 1 + r / 2 % 12);
		else
			give_one(&e, &m, r / 2 % m.n_taken);
		if (i % 16 == 0)
			check_free(&e, &m);
	}
	while (m.n_taken)
		give_one(&e, &m, 0);
	check_free(&e, &m);
	assert_int_equal(e.n_free, 1);
	extents_fini(&e);
}

/* Every second index free: as many pieces as there can be, more than the first array holds. */
static void test_fragments(void **state)
{
	struct extents e;
	uint32_t first;

	(void)state;
	assert_int_equal(extents_init(&e, 200), 0);
	for (uint32_t i = 0; i < 200; i++) {
		assert_int_equal(extents_take(&e, 1, &first), 0);
		assert_int_equal(first, i);
	}
	assert_int_equal(extents_take(&e, 1, &first), -ENOSPC);
	for (uint32_t i = 0; i < 200; i += 2)
		assert_int_equal(extents_give(&e, i, 1), 0);
	assert_int_equal(e.n_free, 100);
	assert_int_equal(e.used, 100);
	assert_int_equal(extents_take(&e, 2, &first), -ENOSPC);
	for (uint32_t i = 1; i < 200; i += 2)
		assert_int_equal(extents_give(&e, i, 1), 0);
	assert_int_equal(e.n_free, 1);
	assert_int_equal(extents_take(&e, 200, &first), 0);
	assert_int_equal(first, 0);
	extents_fini(&e);
}

static void test_nothing_to_give(void **state)
{
	struct extents e;
	uint32_t first;

	(void)state;
	assert_int_equal(extents_init(&e, 0), 0);
	assert_int_equal(extents_take(&e, 1, &first), -ENOSPC);
	extents_fini(&e);
	assert_null(e.free);
}

static const struct unit_test tests[] = {
	TEST(test_random),
	TEST(test_fragments),
	TEST(test_nothing_to_give),
};

TEST_MAIN(tests)
